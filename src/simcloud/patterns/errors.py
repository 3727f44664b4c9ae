"""Errors of regular expressions, with the messages of the genuine tools."""

from __future__ import annotations


class RegexError(Exception):
    """The pattern is invalid in its flavour. The message is the genuine tool's.

    ``fatal`` marks the few errors that GNU's tools report without a position.
    """

    def __init__(self, message: str, *, fatal: bool = False) -> None:
        super().__init__(message)
        self.fatal = fatal


class TooMuchWorkError(Exception):
    """One search took more steps than the matcher allows. The same search always ends the same way."""
