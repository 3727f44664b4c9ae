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
from simcloud.datastores.mongodb.shell.javascript.convert import number
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.numbers import (
    based_text,
    fixed_text,
    leading_integer,
    leading_number,
    number_text,
    power,
    precise_text,
    to_int32,
    to_integer,
)
from simcloud.datastores.mongodb.shell.javascript.values import UNDEFINED, Boxed, Value, truthy

numbers = Natives("Number")
booleans = Natives("Boolean")
maths = Natives("Math")
_LARGEST_WHOLE = 2.0**53 - 1


def install(engine: Engine) -> None:
    """Give an engine its numbers."""
    made = numbers.install(engine, _number, _boxed_number)
    assert made is not None
    for name, value in (
        ("MAX_SAFE_INTEGER", _LARGEST_WHOLE),
        ("MIN_SAFE_INTEGER", -_LARGEST_WHOLE),
        ("MAX_VALUE", 1.7976931348623157e308),
        ("MIN_VALUE", 5e-324),
        ("EPSILON", 2.0**-52),
        ("POSITIVE_INFINITY", math.inf),
        ("NEGATIVE_INFINITY", -math.inf),
        ("NaN", math.nan),
    ):
        made.hide(name, value)
    for name, function in (("parseInt", parse_int), ("parseFloat", parse_float)):
        made.hide(name, native(engine, name, function))
        engine.define(name, native(engine, name, function))
    engine.define("isNaN", native(engine, "isNaN", is_nan))
    engine.define("isFinite", native(engine, "isFinite", is_finite))
    engine.define("NaN", math.nan)
    engine.define("Infinity", math.inf)
    booleans.install(engine, _boolean, _boxed_boolean)
    holder = maths.install_namespace(engine)
    for name, plain in _PLAIN_MATHS.items():
        holder.hide(name, native(engine, name, _on_one_number(plain)))
    for name in ("PI", "E"):
        holder.hide(name, getattr(math, name.lower()))
    for name, value in (("LN2", math.log(2)), ("LN10", math.log(10)), ("SQRT2", math.sqrt(2))):
        holder.hide(name, value)


async def _number(engine: Engine, this: Value, args: list[Value]) -> Value:
    return await number(engine, args[0]) if args else 0.0


async def _boxed_number(engine: Engine, this: Value, args: list[Value]) -> Value:
    return Boxed(engine.prototypes["Number"], "Number", await _number(engine, this, args))


def _boolean(engine: Engine, this: Value, args: list[Value]) -> Value:
    return truthy(argument(args, 0))


def _boxed_boolean(engine: Engine, this: Value, args: list[Value]) -> Value:
    return Boxed(engine.prototypes["Boolean"], "Boolean", truthy(argument(args, 0)))


def _own_number(engine: Engine, this: Value, method: str) -> float:
    if type(this) is float:
        return this
    if type(this) is Boxed and type(this.value) is float:
        return this.value
    raise engine.type_error(engine.words.bad_this(f"Number.prototype.{method}", "Number", "object"))


@numbers.method("toString")
async def to_string(engine: Engine, this: Value, args: list[Value]) -> Value:
    """As text, perhaps in another base."""
    value = _own_number(engine, this, "toString")
    base = to_integer(await number_argument(engine, args, 0, 10.0))
    if not 2 <= base <= 36:
        raise engine.error("RangeError", "radix must be an integer at least 2 and no greater than 36")
    return based_text(value, int(base))


@numbers.method("toLocaleString")
def to_locale_string(engine: Engine, this: Value, args: list[Value]) -> Value:
    """With commas between the thousands."""
    value = _own_number(engine, this, "toLocaleString")
    if value != value or value in (math.inf, -math.inf):
        return number_text(value)
    whole = f"{round(value, 3):,.3f}"
    return whole.rstrip("0").rstrip(".")


@numbers.method("valueOf")
def value_of(engine: Engine, this: Value, args: list[Value]) -> Value:
    """The number."""
    return _own_number(engine, this, "valueOf")


async def _digits(engine: Engine, args: list[Value], lowest: int, method: str) -> int:
    digits = to_integer(await number_argument(engine, args, 0, float(lowest)))
    if not lowest <= digits <= 100:
        raise engine.error("RangeError", f"{method}() argument must be between {lowest} and 100")
    return int(digits)


@numbers.method("toFixed")
async def to_fixed(engine: Engine, this: Value, args: list[Value]) -> Value:
    """With so many places."""
    return fixed_text(_own_number(engine, this, "toFixed"), await _digits(engine, args, 0, "toFixed"))


