"""The keys of ``sort``: the part of a line and how it is compared."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn

from msgspec import Struct, field

from simcloud.machine.process import Context
from simcloud.userland.commands.text.counts import all_digits, whole
from simcloud.userland.commands.text.order.sort_values import (
    Value,
    general,
    human,
    month,
    numeric,
    version,
)
from simcloud.userland.commands.text.quoting import quote
from simcloud.userland.commands.text.tool import fail

ORDERINGS = "bdfghiMnRrV"
_UPPER = bytes(range(97)) + bytes(range(65, 91)) + bytes(range(123, 256))
_NOT_DICTIONARY = bytes(b for b in range(256) if b not in b" \t\n" and not (b < 128 and chr(b).isalnum()))
_NOT_PRINTABLE = bytes(b for b in range(256) if not 32 <= b < 127)
_POSITION = re.compile(r"([0-9]+)(?:\.([0-9]+))?([bdfghiMnRrV]*)")
_BLANKS = b" \t\n"


class Key(Struct):
    """A range of fields and offsets (to the line's end by default), and its ordering."""

    start_field: int = 0
    start_offset: int = 0
    end_field: int | None = None
    end_offset: int = 0
    skip_start: bool = False
    skip_end: bool = False
    flags: set[str] = field(default_factory=set)
    tab: bytes = b""
    salt: bytes = b""

    @property
    def reverse(self) -> bool:
        """Whether the greatest comes first."""
        return "r" in self.flags

    @property
    def inherits(self) -> bool:
        """Whether the key has no ordering of its own and takes the one given for all."""
        return not self.flags and not self.skip_start and not self.skip_end

    def prepare(self) -> Callable[[bytes], Value]:
        """The function from a line to the value it is compared by."""
        value = self._value_function()
        if (
            self.start_field == 0
            and self.start_offset == 0
            and self.end_field is None
            and not self.skip_start
        ):
            return value
        return lambda line: value(line[self._begin(line) : self._limit(line)])

    def _value_function(self) -> Callable[[bytes], Value]:
        ignored = b""
        if "d" in self.flags:
            ignored = _NOT_DICTIONARY
        elif "i" in self.flags:
            ignored = _NOT_PRINTABLE
        folded = _UPPER if "f" in self.flags else None
        special = self._special()
        if special is not None and (folded or ignored):
            return lambda text: special(text.translate(folded, ignored))
        if special is not None:
            return special
        if folded or ignored:
            return lambda text: text.translate(folded, ignored)
        return lambda text: text

    def _special(self) -> Callable[[bytes], Value] | None:
        for letter, function in (("n", numeric), ("g", general), ("h", human), ("M", month), ("V", version)):
            if letter in self.flags:
                return function
        if "R" in self.flags:
            from hashlib import md5

            return lambda text: (md5(self.salt + text, usedforsecurity=False).digest(), text)
        return None

    def _begin(self, line: bytes) -> int:
        at = self._skip_fields(line, self.start_field)
        if self.skip_start:
            at = _skip_blanks(line, at)
        return min(len(line), at + self.start_offset)

    def _limit(self, line: bytes) -> int:
        if self.end_field is None:
            return len(line)
        if self.end_offset == 0:
            return self._end_of_field(line, self.end_field)
        at = self._skip_fields(line, self.end_field)
        if self.skip_end:
            at = _skip_blanks(line, at)
        return min(len(line), at + self.end_offset)

    def _skip_fields(self, line: bytes, count: int) -> int:
        at = 0
        while count > 0 and at < len(line):
            count -= 1
            if self.tab:
                found = line.find(self.tab, at)
                at = len(line) if found < 0 else found + 1
            else:
                at = _skip_text(line, _skip_blanks(line, at))
        return at

    def _end_of_field(self, line: bytes, field: int) -> int:
        at = self._skip_fields(line, field)
        if not self.tab:
            return _skip_text(line, _skip_blanks(line, at))
        found = line.find(self.tab, at)
        return len(line) if found < 0 else found


def _skip_blanks(line: bytes, at: int) -> int:
    while at < len(line) and line[at] in _BLANKS:
        at += 1
    return at


def _skip_text(line: bytes, at: int) -> int:
    while at < len(line) and line[at] not in _BLANKS:
        at += 1
    return at


def parse_key(ctx: Context, text: str) -> Key:
    """A key as ``-k`` spells it: ``2``, ``2,2n``, ``1.3b,1.5``."""
    start, comma, end = text.partition(",")
    key = Key()
    field, offset, flags = _position(ctx, text, start, "field start")
    if offset == 0:
        _invalid(ctx, "character offset is zero", text)
    key.start_field, key.start_offset = field - 1, (offset or 1) - 1
    key.skip_start = "b" in flags
    key.flags |= set(flags) - {"b"}
    if comma:
        field, end_offset, flags = _position(ctx, text, end, "','")
        key.end_field, key.end_offset = field - 1, end_offset or 0
        key.skip_end = "b" in flags
        key.flags |= set(flags) - {"b"}
    return key


def _position(ctx: Context, text: str, part: str, where: str) -> tuple[int, int | None, str]:
    if not all_digits(part[:1]):
        at = "start" if where == "field start" else where
        prefix = "at field start" if where == "field start" else f"after {where}"
        count_of = text if at == "start" else part
        fail(ctx, f"invalid number {prefix}: invalid count at start of {quote(count_of)}", 2)
    form = _POSITION.fullmatch(part)
    if form is None:
        digits = part.lstrip("0123456789")
        if digits.startswith(".") and not digits[1:2].isdigit():
            fail(ctx, f"invalid number after '.': invalid count at start of {quote(digits[1:])}", 2)
        if whole(part[: len(part) - len(digits)]) == 0:
            _invalid(ctx, "field number is zero", text)
        _invalid(ctx, "stray character in field spec", text)
    if whole(form[1]) == 0:
        _invalid(ctx, "field number is zero", text)
    return whole(form[1]), whole(form[2]) if form[2] else None, form[3]


def _invalid(ctx: Context, why: str, text: str) -> NoReturn:
    fail(ctx, f"{why}: invalid field specification {quote(text)}", 2)
