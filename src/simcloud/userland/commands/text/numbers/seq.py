"""``seq``: sequences of numbers, in exact decimal arithmetic."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Context as Arithmetic, Decimal
from itertools import islice

from msgspec import Struct

from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.counts import whole
from simcloud.userland.commands.text.inputs import emit
from simcloud.userland.commands.text.numbers.c_format import parse_float_format
from simcloud.userland.commands.text.quoting import quote
from simcloud.userland.commands.text.tool import fail, misuse, tool

_NUMBER = re.compile(
    r"[ \t\n\v\f\r]*[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|(?i:inf(?:inity)?|nan))"
)
_HEXADECIMAL = re.compile(r"[ \t\n\v\f\r]*[+-]?0[xX][0-9a-fA-F]+")
_EXACT = Arithmetic(prec=100)
_BATCH = 1000
_BATCH_CHARS = 1 << 20
_MAX_EXPONENT = 4000


def _protect_negatives(args: list[str]) -> list[str]:
    """Numbers may be negative: the first operand ends the options even if it looks like one."""
    position = 1
    while position < len(args) and args[position][:1] == "-" and args[position] != "--":
        if args[position][1:2] == "." or args[position][1:2].isdigit():
            return [*args[:position], "--", *args[position:]]
        position += 2 if args[position] in ("-f", "-s") else 1
    return args


class _Operand(Struct):
    value: Decimal
    precision: int | None
    width: int


@tool(
    "seq",
    options="f,format= s,separator= w,equal-width",
    usage="[OPTION]... [FIRST [INCREMENT]] LAST",
    rewrite=_protect_negatives,
    stop_early=True,
)
async def seq(ctx: Context, options: Options) -> int:
    """Write numbers from FIRST to LAST, in steps of INCREMENT."""
    first, step, last = _bounds(ctx, options.operands)
    show = _presentation(ctx, options, first, step, last)
    separator = options.last("s", default="\n")
    size = min(_BATCH, _BATCH_CHARS // (len(separator) + len(show(first.value)) + 1) + 1)
    before = ""
    for batch in _batches(ctx, options, (first.value, step.value, last.value), show, size):
        await emit(ctx, (before + separator.join(batch)).encode("utf-8", "surrogateescape"))
        before = separator
    if first.value <= last.value if step.value > 0 else first.value >= last.value:
        await emit(ctx, b"\n")
    return 0


def _batches(
    ctx: Context,
    options: Options,
    bounds: tuple[Decimal, Decimal, Decimal],
    show: Callable[[Decimal], str],
    size: int,
) -> Iterator[list[str]]:
    """The numbers as text, many at a time; whole numbers are quicker."""
    if not options.any("f", "w") and all(bound == bound.to_integral_value() for bound in bounds):
        plain = all(operand.strip().lstrip("+-").lstrip("0") for operand in options.operands)
        plain = plain and not any("." in operand or "e" in operand.lower() for operand in options.operands)
        if plain and bounds[2].is_finite():
            first, step, last = map(int, bounds)
            numbers = range(first, last + (1 if step > 0 else -1), step)
            for at in range(0, len(numbers), size):
                yield list(map(str, numbers[at : at + size]))
            return
    decimals = _numbers(*bounds)
    while batch := [show(value) for value in islice(decimals, size)]:
        ctx.spend_turn(max(1, size // 5))
        yield batch


def _numbers(first: Decimal, step: Decimal, last: Decimal) -> Iterator[Decimal]:
    value, count = first, 0
    while value <= last if step > 0 else value >= last:
        yield value
        count += 1
        value = _EXACT.add(first, _EXACT.multiply(step, Decimal(count)))


def _bounds(ctx: Context, operands: list[str]) -> tuple[_Operand, _Operand, _Operand]:
    if not operands:
        misuse(ctx, "missing operand")
    if len(operands) > 3:
        misuse(ctx, f"extra operand {quote(operands[3])}")
    one = _Operand(Decimal(1), 0, 1)
    numbers = [_operand(ctx, text) for text in operands]
    first = numbers[0] if len(numbers) > 1 else one
    step = numbers[1] if len(numbers) > 2 else one
    if step.value == 0:
        misuse(ctx, f"invalid Zero increment value: {quote(operands[1])}")
    return first, step, numbers[-1]


def _operand(ctx: Context, text: str) -> _Operand:
    if _HEXADECIMAL.fullmatch(text):
        return _Operand(Decimal(int(text.strip(), 16)), 0, len(text))
    if not _NUMBER.fullmatch(text):
        misuse(ctx, f"invalid floating point argument: {quote(text)}")
    if "nan" in text.lower():
        misuse(ctx, f"invalid 'not-a-number' argument: {quote(text)}")
    word = text.strip().lstrip("+")
    mantissa, _, exponent_text = word.lower().partition("e")
    if "inf" in word.lower():
        return _Operand(Decimal(word), 0, 0)
    exponent = whole(exponent_text or "0")
    if abs(exponent) > _MAX_EXPONENT or len(word) > _MAX_EXPONENT:
        misuse(ctx, f"invalid floating point argument: {quote(text)}")
    units, point, fraction = mantissa.partition(".")
    precision = max(0, len(fraction) - exponent)
    width = len(units) + (1 + len(fraction) if fraction else 0)
    if point and units in ("", "-"):
        width += 1
    if exponent:
        width = len(units) + max(0, exponent) + (1 + precision if precision else 0)
    return _Operand(Decimal(word), precision, width)


def _presentation(
    ctx: Context, options: Options, first: _Operand, step: _Operand, last: _Operand
) -> Callable[[Decimal], str]:
    """Return the format of each number."""
    if "f" in options:
        form = parse_float_format(ctx, options.last("f"), "aefgAEFG")
        if "w" in options:
            misuse(ctx, "format string may not be specified when printing equal width strings")
        if form.kind in "aA":
            fail(ctx, f"format {quote(options.last('f'))} is not supported")
        return lambda value: form.show(float(value))
    precision = max(first.precision or 0, step.precision or 0)
    if "w" not in options:
        return lambda value: f"{value:.{precision}f}"
    width = max(_width(first, precision), _width(last, precision))
    return lambda value: f"{value:0{width}.{precision}f}"


def _width(operand: _Operand, precision: int) -> int:
    """Columns that an operand takes when shown with that many decimals."""
    if not operand.value.is_finite():
        return 0
    own = operand.precision or 0
    width = operand.width + precision - own
    if own and not precision:
        width -= 1
    elif precision and not own:
        width += 1
    return width
