"""journalctl: print the log entries of a machine's services."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from simcloud.machine import Entry
from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options, UsageError
from simcloud.userland.commands.system.dates import Moment, format_moment, zone_of
from simcloud.userland.commands.system.dates.grammar import read_moment
from simcloud.userland.commands.text.tool import tool

NO_ENTRIES: Final = "-- No entries --\n"
POLL_S: Final = 0.5
TAIL_LINES: Final = 10


@tool(
    "journalctl",
    options="u,unit= n,lines=? f,follow r,reverse S,since= U,until= b,boot=? k,dmesg o,output= no-pager x,catalog e,pager-end "
    "q,quiet a,all l,full g,grep= t,identifier= p,priority= no-hostname utc no-full",
    usage="[OPTIONS...] [MATCHES...]",
    version="252 (252.39-1~deb12u1)",
)
async def journalctl(ctx: Context, options: Options) -> int:
    """Show the journal."""
    if not ctx.on_machine:
        raise UsageError("No journal files were found.\n-- No entries --", 1)
    found = _select_entries(ctx, options)
    if options.any("n", "e", "f"):
        count = options.last("n") or (str(TAIL_LINES) if options.any("n", "f") else "1000")
        if not count.isdecimal():
            raise UsageError(f"Failed to parse lines '{count}'")
        found = found[-int(count) :] if int(count) else []
    if options.any("r"):
        found = found[::-1]
    bare = options.last("o") == "cat"
    await ctx.out(format_entries(ctx, found, bare) if found or options.any("f", "q") else NO_ENTRIES)
    if options.any("f"):
        await _follow(ctx, options, bare)
    return 0


async def _follow(ctx: Context, options: Options, bare: bool) -> None:
    last_s = ctx.now
    while True:
        ctx.spend_turn()
        await ctx.sleep(POLL_S)
        new = [entry for entry in _select_entries(ctx, options) if entry.time_s > last_s]
        last_s = ctx.now
        if new:
            await ctx.out(format_entries(ctx, new, bare))


def _select_entries(ctx: Context, options: Options) -> list[Entry]:
    names = [name if "." in name else f"{name}.service" for name in options.all("u")]
    since = _moment(ctx, options.last("S")) if options.any("S") else None
    until = _moment(ctx, options.last("U")) if options.any("U") else None
    words, senders = options.last("g"), options.all("t")
    return [
        entry
        for entry in ctx.machine.journal.entries()
        if (not names or entry.unit in names)
        and (since is None or entry.time_s >= since)
        and (until is None or entry.time_s <= until)
        and (not words or words in entry.text)
        and (not senders or entry.sender.partition("[")[0] in senders)
    ]


def _moment(ctx: Context, text: str) -> float:
    """``2026-01-05 09:00:00``, ``10 min ago``, ``-10m``, ``today``: as date reads them, and a bare span."""
    spans = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400}
    if text[:1] == "-":
        number = text[1:].rstrip("abcdefghijklmnopqrstuvwxyz")
        unit = text[1 + len(number) :]
        if number.isdecimal() and unit in spans and len(number) < 9:
            return ctx.now - int(number) * spans[unit]
    moment = read_moment(text, Moment.of(ctx.now), zone_of(ctx.env))
    if moment is None:
        raise UsageError(f"Failed to parse timestamp: {text}")
    return moment.timestamp()


def format_entries(ctx: Context, entries: Sequence[Entry], bare: bool = False) -> str:
    """Lines as the journal shows them: time, machine, sender, text."""
    if bare:
        return "".join(f"{entry.text}\n" for entry in entries)
    zone, name = zone_of(ctx.env), ctx.machine.name
    return "".join(
        f"{format_moment(Moment.of(entry.time_s), '%b %d %H:%M:%S', zone)} {name} {entry.sender}: {entry.text}\n"
        for entry in entries
    )
