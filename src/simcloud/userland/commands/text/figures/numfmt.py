"""``numfmt``: numbers to and from a form for people (``1.5K``)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.columns.cut import parse_ranges
from simcloud.userland.commands.text.counts import all_digits, parse_number, whole
from simcloud.userland.commands.text.figures.units import (
    ROUNDINGS,
    ConversionError,
    Scale,
    from_text,
    stored,
    to_text,
)
from simcloud.userland.commands.text.inputs import Inputs, emit
from simcloud.userland.commands.text.quoting import quote
from simcloud.userland.commands.text.tool import fail, one_of, tool

_TROUBLE = 2
_FORMAT = re.compile(r"%([0' -]*+)([0-9]*)(?:\.([0-9]*))?f")


@tool(
    "numfmt",
    options="from= from-unit= to= to-unit= round= padding= suffix= grouping d,delimiter= field= debug header=? "
    "format= invalid= z,zero-terminated",
    usage="[OPTION]... [NUMBER]...",
)
async def numfmt(ctx: Context, options: Options) -> int:
    """Reformat numbers to and from human-readable form."""
    conversion = _Conversion(ctx, options)
    if "debug" in options and not options.any("from", "to", "grouping", "padding", "format"):
        await ctx.err(f"{ctx.args[0]}: no conversion option specified\n")
    end = "\0" if "z" in options else "\n"
    if options.operands:
        for operand in options.operands:
            await conversion.line(operand, end)
        return conversion.status
    headers = _header(ctx, options)
    number = 0
    inputs = Inputs(ctx, [], cannot_read="error reading input: {why}")
    async for source in inputs.sources():
        async for raw in source.lines(end.encode()):
            number += 1
            text = raw.decode("utf-8", "surrogateescape").removesuffix(end)
            if number <= headers:
                await emit(ctx, (text + end).encode("utf-8", "surrogateescape"))
            else:
                await conversion.line(text, end)
    return conversion.status or inputs.status


def _header(ctx: Context, options: Options) -> int:
    if "header" not in options:
        return 0
    text = options.last("header") or "1"
    value = parse_number(text)
    if value is None or value < 1:
        fail(ctx, f"invalid header value {quote(text)}")
    return value


@dataclass
class _Frame:
    """What a format puts around a number."""

    before: str = ""
    after: str = ""
    width: int = 0
    left: bool = False
    zeros: int = 0
    precision: int | None = None


class _Conversion:
    def __init__(self, ctx: Context, options: Options) -> None:
        self._ctx = ctx
        self.status = 0
        choices = ("none", "si", "iec", "iec-i")
        self._from = Scale(_choice(ctx, options, "from", (choices[0], "auto", *choices[1:])))
        self._to = Scale(_choice(ctx, options, "to", choices))
        self._from_unit, self._to_unit = _unit(ctx, options, "from-unit"), _unit(ctx, options, "to-unit")
        self._round = _choice(ctx, options, "round", ROUNDINGS, "from-zero")
        self._invalid = _choice(ctx, options, "invalid", ("abort", "fail", "warn", "ignore"), "abort")
        self._suffix = options.last("suffix")
        self._delimiter = options.last("d") if "d" in options else None
        if self._delimiter is not None and len(self._delimiter.encode("utf-8", "surrogateescape")) > 1:
            fail(ctx, "the delimiter must be a single character")
        self._fields = parse_ranges(ctx, options.last("field", default="1"), True)
        if "format" in options and "grouping" in options:
            fail(ctx, "--grouping cannot be combined with --format")
        if "grouping" in options and self._to.name != "none":
            fail(ctx, "grouping cannot be combined with --to")
        self._frame = _frame(ctx, options.last("format")) if "format" in options else _Frame()
        if "padding" in options:
            text = options.last("padding")
            value = parse_number(text)
            if not value:
                fail(ctx, f"invalid padding value {quote(text)}")
            self._frame.width, self._frame.left = abs(value), value < 0
        ctx.spend_bytes(self._frame.width + self._frame.zeros + (self._frame.precision or 0))
        self._auto_width = not self._frame.width and self._delimiter is None

    async def line(self, text: str, end: str) -> None:
        """Convert the chosen fields of a line and write it."""
        shown: list[str] = []
        for number, field in enumerate(self._split(text), 1):
            if any(low <= number <= high for low, high in self._fields):
                try:
                    field = self._converted(field, number)
                except ConversionError as error:
                    await self._complain(error)
            shown.append(field)
        joined = (" " if self._delimiter is None else self._delimiter).join(shown) + end
        self._ctx.spend_turn()
        await emit(self._ctx, joined.encode("utf-8", "surrogateescape"))

    async def _complain(self, error: ConversionError) -> None:
        if self._invalid == "abort":
            fail(self._ctx, str(error), _TROUBLE)
        if self._invalid != "ignore":
            await self._ctx.err(f"{self._ctx.args[0]}: {error}\n")
        if self._invalid == "fail":
            self.status = _TROUBLE

    def _split(self, text: str) -> list[str]:
        """Fields; between blanks, each keeps the blanks before it but for one."""
        if self._delimiter is not None:
            return text.split(self._delimiter) if self._delimiter else [text]
        fields: list[str] = []
        rest: str | None = text
        while rest is not None:
            at = len(rest) - len(rest.lstrip(" \t\n"))
            while at < len(rest) and rest[at] not in " \t\n":
                at += 1
            fields.append(rest[:at])
            rest = rest[at + 1 :] if at < len(rest) else None
        return fields

    def _converted(self, field: str, number: int) -> str:
        text = field
        if self._suffix and len(text) > len(self._suffix):
            text = text.removesuffix(self._suffix)
        bare = text.lstrip(" \t")
        width, left = self._frame.width, self._frame.left
        if self._auto_width and (len(bare) < len(text) or number > 1):
            width = len(text)
        value, precision = from_text(bare, self._from)
        value = stored(stored(value * self._from_unit) / self._to_unit)
        if self._frame.precision is not None:
            precision = self._frame.precision
        shown = to_text(value, self._to, self._round, precision, fixed=self._frame.precision is not None)
        sign = "-" if shown.startswith("-") else ""
        shown = sign + shown.removeprefix("-").rjust(self._frame.zeros - len(sign), "0") + self._suffix
        padded = shown.ljust(width) if left else shown.rjust(width)
        return self._frame.before + padded + self._frame.after


def _choice(
    ctx: Context, options: Options, name: str, choices: tuple[str, ...], default: str = "none"
) -> str:
    return one_of(ctx, name, options.last(name), choices) if name in options else default


def _unit(ctx: Context, options: Options, name: str) -> int:
    text = options.last(name, default="1")
    powers = "KMGTPEZY"
    digits = text.rstrip("KMGTPEZYi")
    suffix = text[len(digits) :]
    value = whole(digits or "1") if not digits or all_digits(digits) else 0
    if suffix:
        base = 1024 if suffix[1:] == "i" else 1000
        known = suffix[0] in powers and suffix[1:] in ("", "i")
        value = value * base ** (powers.index(suffix[0]) + 1) if known else 0
    if value == 0 or not text:
        fail(ctx, f"invalid unit size: {quote(text)}")
    return value


def _frame(ctx: Context, text: str) -> _Frame:
    at = 0
    while at < len(text) and (text[at] != "%" or text[at + 1 : at + 2] == "%"):
        at += 2 if text[at] == "%" else 1
    if at >= len(text):
        fail(ctx, f"format {quote(text)} has no % directive")
    form = _FORMAT.match(text[at:])
    if form is None:
        if text[at:] == "%":
            fail(ctx, f"format {quote(text)} ends in %")
        fail(ctx, f"invalid format {quote(text)}, directive must be %[0]['][-][N][.][N]f")
    after = text[at + len(form[0]) :]
    if "%" in after.replace("%%", ""):
        fail(ctx, f"format {quote(text)} has too many % directives")
    width = whole(form[2] or "0")
    zeros = "0" in form[1]
    return _Frame(
        before=text[:at].replace("%%", "%"),
        after=after.replace("%%", "%"),
        width=0 if zeros else width,
        left="-" in form[1],
        zeros=width if zeros else 0,
        precision=whole(form[3] or "0") if form[3] is not None else None,
    )
