"""Mathematics. The functions are C's, by way of Python's ``math``."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction

from simcloud.userland.jq.errors import JqError
from simcloud.userland.jq.functions.registry import NATIVES, native, refuse
from simcloud.userland.jq.run import Run
from simcloud.userland.jq.tree import Value

SMALLEST_NORMAL = 2.2250738585072014e-308


def _number(value: Value) -> float:
    if type(value) is not float:
        refuse(value, "number required")
    return value


def _guarded(function: Callable[..., float]) -> Callable[..., float]:
    """C's answers where Python raises: NaN outside the domain, infinity beyond the range."""

    def guarded(*numbers: float) -> float:
        try:
            return float(function(*numbers))
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return guarded


def _log(function: Callable[[float], float], zero: float = 0.0) -> Callable[[float], float]:
    return lambda number: -math.inf if number == zero else function(number)


def _gamma(number: float) -> float:
    return math.inf if number <= 0 and number == math.floor(number) else math.lgamma(number)


def _true_gamma(number: float) -> float:
    return math.copysign(math.inf, number) if number == 0 else math.gamma(number)


def _rounded(function: Callable[[float], int]) -> Callable[[float], float]:
    """Infinity and NaN are round already; a zero keeps its sign."""
    return lambda number: math.copysign(function(number), number) if math.isfinite(number) else number


def _round_away(number: float) -> int:
    whole = math.floor(abs(number))
    whole += abs(number) - whole >= 0.5
    return whole


def _power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except ValueError:
        return math.inf if base == 0 else math.nan
    except OverflowError:
        odd = exponent == math.floor(exponent) and exponent % 2 == 1
        return -math.inf if base < 0 and odd else math.inf


def _exp10(number: float) -> float:
    """As the C library computes it: in two parts, so that much of ten's logarithm counts."""
    if not -350 < number < 309:
        return math.inf if number >= 309 else 0.0 if number <= -350 else number
    bits: int = struct.unpack("<Q", struct.pack("<d", number))[0] & ~0x7FFFFFF
    high: float = struct.unpack("<d", struct.pack("<Q", bits))[0]
    low = number - high
    log_high, log_low = float.fromhex("0x2.4d7637p0"), float.fromhex("0x7.6aaa2b05ba95cp-28")
    return math.exp(high * log_high) * math.exp(high * log_low + low * math.log(10))


def _significand(number: float) -> float:
    return number if number == 0 or not math.isfinite(number) else math.frexp(number)[0] * 2


def _logb(number: float) -> float:
    if number == 0:
        return -math.inf
    return float(math.frexp(number)[1] - 1) if math.isfinite(number) else abs(number)


def _scaled(number: float, exponent: float) -> float:
    if math.isnan(exponent) or not math.isfinite(number):
        return math.nan if math.isnan(exponent) else number
    return math.ldexp(number, int(max(-5000.0, min(5000.0, exponent))))


def _fma(a: float, b: float, c: float) -> float:
    if not all(map(math.isfinite, (a, b, c))):
        return a * b + c
    return float(Fraction(a) * Fraction(b) + Fraction(c))


def _fmin(a: float, b: float) -> float:
    return b if math.isnan(a) else a if math.isnan(b) else min(a, b)


def _fmax(a: float, b: float) -> float:
    return b if math.isnan(a) else a if math.isnan(b) else max(a, b)


def _fdim(a: float, b: float) -> float:
    return math.nan if math.isnan(a) or math.isnan(b) else max(0.0, a - b)


