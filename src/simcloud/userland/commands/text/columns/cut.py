"""``cut``: select bytes or fields of lines."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.counts import all_digits, whole
from simcloud.userland.commands.text.inputs import Inputs, emit
from simcloud.userland.commands.text.quoting import quote
from simcloud.userland.commands.text.tool import misuse, tool

_TO_THE_END = 2**63
Ranges = list[tuple[int, int]]


@tool(
    "cut",
    options="b,bytes= c,characters= f,fields= d,delimiter= n s,only-delimited complement output-delimiter= "
    "z,zero-terminated",
    usage="OPTION... [FILE]...",
)
async def cut(ctx: Context, options: Options) -> int:
    """Write selected parts of each line."""
    end = b"\0" if "z" in options else b"\n"
    pick = _picker(ctx, options, end)
    inputs = Inputs(ctx, options.operands)
    async for source in inputs.sources():
        if end == b"\n" and options.last("d") == "\n":
            whole = await source.read_all()
            await emit(ctx, pick(whole.removesuffix(end)) if whole else b"")
            continue
        async for batch in source.batches(end):
            await emit(ctx, b"".join([pick(line.removesuffix(end)) for line in batch]))
    return inputs.status


def _picker(ctx: Context, options: Options, end: bytes) -> Callable[[bytes], bytes]:
    lists = [(name, value) for name, value in options.given if name in "bcf"]
    if len(lists) > 1:
        misuse(ctx, "only one list may be specified")
    delimiter = options.last("d")
    if any(len(given.encode("utf-8", "surrogateescape")) > 1 for given in options.all("d")):
        misuse(ctx, "the delimiter must be a single character")
    if not lists:
        misuse(ctx, "you must specify a list of bytes, characters, or fields")
    by_field = lists[0][0] == "f"
    if "d" in options and not by_field:
        misuse(ctx, "an input delimiter may be specified only when operating on fields")
    if "s" in options and not by_field:
        misuse(ctx, "suppressing non-delimited lines makes sense\n\tonly when operating on fields")
    ranges = parse_ranges(ctx, lists[0][1], by_field)
    if "complement" in options:
        ranges = _complement(ranges)
    joint = options.last("output-delimiter").encode("utf-8", "surrogateescape")
    if "output-delimiter" in options and not joint:
        joint = b"\0"
    if not by_field:
        return _Bytes(ranges, joint, end).pick
    split = (delimiter.encode("utf-8", "surrogateescape") or b"\0") if "d" in options else b"\t"
    return _Fields(ranges, split, joint or split, "s" in options, end).pick


class _Bytes(Struct):
    ranges: Ranges
    joint: bytes
    end: bytes

    def pick(self, line: bytes) -> bytes:
        length = len(line)
        return (
            self.joint.join([line[low - 1 : high] for low, high in self.ranges if low <= length]) + self.end
        )


class _Fields(Struct):
    ranges: Ranges
    split: bytes
    joint: bytes
    only_delimited: bool
    end: bytes

    def pick(self, line: bytes) -> bytes:
        fields = line.split(self.split)
        if len(fields) == 1:
            return b"" if self.only_delimited else line + self.end
        chosen: list[bytes] = []
        for low, high in self.ranges:
            chosen += fields[low - 1 : high]
        return self.joint.join(chosen) + self.end


def parse_ranges(ctx: Context, text: str, by_field: bool) -> Ranges:
    """Sorted ranges from 1 on, overlapping ones merged."""
    what = "field value" if by_field else "byte/character position"
    numbering = "fields are" if by_field else "byte/character positions are"
    found: Ranges = []
    at = 0
    for part in text.replace(" ", ",").replace("\t", ",").split(","):
        place, at = at, at + len(part) + 1
        low_text, dash, high_text = part.partition("-")
        if dash and "-" in high_text:
            misuse(ctx, "invalid field range" if by_field else "invalid byte or character range")
        for value, offset in ((low_text, 0), (high_text, len(low_text) + 1)):
            if value and not all_digits(value):
                digits = len(value) - len(value.lstrip("0123456789"))
                misuse(ctx, f"invalid {what} {quote(text[place + offset + digits :])}")
            if value and whole(value) >= _TO_THE_END * 2 - 1:
                kind = "field number" if by_field else "byte/character offset"
                misuse(ctx, f"{kind} {quote(value)} is too large")
        if dash and not low_text and not high_text:
            misuse(ctx, "invalid range with no endpoint: -")
        low = whole(low_text or "1") if dash else whole(low_text or "0")
        high = (whole(high_text) if high_text else _TO_THE_END) if dash else low
        if low == 0:
            misuse(ctx, f"{numbering} numbered from 1")
        if high < low:
            misuse(ctx, "invalid decreasing range")
        found.append((low, high))
    return _merge(sorted(found))


def _merge(ranges: Ranges) -> Ranges:
    merged = ranges[:1]
    for low, high in ranges[1:]:
        if low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return merged


def _complement(ranges: Ranges) -> Ranges:
    gaps: Ranges = []
    start = 1
    for low, high in ranges:
        if start < low:
            gaps.append((start, low - 1))
        start = high + 1
    if start <= _TO_THE_END:
        gaps.append((start, _TO_THE_END))
    return gaps
