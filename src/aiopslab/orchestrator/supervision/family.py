"""The processes that descend from one process, and their end.

On Linux, children of a process that ends pass to the nearest subreaper, so no descendant of a supervisor escapes by
``setsid`` or by a double fork. Elsewhere only the process group is known.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import defaultdict
from contextlib import suppress
from typing import Final, NamedTuple

IS_LINUX: Final = sys.platform == "linux"
_PAUSE_S: Final = 0.005


class Process(NamedTuple):
    """A process as ``/proc`` shows it."""

    pid: int
    parent: int
    session: int
    threads: int
    is_alive: bool
    """Whether it still runs; False for one that has ended and that its parent has not waited for."""


def list_processes() -> list[Process]:
    """Return all processes of the host that are visible here; none where there is no ``/proc``."""
    found: list[Process] = []
    with suppress(FileNotFoundError):
        for name in os.listdir("/proc"):  # noqa: PTH208 (pathlib would double the cost of a poll)
            if name.isdecimal() and (process := _read_process(int(name))):
                found.append(process)
    return found


def _read_process(pid: int) -> Process | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
            fields = file.read().rpartition(b")")[2].split()
    except OSError:  # it has ended in the meantime
        return None
    return Process(pid, int(fields[1]), int(fields[3]), int(fields[17]), fields[0] not in (b"Z", b"X"))


def find_descendants(root: int) -> list[Process]:
    """Return the descendants of a process, parents before their children."""
    children: dict[int, list[Process]] = defaultdict(list)
    for process in list_processes():
        children[process.parent].append(process)
    found = list(children[root])
    for process in found:  # grows while it is read
        found += children[process.pid]
    return found


def end_children(group: int, within_s: float) -> bool:
    """Kill all descendants of this process and wait for them; return whether all ended in time.

    ``group`` is the process group of the first child, which is all that is known where there is no ``/proc``.
    """
    deadline = time.monotonic() + within_s
    while True:
        if not IS_LINUX:
            send_signal(-group, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:  # on Linux, a subreaper without children has no descendants
            return True
        for process in find_descendants(os.getpid()):
            send_signal(process.pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            return False
        time.sleep(_PAUSE_S)


def send_signal(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process, or to a group if the number is negative; one that is gone needs none."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