@numbers.method("toPrecision")
async def to_precision(engine: Engine, this: Value, args: list[Value]) -> Value:
    """With so many digits."""
    value = _own_number(engine, this, "toPrecision")
    if argument(args, 0) is UNDEFINED:
        return number_text(value)
    return precise_text(value, await _digits(engine, args, 1, "toPrecision"))


@numbers.static("isInteger")
def is_integer(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Whether it is a whole number."""
    value = argument(args, 0)
    return type(value) is float and value == to_integer(value) and abs(value) != math.inf


@numbers.static("isSafeInteger")
def is_safe_integer(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Whether it is a whole number that no other is rounded to."""
    return bool(is_integer(engine, this, args)) and abs(args[0]) <= _LARGEST_WHOLE


@numbers.static("isNaN")
def is_exactly_nan(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Whether it is NaN."""
    value = argument(args, 0)
    return type(value) is float and value != value


@numbers.static("isFinite")
def is_exactly_finite(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Whether it is a number with an end."""
    value = argument(args, 0)
    return type(value) is float and math.isfinite(value)


async def is_nan(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Whether it is NaN once it is a number."""
    return math.isnan(await number(engine, argument(args, 0)))


async def is_finite(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Whether it has an end once it is a number."""
    return math.isfinite(await number(engine, argument(args, 0)))


async def parse_int(engine: Engine, this: Value, args: list[Value]) -> Value:
    """The whole number at the beginning of a text."""
    base = await number_argument(engine, args, 1, 0.0)
    return leading_integer(await text_argument(engine, args, 0), to_int32(base))


async def parse_float(engine: Engine, this: Value, args: list[Value]) -> Value:
    """The number at the beginning of a text."""
    return leading_number(await text_argument(engine, args, 0))


@booleans.method("toString")
def boolean_text(engine: Engine, this: Value, args: list[Value]) -> Value:
    """``true`` or ``false``."""
    value = this.value if type(this) is Boxed else this
    return "true" if value is True else "false"


@booleans.method("valueOf")
def boolean_value(engine: Engine, this: Value, args: list[Value]) -> Value:
    """The boolean."""
    return this.value if type(this) is Boxed else this


# -- Math ----------------------------------------------------------------------------------------


def _rounded(value: float) -> float:
    return float(math.floor(value + 0.5)) if abs(value) < 2**52 else value


def _logarithm(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda value: -math.inf if value == 0 else function(value)


_PLAIN_MATHS: dict[str, Callable[[float], float]] = {
    "abs": abs,
    "floor": math.floor,
    "ceil": math.ceil,
    "round": _rounded,
    "trunc": math.trunc,
    "sqrt": math.sqrt,
    "cbrt": lambda value: math.copysign(round(abs(value) ** (1 / 3), 12), value),
    "sign": lambda value: math.copysign(1.0, value) if value else value,
    "exp": math.exp,
    "log": _logarithm(math.log),
    "log2": _logarithm(math.log2),
    "log10": _logarithm(math.log10),
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
}


def _on_one_number(function: Callable[[float], float]) -> Callable[[Engine, Value, list[Value]], Value]:
    async def run(engine: Engine, this: Value, args: list[Value]) -> Value:
        value = await number(engine, argument(args, 0))
        if value != value or value in (math.inf, -math.inf):
            return value if function not in (math.exp, math.sin, math.cos) else math.nan
        try:
            return float(function(value))
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return run


@maths.static("random")
def random(engine: Engine, this: Value, args: list[Value]) -> Value:
    """From nought up to one, from the world's chance."""
    return engine.host.random("Math.random").random()


@maths.static("pow")
async def pow_(engine: Engine, this: Value, args: list[Value]) -> Value:
    """``**``."""
    return power(await number(engine, argument(args, 0)), await number(engine, argument(args, 1)))


@maths.static("atan2")
async def atan2(engine: Engine, this: Value, args: list[Value]) -> Value:
    """The angle of a point."""
    return math.atan2(await number(engine, argument(args, 0)), await number(engine, argument(args, 1)))


@maths.static("hypot")
async def hypot(engine: Engine, this: Value, args: list[Value]) -> Value:
    """How far a point is."""
    return math.hypot(*[await number(engine, arg) for arg in args])


@maths.static("max")
async def max_(engine: Engine, this: Value, args: list[Value]) -> Value:
    """The largest."""
    values = [await number(engine, arg) for arg in args]
    return math.nan if any(value != value for value in values) else max(values, default=-math.inf)


@maths.static("min")
async def min_(engine: Engine, this: Value, args: list[Value]) -> Value:
    """The smallest."""
    values = [await number(engine, arg) for arg in args]
    return math.nan if any(value != value for value in values) else min(values, default=math.inf)
