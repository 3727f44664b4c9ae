"""The functions of ``bc -l``: exponential, logarithm, sine, cosine, arc tangent, Bessel.

Each is computed with more decimals than asked for, in whole-number arithmetic, and then cut off.
"""

from __future__ import annotations

from decimal import Context, Decimal
from math import isqrt

from simcloud.userland.commands.text.bc.decimals import Number, digits_of, rescaled

PARAMETERS = {"e": 1, "l": 1, "s": 1, "c": 1, "a": 1, "j": 2}
_MAX_SCALE = 1000
_GUARD = 12


class TooLargeError(Exception):
    """The result would take too long to compute."""


def call(name: str, arguments: list[Number], scale: int) -> Number:
    """The value of the function of that name."""
    if scale > _MAX_SCALE:
        raise TooLargeError(f"functions to more than {_MAX_SCALE} decimals")
    sizes = [digits_of(argument.value) - argument.scale for argument in arguments]
    if sizes[-1] > (4 if name in "ej" else 100) or (name == "j" and sizes[0] > 3):
        raise TooLargeError(f"{name}() of so large a number")
    if name == "j":
        return bessel(arguments[0], arguments[1], scale)
    functions = {"e": exponential, "l": logarithm, "s": sine, "c": cosine, "a": arc_tangent}
    return functions[name](arguments[0], scale)


def exponential(x: Number, scale: int) -> Number:
    """``e(x)``."""
    size = max(0, len(str(abs(x.value))) - x.scale)
    whole_digits = int(abs(x.value) / 10**x.scale) if size < 7 else 10**7
    context = Context(prec=scale + _GUARD + whole_digits)
    return _cut(context.exp(_decimal(x)), scale)


def logarithm(x: Number, scale: int) -> Number:
    """``l(x)``; of zero and below, the lowest number of that many digits."""
    if x.value <= 0:
        return Number((1 - 10**scale) * 10**scale, scale)
    context = Context(prec=scale + _GUARD + 10)
    return _cut(context.ln(_decimal(x)), scale)


def sine(x: Number, scale: int) -> Number:
    """``s(x)``."""
    return _trigonometric(x, scale, quarter_turns=0)


def cosine(x: Number, scale: int) -> Number:
    """``c(x)``."""
    return _trigonometric(x, scale, quarter_turns=1)


def _trigonometric(x: Number, scale: int, quarter_turns: int) -> Number:
    """The sine of x plus so many right angles, from a Taylor series near zero."""
    places = scale + _GUARD + max(0, len(str(abs(x.value))) - x.scale)
    unit = 10**places
    angle = rescaled(x, places).value + quarter_turns * _pi(places) // 2
    pi = _pi(places)
    turns = (angle + pi // 2) // pi
    angle -= turns * pi
    term = total = angle
    step = 1
    while term:
        term = -term * angle // unit * angle // unit // ((step + 1) * (step + 2))
        total += term
        step += 2
        if abs(term) <= 1:
            break
    return rescaled(Number(-total if turns % 2 else total, places), scale)


def arc_tangent(x: Number, scale: int) -> Number:
    """``a(x)``."""
    places = scale + _GUARD
    return rescaled(Number(_arc_tangent(rescaled(x, places).value, places), places), scale)


def _arc_tangent(x: int, places: int) -> int:
    unit = 10**places
    if abs(x) > unit:
        sign = 1 if x > 0 else -1
        return sign * _pi(places) // 2 - _arc_tangent(unit * unit // x, places)
    halvings = 8
    for _ in range(halvings):  # brings x near zero, where the series is short
        x = x * unit // (unit + isqrt(unit * unit + x * x))
    square = x * x // unit
    term = total = x
    step = 1
    while abs(term) > 1:
        term = -term * square // unit
        step += 2
        total += term // step
    return total << halvings


def _pi(places: int) -> int:
    """Machin's formula."""
    unit = 10 ** (places + 10)

    def inverse(value: int) -> int:
        term = total = unit // value
        step = 1
        while term:
            term = -term // (value * value)
            if term == -1:
                break
            step += 2
            total += term // step
        return int(total)

    return 4 * (4 * inverse(5) - inverse(239)) // 10**10


def bessel(order: Number, x: Number, scale: int) -> Number:
    """``j(n,x)``: the Bessel function of whole order."""
    n = int(rescaled(order, 0).value)
    sign = -1 if n < 0 and n % 2 else 1
    n = abs(n)
    size = int(abs(x.value) // 10**x.scale)
    places = scale + _GUARD + 2 * size
    unit = 10**places
    half = rescaled(x, places).value // 2
    term = unit
    for step in range(1, n + 1):
        term = term * half // unit // step
    total, step = term, 0
    while abs(term) > 1:
        step += 1
        term = -term * half // unit * half // unit // (step * (step + n))
        total += term
    return rescaled(Number(sign * total, places), scale)


def _decimal(number: Number) -> Decimal:
    return Decimal(number.value).scaleb(-number.scale, Context(prec=max(1, len(str(abs(number.value))) + 1)))


def _cut(value: Decimal, scale: int) -> Number:
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    whole = int("".join(map(str, digits)))
    number = Number(whole * 10**exponent, 0) if exponent >= 0 else Number(whole, -exponent)
    cut = rescaled(number, scale)
    return Number(-cut.value, scale) if sign else cut
