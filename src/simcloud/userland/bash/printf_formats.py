"""printf's formats, with bash's numbers: 64-bit integers and long doubles, computed exactly."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Final

from simcloud.userland.bash.escapes import (
    decode_printf_b,
    decode_printf_format,
    quote_backslash,
)

_DIRECTIVE = re.compile(
    r"%(?P<flags>[-+ #0']*)(?P<width>\*|\d*)(?:\.(?P<precision>\*|-?\d*))?(?:hh|h|ll|l|L|q(?=[diouxX])|j|z|t)*"
    r"(?:\((?P<time>[^)]*)\))?(?P<kind>.)?",
    re.DOTALL,
)
_INTEGER = re.compile(r"\s*([+-]?)(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9]\d*)")
_FLOAT = re.compile(r"\s*[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)")
_HEX_FLOAT = re.compile(r"\s*([+-]?)0[xX]([0-9a-fA-F]+)\Z")
_MANTISSA_BITS: Final = 64
_MAX_EXPONENT: Final = 5000
_MIN_INTEGER, _MAX_INTEGER = -(1 << 63), (1 << 63) - 1
_SPECIAL_FLOATS: Final = ("inf", "infinity", "nan")


class _Stop(Exception):
    """``\\c`` in a ``%b`` argument ends all output."""


class Formatter:
    """Formats the arguments once. ``errors`` and ``status`` report invalid arguments."""

    def __init__(self, spend: Callable[[int], None], now: Callable[[], float], started_at: float) -> None:
        self.errors: list[str] = []
        self.status = 0
        self._spend = spend
        self._now = now
        self._started_at = started_at
        self._arguments: list[str] = []
        self._used = 0
        self._out: list[str] = []

    def format(self, template: str, arguments: list[str]) -> str:
        """The formatted text; the template is used again while arguments are left."""
        self._arguments = arguments
        try:
            while True:
                before = self._used
                self._once(template)
                if self._used >= len(arguments) or self._used == before:
                    break
        except _Stop:
            pass
        return "".join(self._out)

    def _complain(self, message: str) -> None:
        self.errors.append(message)
        self.status = 1

    def _next(self) -> str | None:
        if self._used < len(self._arguments):
            self._used += 1
            return self._arguments[self._used - 1]
        self._used += 1 if not self._arguments else 0
        return None

    def _emit(self, text: str) -> None:
        self._spend(len(text) + 1)
        self._out.append(text)

    def _once(self, template: str) -> None:
        position = 0
        while position < len(template):
            percent = template.find("%", position)
            if percent < 0:
                self._emit(decode_printf_format(template[position:]))
                return
            if percent > position:
                self._emit(decode_printf_format(template[position:percent]))
            if template.startswith("%%", percent):
                self._emit("%")
                position = percent + 2
                continue
            match = _DIRECTIVE.match(template, percent)
            assert match is not None
            position = match.end()
            self._directive(match)

    def _directive(self, match: re.Match[str]) -> None:
        kind = match["kind"]
        if kind is None:
            self._complain(f"`{match[0]}': missing format character")
            raise _Stop
        flags = match["flags"]
        width = self._size(match["width"])
        if width < 0:
            flags, width = flags + "-", -width
        precision = None if match["precision"] is None else self._size(match["precision"] or "0")
        if precision is not None and precision < 0:
            precision = None
        self._spend(width + (precision or 0))
        if match["time"] is not None:
            if kind != "T":
                self._complain(f"`{kind}': invalid format character")
                raise _Stop
            text = self._time(match["time"])
            self._emit(_pad(text if precision is None else text[:precision], flags.replace("0", ""), width))
        elif kind in "sbqQc":
            self._text(kind, flags, width, precision)
        elif kind in "diouxX":
            self._emit(_format_integer(self._integer(kind in "di"), kind, flags, width, precision))
        elif kind in "eEfFgGaA":
            self._emit(_format_float(self._float(), kind, flags, width, precision))
        elif kind == "n":
            self._next()
        else:
            self._complain(f"`{kind}': invalid format character")
            raise _Stop

    def _size(self, text: str) -> int:
        if text == "*":
            argument = self._next()
            return self._parse_integer(argument) if argument else 0
        return int(text[:10]) if text.lstrip("-") else 0

    def _text(self, kind: str, flags: str, width: int, precision: int | None) -> None:
        argument = self._next() or ""
        stopped = False
        if kind == "c":
            argument = argument[:1] or "\0"
        elif kind == "b":
            argument, stopped = decode_printf_b(argument)
        elif kind == "q":
            argument = quote_backslash(argument)
        elif kind == "Q":
            argument = quote_backslash(argument if precision is None else _first_bytes(argument, precision))
            precision = None
        if precision is not None and kind != "c":
            argument = _first_bytes(argument, precision)
        self._emit(_pad(argument, flags.replace("0", ""), width))
        if stopped:
            raise _Stop

    def _time(self, template: str) -> str:
        argument = self._next()
        seconds = self._parse_integer(argument) if argument else -1
        moment = self._now() if seconds == -1 else self._started_at if seconds == -2 else float(seconds)
        template = (template or "%X").replace("%s", str(int(moment)))
        try:
            return datetime.fromtimestamp(moment, UTC).strftime(template)
        except (ValueError, OverflowError, OSError):
            return ""

    # -- numbers -------------------------------------------------------------------------------

    def _integer(self, signed: bool) -> int:
        argument = self._next()
        return self._parse_integer(argument, signed) if argument is not None else 0

    def _parse_integer(self, text: str, signed: bool = True) -> int:
        if text[:1] in ("'", '"'):
            return ord(text[1]) if len(text) > 1 else 0
        match = _INTEGER.match(text)
        if match is None:
            if text.strip():
                self._complain(f"{text}: invalid number")
            return 0
        digits = match[2]
        base = 16 if digits[:2] in ("0x", "0X") else 8 if digits[0] == "0" else 10
        rest = text[match.end() :]
        if rest:
            octal = base == 8 and rest[0] in "89"
            self._complain(f"{text}: invalid {'octal ' if octal else ''}number")
        value = int(digits, base)
        value = -value if match[1] == "-" else value
        highest = _MAX_INTEGER if signed else (1 << 64) - 1
        if not _MIN_INTEGER <= value <= highest:
            self.errors.append(f"warning: {text}: Numerical result out of range")
            return highest if value > 0 else _MIN_INTEGER
        return value

    def _float(self) -> Decimal:
        argument = self._next()
        if argument is None or argument == "":
            return Decimal(0)
        if argument[:1] in ("'", '"'):
            return Decimal(ord(argument[1]) if len(argument) > 1 else 0)
        hexadecimal = _HEX_FLOAT.match(argument)
        if hexadecimal:
            return Decimal(int(hexadecimal[2], 16) * (-1 if hexadecimal[1] == "-" else 1))
        if argument.strip().lower().lstrip("+-") in _SPECIAL_FLOATS:
            return Decimal(argument.strip())
        match = _FLOAT.match(argument)
        if match is None:
            self._complain(f"{argument}: invalid number")
            return Decimal(0)
        if match.end() != len(argument):
            self._complain(f"{argument}: invalid number")
        return _long_double(match[0].strip())


def _long_double(text: str) -> Decimal:
    """The value nearest to a decimal number that has 64 bits of precision."""
    decimal = Decimal(text)
    if not decimal or abs(decimal.adjusted()) > _MAX_EXPONENT:
        return decimal if not decimal or decimal.adjusted() < 0 else Decimal("inf").copy_sign(decimal)
    exact = Fraction(decimal)
    magnitude = abs(exact)
    shift = _MANTISSA_BITS - (magnitude.numerator.bit_length() - magnitude.denominator.bit_length()) + 1
    for _ in range(3):
        scaled = magnitude * (Fraction(2) ** shift)
        if scaled >= 1 << _MANTISSA_BITS:
            shift -= 1
        elif scaled < 1 << (_MANTISSA_BITS - 1):
            shift += 1
        else:
            break
    rounded = Fraction(round(magnitude * Fraction(2) ** shift)) / Fraction(2) ** shift
    digits = 20 + max(0, -decimal.adjusted()) + max(0, shift) + max(0, decimal.adjusted())
    context = Context(prec=min(digits + 40, 20_000), rounding=ROUND_HALF_EVEN)
    value = context.divide(Decimal(rounded.numerator), Decimal(rounded.denominator))
    return -value if exact < 0 else value


def _first_bytes(text: str, count: int) -> str:
    """The beginning of a text: printf counts bytes, not characters."""
    return text.encode("utf-8", "surrogateescape")[:count].decode("utf-8", "surrogateescape")


def _pad(text: str, flags: str, width: int) -> str:
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogateescape"))
    if size >= width:
        return text
    blanks = " " * (width - size)
    return text + blanks if "-" in flags else blanks + text


def _add_sign(negative: bool, digits: str, flags: str, width: int, zeros: bool) -> str:
    sign = "-" if negative else "+" if "+" in flags else " " if " " in flags else ""
    if zeros and "-" not in flags:
        digits = digits.rjust(width - len(sign), "0")
    return _pad(sign + digits, flags, width)


def _format_integer(value: int, kind: str, flags: str, width: int, precision: int | None) -> str:
    if kind in "di":
        value = value - (1 << 64) if value > _MAX_INTEGER else value
        negative, digits = value < 0, str(abs(value))
        if "'" in flags:
            digits = str(abs(value))
    else:
        value &= (1 << 64) - 1
        negative, digits = (
            False,
            {"o": f"{value:o}", "u": str(value), "x": f"{value:x}", "X": f"{value:X}"}[kind],
        )
        flags = flags.replace("+", "").replace(" ", "")
    if precision is not None:
        digits = "" if precision == 0 and value == 0 else digits.rjust(precision, "0")
    prefix = ""
    if "#" in flags and value:
        prefix = {"x": "0x", "X": "0X", "o": "" if digits.startswith("0") else "0"}.get(kind, "")
    zeros = "0" in flags and precision is None
    if prefix:
        if zeros and "-" not in flags:
            digits = digits.rjust(width - len(prefix), "0")
        return _pad(prefix + digits, flags, width)
    return _add_sign(negative, digits, flags, width, zeros)


def _format_float(value: Decimal, kind: str, flags: str, width: int, precision: int | None) -> str:
    if not value.is_finite():
        text = "nan" if value.is_nan() else "inf"
        text = text.upper() if kind.isupper() else text
        return _add_sign(value.is_signed(), text, flags.replace("0", ""), width, False)
    negative, magnitude = value.is_signed(), abs(value)
    places = 6 if precision is None else precision
    lower = kind.lower()
    if lower == "f":
        text = _format_fixed(magnitude, places, "#" in flags)
    elif lower == "e":
        text = _exponent(magnitude, places, "#" in flags)
    elif lower == "g":
        text = _general(magnitude, places or 1, "#" in flags)
    else:
        text = re.sub(r"\.?0*p", "p", float(magnitude).hex())
    if kind.isupper():
        text = text.upper()
    return _add_sign(negative, text, flags, width, "0" in flags)


def _round(value: Decimal, quantum: int) -> Decimal:
    context = Context(prec=max(30, value.adjusted() - quantum + 30, len(value.as_tuple().digits) + 10))
    return value.quantize(Decimal((0, (1,), quantum)), rounding=ROUND_HALF_EVEN, context=context)


def _format_fixed(value: Decimal, places: int, point: bool) -> str:
    text = format(_round(value, -places), "f")
    return text + "." if point and not places else text


def _exponent(value: Decimal, places: int, point: bool) -> str:
    exponent = value.adjusted() if value else 0
    rounded = _round(value, exponent - places)
    if rounded and rounded.adjusted() > exponent:
        exponent += 1
        rounded = _round(value, exponent - places)
    digits = "".join(map(str, rounded.as_tuple().digits)).rjust(places + 1, "0")
    mantissa = digits[0] + ("." + digits[1:] if places else "." if point else "")
    return f"{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def _general(value: Decimal, significant: int, keep: bool) -> str:
    styled = _exponent(value, significant - 1, False)
    exponent = int(styled.partition("e")[2])
    if significant > exponent >= -4:
        text = _format_fixed(value, significant - 1 - exponent, keep)
        return text if keep or "." not in text else text.rstrip("0").rstrip(".")
    mantissa, _, power = styled.partition("e")
    if not keep and "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}e{power}"
