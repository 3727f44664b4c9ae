"""The JSON writer: numbers with at most 17 digits, keys in insertion order, colours as on a terminal."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Final

from msgspec import Struct

from simcloud.userland.jq.tree import Value
from simcloud.userland.jq.utf8 import decode
from simcloud.userland.jq.values import Spend

MAX_DEPTH: Final = 256
TOO_DEEP: Final = "<stripped: exceeds max depth>"
STEPS_PER_ITEM: Final = 3
"""An item is several pieces of text until all are joined."""
CHARS_PER_ITEM: Final = 16
LARGEST: Final = 1.7976931348623157e308

COLOURS: Final = ("1;30", "0;39", "0;39", "0;39", "0;32", "1;39", "1;39")
"""Of null, false, true, numbers, strings, arrays, objects."""
KEY_COLOUR: Final = "\x1b[34;1m"
PLAIN: Final = "\x1b[0m"


class Style(Struct, frozen=True):
    """The layout of a value. ``indent`` is the indentation of one level; empty for one line."""

    indent: str = ""
    sort_keys: bool = False
    ascii_only: bool = False
    colours: tuple[str, ...] = ()


COMPACT: Final = Style()


def number_text(number: float) -> str:
    """Format a number with the fewest digits that identify it."""
    if number != number:
        return "null"
    if math.isinf(number):
        number = math.copysign(LARGEST, number)
    if -1e16 < number < 1e16 and number == int(number):
        return str(int(number)) if number or math.copysign(1, number) > 0 else "-0"
    text = repr(number)
    mantissa, e, exponent = text.partition("e+")
    if not e:
        return text
    digits = mantissa.replace(".", "")
    count = len(digits) - digits.startswith("-")
    if int(exponent) + 1 > count + 15:
        return text
    return digits + "0" * (int(exponent) + 1 - count)


def string_text(text: str, ascii_only: bool = False) -> str:
    """A string in its quotes."""
    quoted = encode_basestring_ascii(text) if ascii_only else encode_basestring(text)
    return quoted.replace("\x7f", "\\u007f") if "\x7f" in quoted else quoted


def dump(value: Value, spend: Spend, style: Style = COMPACT) -> str:
    """A value as JSON text."""
    parts: list[str] = []

    def pay(items: int) -> None:
        spend(STEPS_PER_ITEM * items)

    if style.colours:
        _Painter(style, parts.append, pay).write(value, 0)
    else:
        _Writer(style, parts.append, pay).write(value, 0)
    return "".join(parts)


class _Writer:
    """Writes without colours."""

    def __init__(self, style: Style, put: Callable[[str], None], spend: Spend) -> None:
        self._style = style
        self._put = put
        self._spend = spend
        self._colon = ": " if style.indent else ":"

    def write(self, value: Value, depth: int) -> None:
        put, kind = self._put, type(value)
        if depth > MAX_DEPTH:
            put(TOO_DEEP)
        elif kind is str:
            self._spend(len(value) // CHARS_PER_ITEM)
            put(string_text(value, self._style.ascii_only))
        elif kind is float:
            put(number_text(value))
        elif kind is list:
            self._array(value, depth)
        elif kind is dict:
            self._object(value, depth)
        else:
            put("null" if value is None else "true" if value else "false")

    def _line(self, depth: int) -> str:
        indent = self._style.indent
        return "\n" + indent * depth if indent else ""

    def _array(self, value: list[Value], depth: int) -> None:
        put, write = self._put, self.write
        self._spend(len(value) + 1)
        if not value:
            put("[]")
            return
        line = self._line(depth + 1)
        before = "[" + line
        separator = "," + line
        for item in value:
            put(before)
            write(item, depth + 1)
            before = separator
        put(self._line(depth) + "]")

    def _object(self, value: dict[str, Value], depth: int) -> None:
        put, write, colon = self._put, self.write, self._colon
        ascii_only = self._style.ascii_only
        self._spend(len(value) + 1)
        if not value:
            put("{}")
            return
        line = self._line(depth + 1)
        before = "{" + line
        separator = "," + line
        for key in sorted(value) if self._style.sort_keys else value:
            put(before + string_text(key, ascii_only) + colon)
            write(value[key], depth + 1)
            before = separator
        put(self._line(depth) + "}")


class _Painter(_Writer):
    """Writes with colours."""

    def write(self, value: Value, depth: int) -> None:
        if depth <= MAX_DEPTH and type(value) in (list, dict):
            super().write(value, depth)
            return
        self._put(self._colour(value))
        super().write(value, depth)
        self._put(PLAIN)

    def _colour(self, value: Value) -> str:
        places: dict[type, int] = {type(None): 0, float: 3, str: 4, list: 5, dict: 6}
        place = 1 + value if type(value) is bool else places[type(value)]
        return f"\x1b[{self._style.colours[place]}m"

    def _array(self, value: list[Value], depth: int) -> None:
        put, colour = self._put, self._colour(value)
        self._spend(len(value) + 1)
        if not value:
            put(f"{colour}[]{PLAIN}")
            return
        line = self._line(depth + 1)
        before = f"{colour}[{line}"
        for item in value:
            put(before)
            self.write(item, depth + 1)
            before = f"{colour},{line}"
        put(f"{colour}{self._line(depth)}{colour}]{PLAIN}")

    def _object(self, value: dict[str, Value], depth: int) -> None:
        put, colour = self._put, self._colour(value)
        self._spend(len(value) + 1)
        if not value:
            put(f"{colour}{{}}{PLAIN}")
            return
        line = self._line(depth + 1)
        before = f"{colour}{{{line}{PLAIN}"
        for key in sorted(value) if self._style.sort_keys else value:
            quoted = string_text(key, self._style.ascii_only)
            put(f"{before}{KEY_COLOUR}{quoted}{PLAIN}{colour}{self._colon}{PLAIN}")
            self.write(value[key], depth + 1)
            before = f"{colour},{line}{PLAIN}"
        put(f"{colour}{self._line(depth)}{colour}}}{PLAIN}")


def parse_colours(text: str) -> tuple[str, ...] | None:
    """Return the colours of ``JQ_COLORS``, or None if it is invalid."""
    chosen = text.split(":")[: len(COLOURS)]
    if not all(re.fullmatch(r"[0-9;]*", colour) for colour in chosen):
        return None
    return (*chosen, *COLOURS[len(chosen) :])


def brief(value: Value, size_bytes: int) -> str:
    """Return the start of a value's text for messages, cut to a number of bytes and ended by three dots."""
    text = bytearray()
    for piece in _pieces(value):
        text += piece.encode()
        if len(text) > size_bytes:
            return decode(bytes(text[: size_bytes - 3])) + "..."
    return text.decode()


def _pieces(value: Value) -> Iterator[str]:
    """The text of a value bit by bit, so that a reader of the start never pays for the rest."""
    if type(value) is list:
        yield "["
        for place, item in enumerate(value):
            if place:
                yield ","
            yield from _pieces(item)
        yield "]"
    elif type(value) is dict:
        yield "{"
        for place, (key, item) in enumerate(value.items()):
            yield f"{',' if place else ''}{string_text(key)}:"
            yield from _pieces(item)
        yield "}"
    elif type(value) is str:
        yield string_text(value)
    elif type(value) is float:
        yield number_text(value)
    else:
        yield "null" if value is None else "true" if value else "false"
