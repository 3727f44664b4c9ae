"""``Number``, ``Boolean``, ``Math`` and the global functions about numbers."""

from __future__ import annotations

import math
from collections.abc import Callable

from simcloud.datastores.mongodb.shell.javascript.builtins.natives import (
    Natives,
    argument,
    native,
    number_argument,
    text_argument,
)
from simcloud.datastores.mongodb.shell.javascript.conversions import number
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.numbers import (
    format_fixed,
    format_in_base,
    leading_integer,
    leading_number,
    power,
    to_int32,
    to_integer,
)
from simcloud.datastores.mongodb.shell.javascript.values import Value, truthy

numbers = Natives("Number")
booleans = Natives("Boolean")
maths = Natives("Math")
_LARGEST_WHOLE = 2.0**53 - 1


def install(engine: Engine) -> None:
    """Give an engine its numbers."""
    made = numbers.install(engine, _number)
    assert made is not None
    for name, value in (("MAX_SAFE_INTEGER", _LARGEST_WHOLE), ("MIN_SAFE_INTEGER", -_LARGEST_WHOLE)):
        made.hide(name, value)
    for name, function in (("parseInt", parse_int), ("parseFloat", parse_float)):
        made.hide(name, native(engine, name, function))
        engine.define(name, native(engine, name, function))
    engine.define("isNaN", native(engine, "isNaN", is_nan))
    engine.define("isFinite", native(engine, "isFinite", is_finite))
    engine.define("NaN", math.nan)
    engine.define("Infinity", math.inf)
    booleans.install(engine, _boolean)
    holder = maths.install_namespace(engine)
    for name, plain in _PLAIN_MATHS.items():
        holder.hide(name, native(engine, name, _on_one_number(plain)))
    holder.hide("PI", math.pi)


async def _number(engine: Engine, this: Value, args: list[Value]) -> Value:
    return await number(engine, args[0]) if args else 0.0


def _boolean(engine: Engine, this: Value, args: list[Value]) -> Value:
    return truthy(argument(args, 0))


def _own_number(engine: Engine, this: Value, method: str) -> float:
    if type(this) is float:
        return this
    raise engine.type_error(engine.messages.bad_this(f"Number.prototype.{method}", "Number", "object"))


@numbers.method("toString")
async def to_string(engine: Engine, this: Value, args: list[Value]) -> Value:
    """As text, perhaps in another base."""
    value = _own_number(engine, this, "toString")
    base = to_integer(await number_argument(engine, args, 0, 10.0))
    if not 2 <= base <= 36:
        raise engine.error("RangeError", "radix must be an integer at least 2 and no greater than 36")
    return format_in_base(value, int(base))


@numbers.method("valueOf")
def value_of(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the number."""
    return _own_number(engine, this, "valueOf")


@numbers.method("toFixed")
async def to_fixed(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Format with a fixed number of decimal places."""
    digits = to_integer(await number_argument(engine, args, 0, 0.0))
    if not 0 <= digits <= 100:
        raise engine.error("RangeError", "toFixed() argument must be between 0 and 100")
    return format_fixed(_own_number(engine, this, "toFixed"), int(digits))


@numbers.static("isInteger")
def is_integer(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return whether it is a whole number."""
    value = argument(args, 0)
    return type(value) is float and value == to_integer(value) and abs(value) != math.inf


@numbers.static("isNaN")
def is_exactly_nan(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return whether it is NaN."""
    value = argument(args, 0)
    return type(value) is float and value != value


@numbers.static("isFinite")
def is_exactly_finite(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return whether it is a number with an end."""
    value = argument(args, 0)
    return type(value) is float and math.isfinite(value)


async def is_nan(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return whether it is NaN once it is a number."""
    return math.isnan(await number(engine, argument(args, 0)))


async def is_finite(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return whether it has an end once it is a number."""
    return math.isfinite(await number(engine, argument(args, 0)))


async def parse_int(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the whole number at the beginning of a text."""
    base = await number_argument(engine, args, 1, 0.0)
    return leading_integer(await text_argument(engine, args, 0), to_int32(base))


async def parse_float(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the number at the beginning of a text."""
    return leading_number(await text_argument(engine, args, 0))


@booleans.method("toString")
def boolean_text(engine: Engine, this: Value, args: list[Value]) -> Value:
    """``true`` or ``false``."""
    return "true" if this is True else "false"


@booleans.method("valueOf")
def boolean_value(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the boolean."""
    return this


# -- Math ----------------------------------------------------------------------------------------


def _round(value: float) -> float:
    return float(math.floor(value + 0.5)) if abs(value) < 2**52 else value


_PLAIN_MATHS: dict[str, Callable[[float], float]] = {
    "abs": abs,
    "floor": math.floor,
    "ceil": math.ceil,
    "round": _round,
    "trunc": math.trunc,
    "sqrt": math.sqrt,
    "sign": lambda value: math.copysign(1.0, value) if value else value,
}


def _on_one_number(function: Callable[[float], float]) -> Callable[[Engine, Value, list[Value]], Value]:
    async def run(engine: Engine, this: Value, args: list[Value]) -> Value:
        value = await number(engine, argument(args, 0))
        if value != value or value in (math.inf, -math.inf):
            return value
        try:
            return float(function(value))
        except ValueError:
            return math.nan

    return run


@maths.static("random")
def random(engine: Engine, this: Value, args: list[Value]) -> Value:
    """From nought up to one, from the world's chance."""
    return engine.host.random("Math.random").random()


@maths.static("pow")
async def pow_(engine: Engine, this: Value, args: list[Value]) -> Value:
    """``**``."""
    return power(await number(engine, argument(args, 0)), await number(engine, argument(args, 1)))


@maths.static("max")
async def max_(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the largest."""
    values = [await number(engine, arg) for arg in args]
    return math.nan if any(value != value for value in values) else max(values, default=-math.inf)


@maths.static("min")
async def min_(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the smallest."""
    values = [await number(engine, arg) for arg in args]
    return math.nan if any(value != value for value in values) else min(values, default=math.inf)
