"""Programs as coroutines: processes, signals, streams, CPU, memory and limits."""

from collections.abc import Callable, Coroutine
from typing import Any

from simcloud.exports import export_lazily
from simcloud.machine.process.container import (
    BINARY as BINARY,
    DEFAULT_PATH as DEFAULT_PATH,
    TERMINAL as TERMINAL,
    Completed as Completed,
    Container as Container,
)
from simcloud.machine.process.context import (
    DESCRIPTOR_FOLDERS as DESCRIPTOR_FOLDERS,
    STANDARD_STREAMS as STANDARD_STREAMS,
    Context as Context,
    ProgramMachine as ProgramMachine,
)
from simcloud.machine.process.errors import (
    CommandNotFound as CommandNotFound,
    ExitProgram as ExitProgram,
    ForkFailed as ForkFailed,
    KilledBySignal as KilledBySignal,
    LimitExceeded as LimitExceeded,
    NotExecutable as NotExecutable,
    ProcessDead as ProcessDead,
)
from simcloud.machine.process.kernel_threads import KernelThread as KernelThread
from simcloud.machine.process.limits import Budget as Budget, Limits as Limits
from simcloud.machine.process.pids import MAX_PID as MAX_PID
from simcloud.machine.process.process import (
    PAGE_BYTES as PAGE_BYTES,
    Counted as Counted,
    Process as Process,
    ProcessContainer as ProcessContainer,
)
from simcloud.machine.process.signals import Signal as Signal, Signals as Signals
from simcloud.machine.process.streams import (
    BadDescriptor as BadDescriptor,
    ByteSource as ByteSource,
    Capture as Capture,
    FileStream as FileStream,
    LineSink as LineSink,
    NullStream as NullStream,
    Pipe as Pipe,
    PipeReader as PipeReader,
    Stream as Stream,
    read_all as read_all,
    read_lines as read_lines,
)
from simcloud.machine.process.tty import SIZE as SIZE, Prompt as Prompt, Tty as Tty

with export_lazily(globals()):
    from simcloud.machine.process import capabilities as capabilities


Program = Callable[[Context], Coroutine[Any, Any, int | None]]
"""What a process runs: a program or a command, which are the same thing."""
