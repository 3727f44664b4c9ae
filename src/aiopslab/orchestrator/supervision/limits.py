"""Limits of an agent's process and of everything that it starts."""

from __future__ import annotations

from typing import NamedTuple

MIB = 1024 * 1024


class Limits(NamedTuple):
    """Limits of an agent. Those of memory, files and CPU time apply to each process, that of processes to all together."""

    memory_mb: int = 4096
    """Private writable memory of one process, in MiB."""
    processes: int = 256
    """Processes and threads of the agent."""
    file_mb: int = 1024
    """Size of any file that it writes, in MiB."""
    open_files: int = 1024
    cpu_s: int = 3600
    """Processor time of one process, in seconds."""
