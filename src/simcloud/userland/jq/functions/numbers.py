"""Mathematical functions: C's, by way of Python's ``math``."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

from simcloud.userland.jq.functions.registry import NATIVES, native, refuse
from simcloud.userland.jq.run import Run
from simcloud.userland.jq.tree import Value

SMALLEST_NORMAL = 2.2250738585072014e-308


def _number(value: Value) -> float:
    if type(value) is not float:
        refuse(value, "number required")
    return value


def _follow_c(function: Callable[[float], float]) -> Callable[[float], float]:
    """Return C's results where Python raises: NaN outside the domain, infinity beyond the range."""

    def call_like_c(number: float) -> float:
        try:
            return float(function(number))
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return call_like_c


def _log(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda number: -math.inf if number == 0.0 else function(number)


def _keep_special(function: Callable[[float], int]) -> Callable[[float], float]:
    """Leave infinity and NaN as they are, and keep the sign of zero."""
    return lambda number: math.copysign(function(number), number) if math.isfinite(number) else number


def _round_away(number: float) -> int:
    whole = math.floor(abs(number))
    whole += abs(number) - whole >= 0.5
    return whole


@native("pow", 2)
def power(_: Run, __: Value, first: Value, second: Value) -> Value:
    """One number to the power of another."""
    base, exponent = _number(first), _number(second)
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


ONE: dict[str, Callable[[float], float]] = {
    "floor": _keep_special(math.floor),
    "ceil": _keep_special(math.ceil),
    "trunc": _keep_special(math.trunc),
    "round": _keep_special(_round_away),
    "sqrt": math.sqrt,
    "fabs": math.fabs,
    "log": _log(math.log),
    "log10": _log(math.log10),
    "log2": _log(math.log2),
    "exp": math.exp,
    "exp10": _exp10,
}


def _register() -> None:
    def of_one(function: Callable[[float], float]) -> Callable[..., Value]:
        return lambda _, value: function(_number(value))

    for name, function in ONE.items():
        NATIVES[name, 0] = of_one(_follow_c(function))


_register()


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
