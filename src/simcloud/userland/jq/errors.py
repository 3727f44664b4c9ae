"""Exceptions of jq programs: errors, backtracking, halting and compile errors."""

from __future__ import annotations

from simcloud.userland.jq.tree import Value


class JqError(Exception):
    """An error the program may catch. Its value is usually a text, but may be anything."""

    def __init__(self, value: Value) -> None:
        super().__init__(value)
        self.value = value


class Backtrack(Exception):
    """No result: go back to the last choice. Raised for ``empty`` and ``error(null)``."""


class CompileErrors(Exception):
    """The program is invalid; holds one message for each reason."""

    def __init__(self, complaints: list[str]) -> None:
        super().__init__(complaints)
        self.complaints = complaints

    def report(self) -> str:
        """Return the text for stderr."""
        count = len(self.complaints)
        lines = "".join(f"jq: error: {complaint}\n" for complaint in self.complaints)
        return f"{lines}jq: {count} compile error{'' if count == 1 else 's'}\n"


class Halt(Exception):
    """``halt`` and ``halt_error``: the program ends here."""

    def __init__(self, status: int, message: bytes = b"") -> None:
        super().__init__(status)
        self.status = status
        self.message = message
