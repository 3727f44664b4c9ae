"""``expand`` and ``unexpand``: tabs to spaces and back."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.counts import whole
from simcloud.userland.commands.text.inputs import Inputs, emit
from simcloud.userland.commands.text.quoting import quote
from simcloud.userland.commands.text.tool import fail, historical, tool


@dataclass
class TabStops:
    """Where tab stops stand: a list, and what follows it."""

    stops: list[int]
    every: int = 0
    after_last: int = 0

    def next(self, column: int) -> int | None:
        """The next stop beyond a column, None beyond the last."""
        for stop in self.stops:
            if stop > column:
                return stop
        if self.every:
            return (column // self.every + 1) * self.every
        if self.after_last:
            last = self.stops[-1] if self.stops else 0
            return column + self.after_last - (column - last) % self.after_last
        return None


def _tab_stops(ctx: Context, options: Options) -> TabStops:
    stops: list[int] = []
    extension = {"/": 0, "+": 0}
    for text in options.all("t"):
        at = 0
        while at < len(text):
            at = _take_stop(ctx, text, at, stops, extension)
    if any(stop == 0 for stop in stops):
        fail(ctx, "tab size cannot be 0")
    if any(later <= earlier for earlier, later in pairwise(stops)):
        fail(ctx, "tab sizes must be ascending")
    if extension["/"] and extension["+"]:
        fail(ctx, "'/' specifier is mutually exclusive with '+'")
    if len(stops) == 1 and not any(extension.values()):
        return TabStops([], every=stops[0])
    if not stops and not any(extension.values()):
        return TabStops([], every=8)
    return TabStops(stops, extension["/"], extension["+"])


def _take_stop(ctx: Context, text: str, at: int, stops: list[int], extension: dict[str, int]) -> int:
    """Read one stop, or the mark and number that say what follows the last; returns where it ends."""
    if text[at] in ", \t":
        return at + 1
    mark = text[at] if text[at] in "/+" else ""
    start = at + len(mark)
    end = start
    while end < len(text) and text[end] in "0123456789":
        end += 1
    if end < len(text) and text[end] not in ", \t":
        if text[end] in "/+":
            fail(ctx, f"'{text[end]}' specifier not at start of number: {quote(text[end:])}")
        fail(ctx, f"tab size contains invalid character(s): {quote(text[end:])}")
    value = whole(text[start:end] or "0")
    if value > 2**63:
        fail(ctx, f"tab stop is too large {quote(text[start:end])}")
    for sign, given in extension.items():
        if given:
            fail(ctx, f"'{sign}' specifier only allowed with the last value")
    if mark:
        extension[mark] = value
    else:
        stops.append(value)
    return end


@tool("expand", options="i,initial t,tabs=", rewrite=historical("t", "-t", "--tabs"))
async def expand(ctx: Context, options: Options) -> int:
    """Convert tabs to spaces."""
    stops = _tab_stops(ctx, options)
    inputs = Inputs(ctx, options.operands, weight=4)
    initial = "i" in options
    async for source in inputs.sources():
        async for batch in source.batches():
            await emit(ctx, b"".join([_expanded(ctx, line, stops, initial) for line in batch]))
    return inputs.status


def _expanded(ctx: Context, line: bytes, stops: TabStops, initial: bool) -> bytes:
    if b"\t" not in line:
        return line
    out = bytearray()
    column = 0
    converting = True
    for byte in line:
        if converting and byte == 0x09:
            stop = stops.next(column)
            width = 1 if stop is None else stop - column
            ctx.spend_bytes(width)
            out += b" " * width
            column += width
            continue
        if converting and byte == 0x08:
            column = max(0, column - 1)
        else:
            column += 1
        converting = converting and (not initial or byte in b" \t")
        out.append(byte)
    return bytes(out)


@tool("unexpand", options="a,all first-only t,tabs=", rewrite=historical("t", "-t", "--tabs"))
async def unexpand(ctx: Context, options: Options) -> int:
    """Convert blanks to tabs, at the start of lines or everywhere."""
    stops = _tab_stops(ctx, options)
    inputs = Inputs(ctx, options.operands, weight=4)
    everywhere = ("a" in options or "t" in options) and "first-only" not in options
    async for source in inputs.sources():
        async for batch in source.batches():
            await emit(ctx, b"".join([_unexpanded(line, stops, everywhere) for line in batch]))
    return inputs.status


def _unexpanded(line: bytes, stops: TabStops, everywhere: bool) -> bytes:
    out = bytearray()
    pending = bytearray()
    column = 0
    converting, after_blank, one_blank_before_stop = True, True, False
    for byte in line:
        if converting and byte in b" \t":
            stop = stops.next(column)
            if stop is None:
                converting = False
            elif byte == 0x09:
                column = stop
                if pending:
                    pending[0] = 0x09
                pending = pending[: 1 if one_blank_before_stop else 0]
            else:
                column += 1
                if not (after_blank and column == stop):
                    if column == stop:
                        one_blank_before_stop = True
                    pending.append(byte)
                    after_blank = True
                    continue
                # A blank that reaches a stop makes one tab of all before it.
                pending = bytearray(b"\t" if one_blank_before_stop else b"")
                byte = 0x09
        elif converting and byte == 0x08:
            column = max(0, column - 1)
        else:
            column += 1
        if pending:
            if len(pending) > 1 and one_blank_before_stop:
                pending[0] = 0x09
            out += pending
            pending = bytearray()
            one_blank_before_stop = False
        after_blank = byte in b" \t"
        converting = converting and (everywhere or after_blank)
        out.append(byte)
    return bytes(out + pending)
