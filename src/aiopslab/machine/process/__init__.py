"""Programs as coroutines: processes, signals, streams, CPU, memory and limits."""

from collections.abc import Callable, Coroutine
from typing import Any

from aiopslab.machine.process.container import BINARY, DEFAULT_PATH, Completed, Container
from aiopslab.machine.process.context import Context
from aiopslab.machine.process.errors import (
    CommandNotFound,
    ExitProgram,
    ForkFailed,
    KilledBySignal,
    LimitExceeded,
    NotExecutable,
    ProcessDead,
)
from aiopslab.machine.process.limits import Budget, Limits
from aiopslab.machine.process.process import Process
from aiopslab.machine.process.signals import Signal, Signals
from aiopslab.machine.process.streams import (
    BadDescriptor,
    ByteSource,
    Capture,
    FileStream,
    LineSink,
    NullStream,
    Pipe,
    Stream,
    read_all,
    read_lines,
)

Program = Callable[[Context], Coroutine[Any, Any, int | None]]
"""What a process runs: a program or a command, which are the same thing."""

__all__ = [
    "BINARY",
    "DEFAULT_PATH",
    "BadDescriptor",
    "Budget",
    "ByteSource",
    "Capture",
    "CommandNotFound",
    "Completed",
    "Container",
    "Context",
    "ExitProgram",
    "FileStream",
    "ForkFailed",
    "KilledBySignal",
    "LimitExceeded",
    "Limits",
    "LineSink",
    "NotExecutable",
    "NullStream",
    "Pipe",
    "Process",
    "ProcessDead",
    "Program",
    "Signal",
    "Signals",
    "Stream",
    "read_all",
    "read_lines",
]