ONE: dict[str, Callable[..., float]] = {
    "floor": _rounded(math.floor),
    "ceil": _rounded(math.ceil),
    "trunc": _rounded(math.trunc),
    "round": _rounded(_round_away),
    "rint": _rounded(round),
    "nearbyint": _rounded(round),
    "sqrt": math.sqrt,
    "cbrt": math.cbrt,
    "fabs": math.fabs,
    "log": _log(math.log),
    "log10": _log(math.log10),
    "log2": _log(math.log2),
    "log1p": _log(math.log1p, -1.0),
    "logb": _logb,
    "exp": math.exp,
    "exp2": math.exp2,
    "exp10": _exp10,
    "expm1": math.expm1,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "tanh": math.tanh,
    "asinh": math.asinh,
    "acosh": math.acosh,
    "atanh": lambda number: math.copysign(math.inf, number) if abs(number) == 1 else math.atanh(number),
    "erf": math.erf,
    "erfc": math.erfc,
    "gamma": _gamma,
    "lgamma": _gamma,
    "tgamma": _true_gamma,
    "significand": _significand,
}
TWO: dict[str, Callable[..., float]] = {
    "pow": _power,
    "atan2": math.atan2,
    "fmod": math.fmod,
    "fmin": _fmin,
    "fmax": _fmax,
    "fdim": _fdim,
    "hypot": math.hypot,
    "copysign": math.copysign,
    "drem": math.remainder,
    "remainder": math.remainder,
    "nextafter": math.nextafter,
    "nexttoward": math.nextafter,
    "ldexp": _scaled,
    "scalb": _scaled,
    "scalbln": _scaled,
}
ABSENT = (("j0", 0), ("j1", 0), ("y0", 0), ("y1", 0), ("jn", 2), ("yn", 2), ("pow10", 0))
"""Functions jq knows by name and leaves out where the C library has none."""


def _register() -> None:
    def of_one(function: Callable[..., float]) -> Callable[..., Value]:
        return lambda _, value: function(_number(value))

    def of_more(function: Callable[..., float]) -> Callable[..., Value]:
        return lambda _, __, *values: function(*map(_number, values))

    def absent(name: str, arity: int) -> Callable[..., Value]:
        def function(*_: Value) -> Value:
            raise JqError(f"Error: {name}/{arity} not found at build time")

        return function

    for name, function in ONE.items():
        NATIVES[name, 0] = of_one(_guarded(function))
    for name, function in TWO.items():
        NATIVES[name, 2] = of_more(_guarded(function))
    NATIVES["fma", 3] = of_more(_guarded(_fma))
    for name, arity in ABSENT:
        NATIVES[name, arity] = absent(name, arity)


_register()


@native("frexp", 0)
def frexp(_: Run, value: Value) -> Value:
    """A fraction and a power of two."""
    fraction, exponent = math.frexp(_number(value))
    return [fraction, float(exponent)]


@native("modf", 0)
def modf(_: Run, value: Value) -> Value:
    """What stands behind the point, and before it."""
    return list(math.modf(_number(value)))


@native("lgamma_r", 0)
def lgamma_r(_: Run, value: Value) -> Value:
    """The logarithm of gamma, and gamma's sign."""
    number = _number(value)
    negative = math.isfinite(number) and number < 0 and number % 1 != 0 and math.floor(number) % 2 == 1
    return [_guarded(_gamma)(number), -1.0 if negative else 1.0]


@native("abs", 0)
def absolute(_: Run, value: Value) -> Value:
    """The number without its sign."""
    if type(value) is not float:
        refuse(value, "has no absolute value")
    return abs(value) if value < 0 else value


@native("infinite", 0)
def infinite(_: Run, __: Value) -> Value:
    """More than any number."""
    return math.inf


@native("nan", 0)
def nan(_: Run, __: Value) -> Value:
    """No number."""
    return math.nan


@native("isinfinite", 0)
def isinfinite(_: Run, value: Value) -> Value:
    """Whether it is infinite."""
    return type(value) is float and math.isinf(value)


@native("isnan", 0)
def isnan(_: Run, value: Value) -> Value:
    """Whether it is no number."""
    return type(value) is float and math.isnan(value)


@native("isnormal", 0)
def isnormal(_: Run, value: Value) -> Value:
    """Whether it is a number of full precision."""
    return type(value) is float and math.isfinite(value) and abs(value) >= SMALLEST_NORMAL


@native("have_literal_numbers", 0)
def have_literal_numbers(_: Run, __: Value) -> Value:
    """Whether numbers of a program can be written out as they were."""
    return True


@native("have_decnum", 0)
def have_decnum(_: Run, __: Value) -> Value:
    """Whether numbers have more than 17 digits."""
    return False
