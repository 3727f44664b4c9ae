"""How control leaves a command other than by finishing it."""

from __future__ import annotations


class ExitShell(Exception):
    """``exit``, or ``set -e`` striking: the shell ends with this status."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class ReturnFromFunction(Exception):
    """``return`` from a function or a sourced file."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class LeaveLoop(Exception):
    """``break`` or ``continue``, so many loops up."""

    def __init__(self, levels: int, resume: bool, status: int = 0) -> None:
        super().__init__(levels)
        self.levels = levels
        self.resume = resume
        self.status = status

    def outwards(self) -> LeaveLoop:
        """What is left to do for the loop around this one."""
        return LeaveLoop(self.levels - 1, self.resume, self.status)


class Abandoned(Exception):
    """An error that was reported already: the rest of the command line is given up.

    A ``fatal`` one ends a shell that is not interactive.
    """

    def __init__(self, status: int = 1, fatal: bool = False) -> None:
        super().__init__(status)
        self.status = status
        self.fatal = fatal
