"""The formats of ``printf``, as gawk reads them.

A format is cut into pieces once; rendering it is then a loop over the pieces. What C's printf leaves
undefined follows gawk: whole numbers of any size for ``%d``, ``%x`` of what fits no word as ``%g``, and
anything that is no format as it stands.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from msgspec import Struct

from simcloud.userland.awk.errors import Fatal
from simcloud.userland.awk.locale import Locale
from simcloud.userland.awk.values import Input, Value, looks_numeric, special_text, to_number

_SPECIFIER: Final = re.compile(
    r"%(?P<position>[0-9]+\$)?(?P<flags>[-+ #0']*)(?P<width>\*(?:[0-9]+\$)?|[0-9]+)?(?P<late>[-+ #0']*)"
    r"(?P<precision>\.(?:\*(?:[0-9]+\$)?|[0-9]*))?"
    r"(?P<modifiers>[hlLjzt]?)(?P<later>[-+ #0']*)(?P<conversion>[%cdiouxXeEfFgGaAs])"
)
_INTEGERS: Final = frozenset("diouxX")
_WORD: Final = 1 << 64
SMALL_FIELD: Final = 256
"""Fields up to this width cost nothing worth counting."""

MAX_SIZE_DIGITS: Final = 12
MAX_DIGITS: Final = 4096
"""Maximum number of computed digits after the point; further digits are zeros."""


class Piece(Struct, frozen=True):
    """Literal text, or a conversion with its options; ``at`` is the position of its letter."""

    text: str
    conversion: str = ""
    flags: str = ""
    width: str = ""
    precision: str | None = None
    position: int = 0
    at: int = 0


@lru_cache(maxsize=512)
def parse_format(template: str) -> tuple[Piece, ...]:
    """Cut a format into its pieces."""
    pieces: list[Piece] = []
    literal_from = 0
    place = template.find("%")
    while place >= 0:
        found = _SPECIFIER.match(template, place)
        if found is None:
            place = template.find("%", place + 1)
            continue
        if place > literal_from:
            pieces.append(Piece(template[literal_from:place]))
        pieces.append(_piece(found))
        literal_from = found.end()
        place = template.find("%", literal_from)
    if literal_from < len(template):
        pieces.append(Piece(template[literal_from:]))
    return tuple(pieces)


def _piece(found: re.Match[str]) -> Piece:
    if found["conversion"] == "%":
        return Piece("%")
    position = found["position"]
    if position is not None and int(position[:-1][:MAX_SIZE_DIGITS]) == 0:
        raise Fatal("argument index with `$' must be > 0")
    precision = found["precision"]
    return Piece(
        text="",
        conversion=found["conversion"],
        flags=found["flags"] + found["late"] + found["later"],
        width=found["width"] or "",
        precision=None if precision is None else precision[1:],
        position=0 if position is None else int(position[:-1][:MAX_SIZE_DIGITS]),
        at=found.end() - 1,
    )


def format_values(
    template: str,
    arguments: list[Value],
    locale: Locale,
    to_text: Callable[[Value], str],
    pay: Callable[[int], None],
) -> str:
    """Fill the arguments into the format.

    ``to_text`` converts numbers to strings; ``pay`` is called with the width of wide fields before they are made.
    Raises ``Fatal`` when there are too few arguments.
    """
    rendering = _Rendering(template, arguments, locale, to_text, pay)
    return "".join(
        [rendering.convert(piece) if piece.conversion else piece.text for piece in parse_format(template)]
    )


class _Rendering:
    def __init__(
        self,
        template: str,
        arguments: list[Value],
        locale: Locale,
        to_text: Callable[[Value], str],
        pay: Callable[[int], None],
    ) -> None:
        self._template = template
        self._arguments = arguments
        self._locale = locale
        self._to_text = to_text
        self._pay = pay
        self._next = 0
        self._by_position: bool | None = None

    def _take(self, piece: Piece, position: int) -> Value:
        by_position = position > 0
        if self._by_position is None:
            self._by_position = by_position
        elif self._by_position != by_position:
            raise Fatal("must use `count$' on all formats or none")
        if by_position:
            if position > len(self._arguments):
                raise Fatal(f"argument index {position} greater than total number of supplied arguments")
            return self._arguments[position - 1]
        if self._next >= len(self._arguments):
            pointer = " " * piece.at + "^ ran out for this one"
            raise Fatal(f"not enough arguments to satisfy format string\n\t`{self._template}'\n\t{pointer}")
        self._next += 1
        return self._arguments[self._next - 1]

    def _size(self, piece: Piece, written: str) -> int:
        """A width or precision: digits, or ``*`` for an argument."""
        if not written.startswith("*"):
            return int(written[:MAX_SIZE_DIGITS] or "0")
        position = int(written[1:-1][:MAX_SIZE_DIGITS]) if len(written) > 1 else 0
        return int(_finite(to_number(self._take(piece, position))))

    def convert(self, piece: Piece) -> str:
        """One conversion with its argument."""
        flags = piece.flags
        width = self._size(piece, piece.width) if piece.width else 0
        if width < 0:
            flags, width = flags + "-", -width
        precision = None if piece.precision is None else self._size(piece, piece.precision)
        if precision is not None and precision < 0:
            precision = None
        if width + (precision or 0) > SMALL_FIELD:
            self._pay(width + (precision or 0))
        value = self._take(piece, piece.position)
        if piece.conversion == "s":
            text = self._to_text(value)
            return _pad(text if precision is None else text[:precision], width, flags)
        if piece.conversion == "c":
            return self._character(value, width, flags)
        number = to_number(value)
        if not math.isfinite(number):
            special = special_text(number)
            return special.upper() if piece.conversion.isupper() else special
        return format_number(number, piece.conversion, flags, width, precision)

    def _character(self, value: Value, width: int, flags: str) -> str:
        """Return the text of ``%c``: the character of a number, or the first of a string."""
        number = looks_numeric(value) if type(value) is Input else value if type(value) is float else None
        if number is None:
            return _pad(str(value)[:1] or "\0", width, flags)
        char = self._locale.character(int(_finite(number)))
        # The genuine one counts the bytes of such a character towards the width.
        return _pad(char, width - len(self._locale.encode(char)) + 1, flags)


def _finite(number: float) -> float:
    return number if math.isfinite(number) else 0.0


def format_number(number: float, conversion: str, flags: str, width: int, precision: int | None) -> str:
    """A finite number in one of C's numeric conversions."""
    if conversion in _INTEGERS:
        whole = int(number)
        if conversion not in "di" and not -_WORD // 2 <= whole < _WORD:
            conversion = "g"
        else:
            is_zero = (whole if conversion in "di" else number) == 0
            return _integer(whole, conversion, flags, width, precision, is_zero)
    if conversion in "aA":
        return _pad(_hexadecimal(number, conversion), width, flags)
    kept = "".join(flag for flag in "#+ " if flag in flags)
    digits = 6 if precision is None else min(precision, MAX_DIGITS)
    text: str = f"%{kept}.{digits}{conversion}" % number
    return _pad(text, width, flags, zeros=True)


