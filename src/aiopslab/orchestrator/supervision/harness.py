"""Protection of the harness, the process that holds world, answer and judge, from the agents that it starts.

An agent runs as the same user. On Linux a process of the same user may read a process's memory, environment and open files unless
that process is not dumpable, and its command line in any case.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Final

from aiopslab.orchestrator.supervision import kernel
from aiopslab.orchestrator.supervision.family import IS_LINUX, Process, list_processes

PAUSE_S: Final = 0.01
_adopts_orphans = False


def hide_command_line(shown: str) -> None:
    """Overwrite this process's command line, which may name the problem. ``ps`` then shows the given words."""
    if not IS_LINUX:
        return
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    start, end = int(fields[45]), int(fields[46])
    text = shown.encode()[: max(end - start - 1, 0)]
    ctypes.memset(start, 0, end - start)
    ctypes.memmove(start, text, len(text))


def shield_harness(*, adopt_orphans: bool = True) -> None:
    """Close this process to processes of the same user, and adopt the processes that an ended supervisor leaves.

    A process whose forked worlds outlive their parents does not adopt orphans: it would have to reap them, too.
    """
    global _adopts_orphans  # noqa: PLW0603 (a fact about this process)
    if IS_LINUX:
        kernel.set_process(kernel.PR_SET_DUMPABLE, 0)
        if adopt_orphans:
            kernel.set_process(kernel.PR_SET_CHILD_SUBREAPER)
            _adopts_orphans = True


def find_orphans() -> list[Process]:
    """Return the children of this process that belong to another session, among them those that it has adopted.

    All processes of an agent belong to another session, because a process cannot enter an existing one.
    """
    if not _adopts_orphans:
        return []
    own = os.getsid(0)
    return [
        process for process in list_processes() if process.parent == os.getpid() and process.session != own
    ]


def end_with_parent() -> None:
    """Have this process killed when its parent ends, on Linux. Elsewhere it ends when it next reads from its parent."""
    if not IS_LINUX:
        return
    parent = os.getppid()
    kernel.set_process(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended meanwhile
        os.kill(os.getpid(), signal.SIGKILL)


def reap_orphans(kept: Collection[int] = ()) -> bool:
    """Reap adopted processes that have ended, except the children with the kept ids; return whether any others are left."""
    orphans = [process for process in find_orphans() if process.pid not in kept]
    for process in orphans:
        with suppress(ChildProcessError):
            os.waitpid(process.pid, os.WNOHANG)
    return bool(orphans)


def wait_for_orphans(within_s: float) -> bool:
    """Wait until all adopted processes have ended; return whether they did in time."""
    deadline = time.monotonic() + within_s
    while reap_orphans():
        if time.monotonic() > deadline:
            return False
        time.sleep(PAUSE_S)
    return True
