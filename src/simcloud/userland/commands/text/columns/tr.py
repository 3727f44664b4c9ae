"""``tr``: translates, deletes and squeezes bytes."""

from __future__ import annotations

from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.columns.tr_sets import ByteSet, parse_set
from simcloud.userland.commands.text.inputs import Inputs, Source, emit
from simcloud.userland.commands.text.quoting import quote
from simcloud.userland.commands.text.tool import fail, misuse, tool

_EVERY_BYTE = bytes(range(256))


@tool(
    "tr",
    options="c,complement C d,delete s,squeeze-repeats t,truncate-set1",
    usage="[OPTION]... SET1 [SET2]",
    stop_early=True,
)
async def tr(ctx: Context, options: Options) -> int:
    """Translate, squeeze or delete characters of standard input."""
    delete, squeeze = "d" in options, "s" in options
    _check_operands(ctx, options.operands, delete, squeeze)
    sets = [await parse_set(ctx, operand, number + 1) for number, operand in enumerate(options.operands)]
    first = sets[0].members
    complement = options.any("c", "C")
    if complement:
        first = bytes(byte for byte in _EVERY_BYTE if byte not in first)
    table, deleted, squeezed = _EVERY_BYTE, b"", b""
    if delete:
        if len(sets) == 2 and sets[1].fill_at is not None:
            fail(ctx, "the [c*] construct may appear in string2 only when translating")
        deleted = first
        squeezed = sets[1].resolve(len(first)) if squeeze else b""
    elif len(sets) == 2:
        second = _target(ctx, sets, first, complement, "t" in options)
        table = _table(first, second)
        squeezed = second if squeeze else b""
    else:
        squeezed = first
    await _copy(ctx, table, deleted, frozenset(squeezed))
    return 0


def _check_operands(ctx: Context, operands: list[str], delete: bool, squeeze: bool) -> None:
    translate = not delete and not squeeze
    wanted = 2 if translate or (delete and squeeze) else 1
    if not operands:
        misuse(ctx, "missing operand")
    if len(operands) < wanted:
        reason = "translating" if translate else "both deleting and squeezing repeats"
        misuse(ctx, f"missing operand after {quote(operands[0])}\nTwo strings must be given when {reason}.")
    most = 1 if delete and not squeeze else 2
    if len(operands) > most:
        note = (
            "\nOnly one string may be given when deleting without squeezing repeats."
            if len(operands) == 2
            else ""
        )
        misuse(ctx, f"extra operand {quote(operands[most])}{note}")


def _target(ctx: Context, sets: list[ByteSet], first: bytes, complement: bool, truncate: bool) -> bytes:
    """Return the replacements for the first set: the second set, extended to its length."""
    one, two = sets
    if two.equivalences:
        fail(ctx, "[=c=] expressions may not appear in string2 when translating")
    if any(name not in ("upper", "lower") for _, name in two.classes):
        fail(
            ctx,
            "when translating, the only character classes that may appear in\nstring2 are 'upper' and 'lower'",
        )
    starts = {at: name for at, name in one.classes if name in ("upper", "lower")}
    second = two.resolve(len(first))
    shift = len(second) - len(two.members)
    for at, _ in two.classes:
        place = at + (shift if two.fill_at is not None and two.fill_at < at else 0)
        if not complement and place not in starts:
            fail(ctx, "misaligned [:upper:] and/or [:lower:] construct")
    if len(first) > len(second) and not truncate:
        if not second:
            fail(ctx, "when not truncating set1, string2 must be non-empty")
        if two.ends_with_class:
            fail(
                ctx,
                "when translating with string1 longer than string2,\n"
                "the latter string must not end with a character class",
            )
        second += second[-1:] * (len(first) - len(second))
    if complement and one.classes and len(set(second[: len(first)])) > 1:
        fail(
            ctx,
            "when translating with complemented character classes,\n"
            "string2 must map all characters in the domain to one",
        )
    return second


def _table(first: bytes, second: bytes) -> bytes:
    table = bytearray(_EVERY_BYTE)
    for source, target in zip(first, second, strict=False):
        table[source] = target
    return bytes(table)


async def _copy(ctx: Context, table: bytes, deleted: bytes, squeezed: frozenset[int]) -> None:
    last = -1
    async for piece in Source(Inputs(ctx, [], cannot_read="read error: {why}"), "-", ctx.stdin).pieces():
        data = piece.translate(None, deleted).translate(table)
        if squeezed:
            kept = bytearray()
            for byte in data:
                if byte != last or byte not in squeezed:
                    kept.append(byte)
                last = byte
            data = bytes(kept)
        await emit(ctx, data)
