"""The format strings of ``hexdump``: units of so many repetitions of so many bytes, each with a printf-like text."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field

from simcloud.userland.commands.text.counts import whole
from simcloud.userland.commands.text.dumps.od_formats import CONTROL_NAMES

_UNIT = re.compile(r'\s*+([0-9]+)?\s*+(?:/\s*+([0-9]+))?\s*+"((?:[^"\\]|\\.)*+)"\s*+')
_DIRECTIVE = re.compile(r"%([-+ #0]*+)([0-9]*)(\.[0-9]*)?(_[acpuA][dox]?|[cdiouxXeEfgGs])")
_ESCAPES = {"0": "\0", "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_CHARACTERS = {0: "\\0", 7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r"}


class FormatError(Exception):
    """The format string cannot be used. The text is the program's own."""


@dataclass
class _Piece:
    """Plain text, or a directive and the bytes it consumes."""

    text: str = ""
    flags: str = ""
    width: int = 0
    precision: int | None = None
    kind: str = ""
    size: int = 0

    def show(self, data: bytes, address: int) -> str:
        if not self.kind:
            return self.text
        if self.kind[:2] in ("_a", "_A"):
            return self._padded(self._number(address, self.kind[2:] or "x"))
        if not data:
            return " " * self.width
        if self.kind in ("_c", "_p", "_u", "c"):
            return self._padded(_character(self.kind, data[0]))
        if self.kind == "s":
            return self._padded(data.decode("latin-1"))
        padded = data.ljust(self.size, b"\0")
        if self.kind in "eEfgG":
            value = struct.unpack("<f" if self.size == 4 else "<d", padded)[0]
            precision = "" if self.precision is None else f".{self.precision}"
            return self._padded(f"%{self.flags.replace('-', '')}{precision}{self.kind}" % value)
        number = int.from_bytes(padded, "little", signed=self.kind in "di")
        return self._padded(self._number(number, self.kind))

    def _number(self, value: int, kind: str) -> str:
        digits = format(abs(value), {"i": "d", "u": "d"}.get(kind, kind)).rjust(self.precision or 0, "0")
        sign = "-" if value < 0 else ""
        if "0" in self.flags and self.precision is None:
            digits = digits.rjust(self.width - len(sign), "0")
        return sign + digits

    def _padded(self, text: str) -> str:
        return text.ljust(self.width) if "-" in self.flags else text.rjust(self.width)


def _character(kind: str, byte: int) -> str:
    printable = 0x20 <= byte < 0x7F
    if kind == "c":
        return chr(byte)
    if kind == "_p":
        return chr(byte) if printable else "."
    if kind == "_u":
        name = "del" if byte == 0x7F else "lf" if byte == 10 else CONTROL_NAMES[byte] if byte < 0x20 else ""
        return name or (chr(byte) if printable else f"{byte:02x}")
    return _CHARACTERS.get(byte) or (chr(byte) if printable else f"{byte:03o}")


@dataclass
class _Unit:
    repetitions: int
    fixed: bool
    pieces: list[_Piece]
    size: int
    table: list[str] | None = None

    def __post_init__(self) -> None:
        """What each byte looks like, if a unit shows one byte at a time."""
        if self.size == 1:
            self.table = ["".join(self._texts(bytes([byte]), 0)) for byte in range(256)]

    def _texts(self, data: bytes, address: int) -> list[str]:
        return [piece.show(data if piece.size else b"", address) for piece in self.pieces]

    def show(self, block: bytes, at: int, address: int) -> str:
        """The unit over its part of a block."""
        shown: list[str] = []
        part = block[at : at + self.repetitions]
        quick = max(0, min(len(part), self.repetitions - 1)) if self.table is not None else 0
        if self.table is not None:
            table = self.table
            shown = [table[byte] for byte in part[:quick]]
            at += quick
        for repetition in range(quick, self.repetitions):
            texts: list[str] = []
            for piece in self.pieces:
                texts.append(piece.show(block[at : at + piece.size], address + at))
                at += piece.size
            last = repetition == self.repetitions - 1 and self.repetitions > 1
            if last and not self.pieces[-1].kind:
                texts[-1] = texts[-1].rstrip(" \t\n\v\f\r")
            shown += texts
        return "".join(shown)


@dataclass
class Format:
    """One format string: what is shown of each block, and what of the end of the data."""

    units: list[_Unit]
    ending: list[_Piece] = field(default_factory=list)

    @property
    def size(self) -> int:
        """How many bytes of a block the format consumes."""
        return sum(unit.repetitions * unit.size for unit in self.units)

    def stretch(self, block_size: int) -> None:
        """Repeat the last unit until the block is used up, unless its repetitions were given."""
        last = self.units[-1] if self.units else None
        if last is not None and last.size and not last.fixed and self.size < block_size:
            last.repetitions += (block_size - self.size) // last.size

    def show(self, block: bytes, address: int) -> str:
        """A block in this format."""
        shown: list[str] = []
        at = 0
        for unit in self.units:
            shown.append(unit.show(block, at, address))
            at += unit.repetitions * unit.size
        return "".join(shown)


def parse_format(text: str) -> Format:
    """Read a format string."""
    found = Format([])
    at = 0
    while at < len(text):
        form = _UNIT.match(text[at:])
        if form is None:
            raise FormatError(f"bad format {{{text}}}")
        at += len(form[0])
        pieces = _pieces(_unescaped(form[3]), whole(form[2]) if form[2] else None)
        if any(piece.kind.startswith("_A") for piece in pieces):
            found.ending = pieces
            continue
        unit = _Unit(whole(form[1] or "1"), form[1] is not None, pieces, sum(piece.size for piece in pieces))
        found.units.append(unit)
    return found


def _unescaped(text: str) -> str:
    shown, at = "", 0
    while at < len(text):
        if text[at] == "\\" and at + 1 < len(text):
            at += 1
            shown += _ESCAPES.get(text[at], text[at])
        else:
            shown += text[at]
        at += 1
    return shown


def _pieces(text: str, size: int | None) -> list[_Piece]:
    pieces: list[_Piece] = []
    while text:
        before, percent, _ = text.partition("%")
        if before:
            pieces.append(_Piece(before))
        text = text[len(before) :]
        if not percent:
            break
        if text.startswith("%%"):
            pieces.append(_Piece("%"))
            text = text[2:]
            continue
        form = _DIRECTIVE.match(text)
        if form is None:
            raise FormatError(f"bad conversion character {text[:2]}")
        text = text[len(form[0]) :]
        precision = whole(form[3][1:] or "0") if form[3] else None
        pieces.append(
            _Piece("", form[1], whole(form[2] or "0"), precision, form[4], _size(form[4], size, precision))
        )
    return pieces


def _size(kind: str, given: int | None, precision: int | None) -> int:
    if kind[:2] in ("_a", "_A"):
        return 0
    if kind in ("_c", "_p", "_u", "c"):
        return 1
    if kind == "s":
        if precision is None and given is None:
            raise FormatError("%s requires a precision or a byte count")
        return given or precision or 0
    allowed = (4, 8) if kind in "eEfgG" else (1, 2, 4, 8)
    size = given or (8 if kind in "eEfgG" else 4)
    if size not in allowed:
        raise FormatError(f"bad byte count for conversion character {kind}")
    return size
