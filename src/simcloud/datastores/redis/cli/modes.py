"""The special modes of ``redis-cli``: lists of keys, the server's latency and its statistics."""

from __future__ import annotations

from typing import Final

from simcloud.datastores.redis.cli.link import Link
from simcloud.datastores.redis.cli.options import Options
from simcloud.datastores.redis.resp import ErrorReply, quote
from simcloud.machine.process import Context

SAMPLE_S: Final = 0.01
HISTORY_S: Final = 15.0
STAT_LINES: Final = 20
STAT_HEADER: Final = (
    "------- data ------ --------------------- load -------------------- - child -\n"
    "keys       mem      clients blocked requests            connections          \n"
)


async def run_mode(ctx: Context, link: Link, options: Options) -> int:
    """Run the mode that the options name. Raises ``Unreachable``."""
    await link.open()
    if options.mode == "scan":
        return await _show_keys(ctx, link, options)
    if options.mode == "stat":
        return await _show_statistics(ctx, link, options)
    return await _measure_latency(ctx, link, options)


async def _show_keys(ctx: Context, link: Link, options: Options) -> int:
    cursor = b"0"
    while True:
        words = [b"SCAN", cursor, *([b"MATCH", options.pattern.encode()] if options.pattern else [])]
        reply = await link.run(words)
        if not isinstance(reply, list):
            await ctx.err(
                f"ERROR: {reply}\n" if isinstance(reply, ErrorReply) else "Non ARRAY response from SCAN!\n"
            )
            return 1
        cursor, keys = reply
        for key in keys:
            text = key if options.output == "raw" else quote(key).encode()
            await ctx.stdout.write(text + b"\n")
        if cursor == b"0":
            return 0


async def _measure_latency(ctx: Context, link: Link, options: Options) -> int:
    """``--latency`` ends after an interval if nobody watches; ``--latency-history`` does not."""
    history, raw = options.mode == "latency-history", options.output == "raw"
    interval_s = options.interval_s or (HISTORY_S if history else 1.0)
    delays: list[int] = []
    started_at = ctx.kernel.now
    while True:
        asked_at = ctx.kernel.now
        await link.run([b"PING"])
        delays.append(int(ctx.kernel.now * 1000) - int(asked_at * 1000))
        low, high, average = min(delays), max(delays), sum(delays) / len(delays)
        passed_s = ctx.kernel.now - started_at
        if not raw:
            await ctx.out(
                f"\x1b[0G\x1b[2Kmin: {low}, max: {high}, avg: {average:.2f} ({len(delays)} samples)"
            )
        elif history or passed_s > interval_s:
            await ctx.out(f"{low} {high} {average:.2f} {len(delays)}\n")
            if not history:
                return 0
        if history and passed_s > interval_s:
            await ctx.out(f" -- {passed_s:.2f} seconds range\n")
            delays, started_at = [], ctx.kernel.now
        await ctx.sleep(SAMPLE_S)


async def _show_statistics(ctx: Context, link: Link, options: Options) -> int:
    count = requests = 0
    while True:
        reply = await link.run([b"INFO"])
        text = reply.decode() if isinstance(reply, bytes) else ""
        facts = dict(line.partition(":")[::2] for line in text.splitlines())
        keys = sum(
            int(line.partition("=")[2].partition(",")[0]) for line in text.splitlines() if ":keys=" in line
        )
        before, requests = requests, int(facts["total_commands_processed"])
        if count % STAT_LINES == 0:
            await ctx.out(STAT_HEADER)
        change = f"{requests} (+{requests - before if count else 0})"
        await ctx.out(
            f"{keys:<11}{facts['used_memory_human']:<8} {facts['connected_clients']:<8}{facts['blocked_clients']:<8}"
            f"{change:<19} {facts['total_connections_received']:<12}\n"
        )
        count += 1
        await ctx.sleep(options.interval_s or 1.0)
