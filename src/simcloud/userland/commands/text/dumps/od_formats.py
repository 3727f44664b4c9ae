"""How ``od`` shows units of data: as numbers of several sizes, as characters, by their names."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from math import isnan
from typing import Literal

CONTROL_NAMES = (
    "nul", "soh", "stx", "etx", "eot", "enq", "ack", "bel", "bs", "ht", "nl", "vt", "ff", "cr", "so", "si",
    "dle", "dc1", "dc2", "dc3", "dc4", "nak", "syn", "etb", "can", "em", "sub", "esc", "fs", "gs", "rs", "us",
)  # fmt: skip
_ESCAPES = {0: "\\0", 7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r"}
_WIDTHS = {
    "d": {1: 4, 2: 6, 4: 11, 8: 20},
    "o": {1: 3, 2: 6, 4: 11, 8: 22},
    "u": {1: 3, 2: 5, 4: 10, 8: 20},
    "x": {1: 2, 2: 4, 4: 8, 8: 16},
    "f": {4: 15, 8: 24},
}


@dataclass
class Notation:
    """How many bytes one field stands for, how wide it is, and how it is shown."""

    size: int
    width: int
    show: Callable[[bytes], str]
    text_too: bool = False


def character_notation(text_too: bool) -> Notation:
    """Printable characters as they are, others as C would escape them."""
    return Notation(1, 3, lambda unit: _character(unit[0]), text_too)


def named_notation(text_too: bool) -> Notation:
    """Control characters by their names; the highest bit does not count."""
    return Notation(1, 3, lambda unit: _named(unit[0] & 0x7F), text_too)


def number_notation(kind: str, size: int, little: bool, text_too: bool) -> Notation:
    """Whole numbers (``d``, ``o``, ``u``, ``x``) or floating point (``f``) of a size."""
    order: Literal["little", "big"] = "little" if little else "big"
    width = _WIDTHS[kind][size]
    if kind == "f":
        code = ("<" if little else ">") + ("f" if size == 4 else "d")
        return Notation(size, width, lambda unit: _shortest(struct.unpack(code, unit)[0], size), text_too)
    signed = kind == "d"
    form = f"0{width}{kind}" if kind in "ox" else "d"
    return Notation(
        size, width, lambda unit: format(int.from_bytes(unit, order, signed=signed), form), text_too
    )


def _character(byte: int) -> str:
    if byte in _ESCAPES:
        return _ESCAPES[byte]
    return chr(byte) if 0x20 <= byte < 0x7F else f"{byte:03o}"


def _named(byte: int) -> str:
    if byte < len(CONTROL_NAMES):
        return CONTROL_NAMES[byte]
    return {0x20: "sp", 0x7F: "del"}.get(byte, chr(byte))


def _shortest(value: float, size: int) -> str:
    """The fewest digits that stand for the same number."""
    if isnan(value):
        return "-nan" if struct.pack(">d", value)[0] & 0x80 else "nan"
    least, most = (6, 9) if size == 4 else (15, 17)
    if value and abs(value) < (1.17549435e-38 if size == 4 else 2.2250738585072014e-308):
        least = 1
    text = ""
    for precision in range(least, most + 1):
        text = f"{value:.{precision}g}"
        again = float(text)
        if size == 4:
            try:
                again = struct.unpack("<f", struct.pack("<f", again))[0]
            except OverflowError:
                continue
        if again == value:
            break
    return text
