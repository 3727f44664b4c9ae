"""A record and its fields: splitting on demand, rebuilding after a change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from simcloud.userland.awk.locale import Locale
from simcloud.userland.awk.patterns import Pattern, Pay, charge_matches, compile_pattern, simple_set
from simcloud.userland.awk.values import Input, Value

Splitter = Callable[[str], list[str]]

NO_FIELD: Final = Input("")
"""The value of a field that does not exist."""

FIELD_BYTES: Final = 64
"""Charge for a field that an assignment creates, in addition to its text."""

LONG_TEXT: Final = 65_536
PART_BYTES: Final = 4
"""Charge per character for splitting a text longer than this."""


def split_blanks(text: str) -> list[str]:
    """Split at runs of spaces, tabs and newlines, and nothing else that Python calls white space."""
    if text.isprintable():
        return text.split()
    text = text.replace("\t", " ").replace("\n", " ")
    if text.isprintable():
        return text.split()
    return [part for part in text.split(" ") if part]


def pay_for_split(text: str, pay: Pay) -> None:
    """Pay for the parts of a long text before it is split."""
    if len(text) > LONG_TEXT:
        pay(len(text) * PART_BYTES)


def split_matches(text: str, pattern: Pattern, pay: Pay) -> list[str]:
    """The text between a pattern's matches. Empty matches do not separate."""
    if not text:
        return []
    parts = []
    position = 0
    for begin, end in charge_matches(pattern.matches(text), pay):
        if end > begin:
            parts.append(text[position:begin])
            position = end
    parts.append(text[position:])
    return parts


def splitter_for(
    separator: str, locale: Locale, pay: Pay, *, ignore_case: bool, paragraphs: bool = False
) -> Splitter:
    """Return the splitter for FS. In ``paragraphs`` (RS is empty) a newline separates too, unless FS is a pattern."""
    if separator == " ":
        return split_blanks
    if separator == "":
        return list
    if len(separator) == 1 and separator != "\\":
        if paragraphs and separator != "\n":
            return lambda text: text.replace("\n", separator).split(separator) if text else []
        return lambda text: text.split(separator) if text else []
    chosen = simple_set(separator)
    if chosen is not None and not (ignore_case and chosen[0] != chosen[0].swapcase()):
        return _set_splitter(chosen[0], runs=chosen[1])
    if separator == "\\":
        separator = "\\\\"
    pattern = compile_pattern(separator, locale, ignore_case)
    literal = pattern.literal
    if literal is not None:
        return lambda text: text.split(literal) if text else []
    return lambda text: split_matches(text, pattern, pay)


def _set_splitter(chars: str, *, runs: bool) -> Splitter:
    first, others = chars[0], chars[1:]

    def split(text: str) -> list[str]:
        if not text:
            return []
        for other in others:
            text = text.replace(other, first)
        parts = text.split(first)
        if runs and "" in parts[1:-1]:
            parts = [parts[0], *[part for part in parts[1:-1] if part], parts[-1]]
        return parts

    return split


class Record:
    """``$0`` and the fields. ``fields`` is None until it is first used; ``stale`` means $0 must be rebuilt."""

    __slots__ = ("_pay", "fields", "output_separator", "splitter", "stale", "text", "values")

    def __init__(self, pay: Pay) -> None:
        self.text = ""
        self.fields: list[str] | None = None
        self.values: dict[int, Value] = {}
        self.stale = False
        self.splitter: Splitter = split_blanks
        self.output_separator = " "
        self._pay = pay

    def set(self, text: str) -> None:
        """A new record."""
        self.text = text
        self.fields = None
        self.stale = False
        if self.values:
            self.values = {}

    def whole(self) -> str:
        """``$0``."""
        if self.stale:
            self.text = self.output_separator.join(self.fields or ())
            self.stale = False
        return self.text

    def split(self) -> list[str]:
        """The fields, split now if they were not yet."""
        fields = self.fields
        if fields is None:
            pay_for_split(self.text, self._pay)
            fields = self.fields = self.splitter(self.text)
        return fields

    def get(self, number: int) -> str:
        """The text of a field; of one that does not exist, nothing."""
        if number == 0:
            return self.whole()
        fields = self.split()
        return fields[number - 1] if number <= len(fields) else ""

    def value(self, number: int) -> Value:
        """The value of a field: what was assigned to it, or its text from outside."""
        if number == 0:
            return Input(self.whole())
        if number in self.values:
            return self.values[number]
        fields = self.split()
        return Input(fields[number - 1]) if number <= len(fields) else NO_FIELD

    def assign(self, number: int, value: Value, text: str) -> None:
        """Change a field; $0 follows."""
        if number == 0:
            self.set(text)
            return
        fields = self.split()
        if number > len(fields):
            self._extend(fields, number)
        fields[number - 1] = text
        self.values[number] = value
        self.stale = True

    def resize(self, count: int) -> None:
        """Change the number of fields (assigning to NF)."""
        fields = self.split()
        if count > len(fields):
            self._extend(fields, count)
        else:
            del fields[count:]
            self.values = {number: value for number, value in self.values.items() if number <= count}
        self.stale = True

    def _extend(self, fields: list[str], count: int) -> None:
        missing = count - len(fields)
        self._pay(missing * FIELD_BYTES)
        fields.extend([""] * missing)
