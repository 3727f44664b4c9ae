"""The words of an expression, consumed one by one, with the numbers and files among them."""

from __future__ import annotations

import re
from collections.abc import Callable

from simcloud.machine.files import FileError, Stat
from simcloud.userland.commands.file.find.search import Found, Search
from simcloud.userland.commands.text.quoting import quote_name_always

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_DECIMAL = re.compile(r"[+-]?([0-9]{1,15}(\.[0-9]*)?|\.[0-9]+)")
Condition = Callable[[Found], bool]


class Words:
    """The words of the expression and the position in them."""

    def __init__(self, search: Search, words: list[str]) -> None:
        self._search = search
        self._words = words[::-1]
        self._current = ""

    def peek(self) -> str | None:
        """The next word, None at the end."""
        return self._words[-1] if self._words else None

    def take(self) -> str:
        """Return the next word: the name of a test, or an argument if one is expected."""
        self._current = self._words.pop()
        return self._current

    @property
    def current(self) -> str:
        """The test or action that is being read."""
        return self._current

    def argument(self) -> str:
        """The word that belongs to the current test."""
        if not self._words:
            raise self._search.mistake(f"missing argument to `{self._current}'")
        return self._words.pop()

    def depth(self) -> int:
        """The argument of -maxdepth and -mindepth."""
        text = self.argument()
        if not (text.isdecimal() and text.isascii()) or len(text) > 9:
            raise self._search.mistake(
                f"Expected a positive decimal integer argument to {self._current}, but got {quote_name_always(text)}"
            )
        return int(text)

    def compare_number(self, value_of: Callable[[Found], int]) -> Condition:
        """A test against ``N``, ``+N`` or ``-N``."""
        text = self.argument()
        if _WHOLE.fullmatch(text) is None:
            raise self.invalid(text)
        return compare(text[:1], int(text.lstrip("+-")), value_of)

    def decimal(self) -> tuple[str, float]:
        """A sign and a number that may have a fraction."""
        text = self.argument()
        if _DECIMAL.fullmatch(text) is None:
            raise self.invalid(text)
        return text[:1] if text[0] in "+-" else "", float(text.lstrip("+-"))

    def invalid(self, text: str) -> Exception:
        """The complaint about a number that is none."""
        return self._search.mistake(f"invalid argument `{text}' to `{self._current}'")

    def file(self, follow: bool = True) -> Stat:
        """Return the status of the file that the argument names."""
        path = self.argument()
        try:
            return self._search.ctx.files.stat(path, follow)
        except FileError as error:
            raise self._search.mistake(f"{quote_name_always(path)}: {error}") from None


def compare(sign: str, number: int, value_of: Callable[[Found], int]) -> Condition:
    """More than, less than, or exactly a number."""
    if sign == "+":
        return lambda found: value_of(found) > number
    if sign == "-":
        return lambda found: value_of(found) < number
    return lambda found: value_of(found) == number
