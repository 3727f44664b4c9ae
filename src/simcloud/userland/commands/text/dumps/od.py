"""``od``: data in octal and other notations."""

from __future__ import annotations

import re
from math import lcm

from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.counts import all_digits, parse_number, whole
from simcloud.userland.commands.text.dumps.blocks import Blocks, Repeats
from simcloud.userland.commands.text.dumps.od_formats import (
    Notation,
    character_notation,
    named_notation,
    number_notation,
)
from simcloud.userland.commands.text.inputs import Inputs, emit
from simcloud.userland.commands.text.quoting import quote
from simcloud.userland.commands.text.tool import fail, one_of, tool

_SIZES = {"C": 1, "S": 2, "I": 4, "L": 8}
_FLOAT_SIZES = {"F": 4, "D": 8, "L": 16}
_SHORTHANDS = {
    "a": "a", "b": "o1", "c": "c", "d": "u2", "e": "fD", "f": "fF", "h": "x2", "i": "dI", "l": "dL", "o": "o2",
    "s": "d2", "x": "x2", "B": "o2", "D": "u4", "F": "fD", "H": "x4", "I": "dL", "L": "dL", "O": "o4", "X": "x4",
}  # fmt: skip
_TYPE = re.compile(r"([acdfoux])([CSILFD]|[0-9]+)?(z?)")


@tool(
    "od",
    options="A,address-radix= j,skip-bytes= N,read-bytes= S,strings=? t,format= v,output-duplicates w,width=? "
    "endian= traditional a b c d e f h i l o s x B D F H I L O X",
)
async def od(ctx: Context, options: Options) -> int:
    """Write data in octal, or in another notation."""
    dump = _Dump(ctx, options)
    inputs = Inputs(ctx, options.operands, weight=16)
    await dump.run(inputs)
    return 1 if inputs.failed else 0


class _Dump:
    def __init__(self, ctx: Context, options: Options) -> None:
        self._ctx = ctx
        radix = options.last("A", default="o")
        if radix[:1] not in "doxn" or not radix:
            fail(
                ctx, f"invalid output address radix {quote(radix[:1])}; it must be one character from [doxn]"
            )
        self._radix = radix[0]
        self._skip = _count(ctx, options, "j") or 0
        self._limit = _count(ctx, options, "N")
        if "S" in options:
            fail(ctx, "the -S option is not supported; use strings")
        little = not (
            "endian" in options and one_of(ctx, "endian", options.last("endian"), ("little", "big")) == "big"
        )
        self._notations = [
            notation
            for name, value in options.given
            if name == "t" or name in _SHORTHANDS
            for notation in _notations(ctx, value if name == "t" else _SHORTHANDS[name], little)
        ] or _notations(ctx, "o2", little)
        self._suppress = "v" not in options
        unit = lcm(*(notation.size for notation in self._notations))
        self._row = self._row_width(ctx, options, unit)
        self._warning = ""
        if self._row == 0 or self._row % unit:
            self._warning = f"{ctx.args[0]}: warning: invalid width {self._row}; using {unit} instead\n"
            self._row = unit
        self._columns = max(
            (notation.width + 1) * (self._row // notation.size) for notation in self._notations
        )
        ctx.spend_bytes(self._columns)

    def _row_width(self, ctx: Context, options: Options, unit: int) -> int:
        if "w" not in options:
            return unit * max(1, 16 // unit)
        text = options.last("w", default="")
        if not text:
            return 32
        width = parse_number(text, "bkKmM")
        if width is None or width < 0:
            fail(ctx, f"invalid -w argument {quote(text)}")
        ctx.spend_bytes(width * 32)
        return width

    async def run(self, inputs: Inputs) -> None:
        """Dump all inputs as one."""
        await self._ctx.err(self._warning)
        address = self._skip
        repeats = Repeats(self._row, self._suppress)
        blocks = Blocks(self._row, self._skip, self._limit)
        async for batch in blocks.batches(inputs):
            shown: list[bytes] = []
            for row in batch:
                star = repeats.shown(row)
                shown.append(self._shown(address, row) if star is None else star)
                address += len(row)
            await emit(self._ctx, b"".join(shown))
        if blocks.skip:
            fail(self._ctx, "cannot skip past end of combined input")
        if self._radix != "n" and inputs.opened:
            await emit(self._ctx, self._address(address) + b"\n")

    def _address(self, address: int) -> bytes:
        if self._radix == "n":
            return b""
        width = 6 if self._radix == "x" else 7
        return f"{address:0{width}{self._radix}}".encode()

    def _shown(self, address: int, row: bytes) -> bytes:
        lines: list[bytes] = []
        label = self._address(address)
        for notation in self._notations:
            lines.append(label + self._fields(notation, row) + b"\n")
            label = b" " * len(label)
        return b"".join(lines)

    def _fields(self, notation: Notation, row: bytes) -> bytes:
        """One row in one notation, its fields spread so that all notations line up."""
        fields = self._row // notation.size
        padding = self._columns - notation.width * fields
        padded = row + bytes(-len(row) % notation.size)
        shown: list[str] = []
        left = padding
        for number in range(fields):
            following = padding * (fields - number - 1) // fields
            width = left - following + notation.width
            left = following
            unit = padded[number * notation.size : (number + 1) * notation.size]
            if unit:
                shown.append(f"{notation.show(unit):>{width}}")
            elif notation.text_too:
                shown.append(" " * width)
        if notation.text_too:
            text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in row)
            shown.append(f"  >{text}<")
        return "".join(shown).encode()


def _count(ctx: Context, options: Options, letter: str) -> int | None:
    if letter not in options:
        return None
    text = options.last(letter)
    value = int(text, 16) if re.fullmatch("0[xX][0-9a-fA-F]+", text) else parse_number(text, "bkKmMGTPEZY")
    if value is None or value < 0:
        fail(ctx, f"invalid -{letter} argument {quote(text)}")
    return value


def _notations(ctx: Context, text: str, little: bool) -> list[Notation]:
    """The notations that a type string names, such as ``x1z`` or ``d4c``."""
    found: list[Notation] = []
    at = 0
    while at < len(text):
        form = _TYPE.match(text[at:])
        if form is None:
            fail(ctx, f"invalid character {quote(text[at])} in type string {quote(text)}")
        kind, size_text, text_too = form[1], form[2], bool(form[3])
        length = len(form[0])
        if kind in "ac":
            length = 1 + (text[at + 1 : at + 2] == "z")
            make = named_notation if kind == "a" else character_notation
            found.append(make(text[at + 1 : at + 2] == "z"))
        else:
            size = _size(ctx, kind, size_text, text)
            found.append(number_notation(kind, size, little, text_too))
        at += length
    return found


def _size(ctx: Context, kind: str, text: str | None, type_string: str) -> int:
    sizes = _FLOAT_SIZES if kind == "f" else _SIZES
    if not text:
        return 8 if kind == "f" else 4
    size = sizes.get(text) or (whole(text) if all_digits(text) else 0)
    if size == 16 and kind == "f":
        fail(ctx, "16-byte floating point is not supported")
    if size not in ((4, 8) if kind == "f" else (1, 2, 4, 8)):
        word = "floating point" if kind == "f" else "integral"
        fail(
            ctx,
            f"invalid type string {quote(type_string)};\nthis system doesn't provide a {size}-byte {word} type",
        )
    return size
