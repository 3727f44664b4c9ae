"""The set notation of ``tr``: ranges, escapes, classes, repeats."""

from __future__ import annotations

from msgspec import Struct, field

from simcloud.machine.process import Context
from simcloud.userland.commands.text.counts import whole
from simcloud.userland.commands.text.quoting import quote
from simcloud.userland.commands.text.tool import fail

_ESCAPES = {
    ord("a"): 7,
    ord("b"): 8,
    ord("f"): 12,
    ord("n"): 10,
    ord("r"): 13,
    ord("t"): 9,
    ord("v"): 11,
    0x5C: 0x5C,
}
_UPPER = bytes(range(65, 91))
_LOWER = bytes(range(97, 123))
_DIGITS = bytes(range(48, 58))
_PUNCTUATION = bytes(b for b in range(33, 127) if not chr(b).isalnum())
CLASSES = {
    "alnum": _DIGITS + _UPPER + _LOWER,
    "alpha": _UPPER + _LOWER,
    "blank": b"\t ",
    "cntrl": bytes([*range(32), 127]),
    "digit": _DIGITS,
    "graph": bytes(range(33, 127)),
    "lower": _LOWER,
    "print": bytes(range(32, 127)),
    "punct": _PUNCTUATION,
    "space": b"\t\n\v\f\r ",
    "upper": _UPPER,
    "xdigit": _DIGITS + _UPPER[:6] + _LOWER[:6],
}


class ByteSet(Struct):
    """An expanded set, and the facts about its notation that ``tr`` needs."""

    members: bytes = b""
    classes: list[tuple[int, str]] = field(default_factory=list)
    equivalences: bool = False
    fill_at: int | None = None
    fill_byte: int = 0
    ends_with_class: bool = False

    def resolve(self, length: int) -> bytes:
        """The bytes, with an open repeat (``[x*]``) filling up to a length."""
        if self.fill_at is None:
            return self.members
        missing = max(0, length - len(self.members))
        return self.members[: self.fill_at] + bytes([self.fill_byte]) * missing + self.members[self.fill_at :]


async def parse_set(ctx: Context, text: str, position: int) -> ByteSet:
    """Spell out a set. ``position`` is 1 or 2: not all notations are allowed in both."""
    units = await _unescape(ctx, text)
    found = ByteSet()
    at = 0
    while at < len(units):
        found.ends_with_class = False
        length = _bracket(ctx, units, at, position, found)
        if length == 0:
            length = _plain_or_range(ctx, units, at, found)
        at += length
    return found


async def _unescape(ctx: Context, text: str) -> list[tuple[int, bool]]:
    """Bytes, each with whether it was escaped and so has no special meaning."""
    data = text.encode("utf-8", "surrogateescape")
    units: list[tuple[int, bool]] = []
    at = 0
    while at < len(data):
        if data[at] != 0x5C:
            units.append((data[at], False))
            at += 1
            continue
        if at + 1 == len(data):
            await ctx.err(
                f"{ctx.args[0]}: warning: an unescaped backslash at end of string is not portable\n"
            )
            units.append((0x5C, False))
            break
        following = data[at + 1]
        digits = _octal(data, at + 1)
        if digits == 3 and int(data[at + 1 : at + 4], 8) > 255:
            digits = 2
            whole, part = data[at + 1 : at + 4].decode(), data[at + 1 : at + 3].decode()
            await ctx.err(
                f"{ctx.args[0]}: warning: the ambiguous octal escape \\{whole} is being\n"
                f"\tinterpreted as the 2-byte sequence \\0{part}, {chr(data[at + 3])}\n"
            )
        if digits:
            units.append((int(data[at + 1 : at + 1 + digits], 8), True))
            at += 1 + digits
        else:
            units.append((_ESCAPES.get(following, following), True))
            at += 2
    return units


def _octal(data: bytes, at: int) -> int:
    count = 0
    while count < 3 and at + count < len(data) and 48 <= data[at + count] < 56:
        count += 1
    return count


def _plain_or_range(ctx: Context, units: list[tuple[int, bool]], at: int, found: ByteSet) -> int:
    low = units[at][0]
    if at + 2 < len(units) and units[at + 1] == (0x2D, False):
        high = units[at + 2][0]
        if high < low:
            span = f"{_format_byte(low)}-{_format_byte(high)}"
            fail(ctx, f"range-endpoints of '{span}' are in reverse collating sequence order")
        found.members += bytes(range(low, high + 1))
        return 3
    found.members += bytes([low])
    return 1


def _format_byte(byte: int) -> str:
    if byte == 0x5C:
        return "\\\\"
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"


def _bracket(ctx: Context, units: list[tuple[int, bool]], at: int, position: int, found: ByteSet) -> int:
    """Take ``[:class:]``, ``[=c=]`` or ``[c*n]``; returns how many units it took, 0 if there is none."""
    if units[at] != (0x5B, False):
        return 0
    for mark in b":=":
        if units[at + 1 : at + 2] == [(mark, False)]:
            close = _find_close(units, at + 2, mark)
            if close is not None:
                name = bytes(unit for unit, _ in units[at + 2 : close])
                if _take_class(ctx, name, mark, units[close + 2 :], found):
                    return close + 2 - at
    return _take_repeat(ctx, units, at, position, found)


def _find_close(units: list[tuple[int, bool]], start: int, mark: int) -> int | None:
    for at in range(start, len(units) - 1):
        if units[at] == (mark, False) and units[at + 1] == (0x5D, False):
            return at
    return None


def _take_class(ctx: Context, name: bytes, mark: int, rest: list[tuple[int, bool]], found: ByteSet) -> bool:
    text = name.decode("utf-8", "surrogateescape")
    if mark == 0x3D:
        if not name:
            fail(ctx, "missing equivalence class character '[==]'")
        if len(name) > 1:
            if rest[:1] == [(0x2A, False)]:
                return False
            fail(ctx, f"{text}: equivalence class operand must be a single character")
        found.members += name
        found.equivalences = True
        return True
    if not name:
        fail(ctx, "missing character class name '[::]'")
    if text not in CLASSES:
        if rest[:1] == [(0x2A, False)]:
            return False
        fail(ctx, f"invalid character class {quote(text)}")
    found.classes.append((len(found.members), text))
    found.ends_with_class = True
    found.members += CLASSES[text]
    return True


def _take_repeat(ctx: Context, units: list[tuple[int, bool]], at: int, position: int, found: ByteSet) -> int:
    if units[at + 2 : at + 3] != [(0x2A, False)]:
        return 0
    close = next((end for end in range(at + 3, len(units)) if units[end] == (0x5D, False)), None)
    if close is None or any(escaped for _, escaped in units[at + 3 : close]):
        return 0
    byte = units[at + 1][0]
    digits = bytes(unit for unit, _ in units[at + 3 : close]).decode("latin-1")
    base = 8 if digits.startswith("0") else 10
    if digits and not all(digit in "01234567" if base == 8 else digit in "0123456789" for digit in digits):
        fail(ctx, f"invalid repeat count {quote(digits)} in [c*n] construct")
    count = whole(digits, base) if digits else 0
    if position == 1 and not count:
        fail(ctx, "the [c*] repeat construct may not appear in string1")
    ctx.spend_bytes(count)
    if count:
        found.members += bytes([byte]) * count
    elif found.fill_at is not None:
        fail(ctx, "only one [c*] repeat construct may appear in string2")
    else:
        found.fill_at, found.fill_byte = len(found.members), byte
    return close + 1 - at
