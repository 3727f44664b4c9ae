"""Format strings with percent signs and backslashes, for stat and find -printf."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct, field

MAX_WIDTH: Final = 4096
ESCAPES: Final = {"a": "\a", "b": "\b", "e": "\033", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
                  '"': '"', "\\": "\\"}  # fmt: skip


class Directive(Struct):
    """``%-10.3Hd``: flags, a width, a precision, a modifier and a letter; where it began and ended."""

    flags: str
    width: int
    precision: int | None
    modifier: str
    letter: str
    start: int
    end: int

    def pad(self, text: str, cut: bool = True) -> str:
        """A value brought to the width, zeros or spaces before it or spaces behind."""
        if self.precision is not None and cut and not text.lstrip("-").isdecimal():
            text = text[: self.precision]
        if "-" in self.flags:
            return text.ljust(self.width)
        return text.rjust(self.width, "0" if "0" in self.flags and text.isalnum() else " ")


class Expanded(Struct):
    """An expanded format; ``odd`` lists the unknown escapes, which stay unchanged."""

    text: str = ""
    odd: list[str] = field(default_factory=list)
    stopped: bool = False


def read_directive(form: str, start: int, modifiers: str) -> Directive:
    """The directive that begins with the percent sign at ``start``."""
    at = start + 1
    while form[at : at + 1] and form[at] in "#-+ 0'":
        at += 1
    flags = form[start + 1 : at]
    width, at = _number(form, at)
    precision = None
    if form[at : at + 1] == ".":
        precision, at = _number(form, at + 1)
    modifier = ""
    if form[at : at + 1] and form[at] in modifiers and form[at + 1 : at + 2]:
        modifier = form[at]
        at += 1
    return Directive(flags, width, precision, modifier, form[at : at + 1], start, min(at + 1, len(form)))


def _number(form: str, at: int) -> tuple[int, int]:
    end = at
    while form[end : end + 1] and form[end] in "0123456789":
        end += 1
    return min(int(form[at:end] or 0), MAX_WIDTH), end


def expand(form: str, value_of: Callable[[Directive], str], escapes: bool, modifiers: str) -> Expanded:
    """Expand the directives of a format and, if requested, its escapes; ``\\c`` ends it."""
    parts: list[str] = []
    found = Expanded()
    at = 0
    while at < len(form):
        letter = form[at]
        if letter == "%" and form[at + 1 : at + 2] == "%":
            parts.append("%")
            at += 2
        elif letter == "%" and at + 1 < len(form):
            directive = read_directive(form, at, modifiers)
            parts.append(value_of(directive))
            at = directive.end
        elif letter == "\\" and escapes:
            text, at = _escape(form, at, found)
            parts.append(text)
            if found.stopped:
                break
        else:
            parts.append(letter)
            at += 1
    found.text = "".join(parts)
    return found


def _escape(form: str, at: int, found: Expanded) -> tuple[str, int]:
    letter = form[at + 1 : at + 2]
    if letter in ESCAPES and letter:
        return ESCAPES[letter], at + 2
    if letter == "c":
        found.stopped = True
        return "", len(form)
    if letter and letter in "01234567":
        end = at + 1
        while end < at + 4 and form[end : end + 1] and form[end] in "01234567":
            end += 1
        return _byte(int(form[at + 1 : end], 8)), end
    if letter == "x":
        end = at + 2
        while end < at + 4 and form[end : end + 1] and form[end] in "0123456789abcdefABCDEF":
            end += 1
        if end > at + 2:
            return _byte(int(form[at + 2 : end], 16)), end
    found.odd.append("\\" + letter)
    return "\\" + letter, at + 2


def _byte(number: int) -> str:
    return bytes([number & 0xFF]).decode("utf-8", "surrogateescape")
