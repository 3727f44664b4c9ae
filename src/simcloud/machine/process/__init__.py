"""Programs as coroutines: processes, signals, streams, CPU, memory and limits."""

from collections.abc import Callable, Coroutine
from typing import Any

from simcloud.machine.process.container import BINARY, DEFAULT_PATH, Completed, Container
from simcloud.machine.process.context import Context
from simcloud.machine.process.errors import (
    CommandNotFound,
    ExitProgram,
    ForkFailed,
    KilledBySignal,
    LimitExceeded,
    NotExecutable,
    ProcessDead,
)
from simcloud.machine.process.limits import Budget, Limits
from simcloud.machine.process.process import Process
from simcloud.machine.process.signals import Signal, Signals
from simcloud.machine.process.streams import (
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