def _integer(
    whole: int, conversion: str, flags: str, width: int, precision: int | None, is_zero: bool
) -> str:
    """A whole number. What was cut off to make it whole still counts as not being zero, but for ``%d``."""
    sign = ""
    if conversion in "di":
        sign = "-" if whole < 0 else "+" if "+" in flags else " " if " " in flags else ""
        digits = str(abs(whole))
    else:
        spec = {"u": "d", "o": "o", "x": "x", "X": "X"}[conversion]
        digits = format(whole % _WORD, spec)
        if "#" in flags and not is_zero:
            sign = {"o": "0", "x": "0x", "X": "0X"}.get(conversion, "")
    if precision is not None:
        digits = digits.rjust(precision, "0")
        flags = flags.replace("0", "")
        if precision == 0 and is_zero:
            sign, digits = "", "0" if "#" in flags and conversion not in "di" else ""
    return _pad(sign + digits, width, flags, zeros=True)


def _pad(text: str, width: int, flags: str, *, zeros: bool = False) -> str:
    if len(text) >= width:
        return text
    if "-" in flags:
        return text.ljust(width)
    if not zeros or "0" not in flags:
        return text.rjust(width)
    prefix = 1 if text[:1] in ("-", "+", " ") else 0
    if text[prefix : prefix + 2] in ("0x", "0X"):
        prefix += 2
    return text[:prefix] + text[prefix:].rjust(width - prefix, "0")


def _hexadecimal(number: float, conversion: str) -> str:
    mantissa, _, exponent = number.hex().partition("p")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    text = f"{mantissa}p{exponent}"
    return text.upper() if conversion == "A" else text
