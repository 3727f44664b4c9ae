"""What ends a program from outside, and why a program may not start.

Those that end one derive from ``Cancelled``: a program's ``except Exception`` does not catch them,
and the kernel takes them as an end, not as a defect.
"""

from __future__ import annotations

from simcloud.machine.process.signals import Signal
from simcloud.sim import Cancelled


class ProcessDead(Cancelled):
    """The process is dead already; whatever its code still tries has no effect."""


class ExitProgram(Cancelled):
    """The program asked to end with this status (``ctx.exit``)."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class KilledBySignal(Cancelled):
    """The program did something that raises a signal it does not handle, such as a broken pipe."""

    def __init__(self, signal: Signal) -> None:
        super().__init__(signal)
        self.signal = signal


class LimitExceeded(Cancelled):
    """A count limit was reached. The text says which, in plain words."""


class CommandNotFound(Exception):
    """No such program on the PATH."""


class NotExecutable(Exception):
    """A file of that name exists but cannot be run; the text is the system's reason."""


class ForkFailed(Exception):
    """The container has as many processes as it may have."""

    def __init__(self) -> None:
        super().__init__("Resource temporarily unavailable")
