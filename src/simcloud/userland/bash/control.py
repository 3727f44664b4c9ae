"""Exceptions that transfer control: exit, return, break and abandoned commands."""

from __future__ import annotations


class ExitShell(Exception):
    """``exit``, or a failure under ``set -e``: the shell ends with this status."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class ReturnFromFunction(Exception):
    """``return`` from a function or a sourced file."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class LeaveLoop(Exception):
    """``break`` or ``continue`` out of a number of loops."""

    def __init__(self, levels: int, resume: bool, status: int = 0) -> None:
        super().__init__(levels)
        self.levels = levels
        self.resume = resume
        self.status = status

    def outwards(self) -> LeaveLoop:
        """Return the exception for the enclosing loop."""
        return LeaveLoop(self.levels - 1, self.resume, self.status)


class Abandoned(Exception):
    """The rest of the command line is abandoned after an error that was already reported.

    A ``fatal`` one ends a shell that is not interactive.
    """

    def __init__(self, status: int = 1, fatal: bool = False) -> None:
        super().__init__(status)
        self.status = status
        self.fatal = fatal
