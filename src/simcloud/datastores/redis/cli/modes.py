"""``--scan`` and ``--stat``."""

from __future__ import annotations

from typing import Final

from simcloud.datastores.redis.cli.link import Link
from simcloud.datastores.redis.cli.options import Options
from simcloud.datastores.redis.commands.information import human
from simcloud.datastores.redis.dispatch import quoted
from simcloud.datastores.redis.replies import ErrorReply
from simcloud.machine.process import Context

HEADING_EVERY: Final = 20
HEADING: Final = (
    "------- data ------ --------------------- load -------------------- - child -\n"
    "keys       mem      clients blocked requests            connections          \n"
)


async def show_keys(ctx: Context, link: Link, options: Options) -> int:
    """All keys, a line each."""
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
            text = key if options.output == "raw" else quoted(key).encode()
            await ctx.stdout.write(text + b"\n")
        if cursor == b"0":
            return 0


async def show_statistics(ctx: Context, link: Link, options: Options) -> int:
    """A line of figures each second (or interval) until something ends it."""
    before = 0
    turn = 0
    while True:
        reply = await link.run([b"INFO"])
        if not isinstance(reply, bytes):
            await ctx.err(f"ERROR: {reply}\n")
            return 1
        facts = dict(
            line.split(":", 1) for line in reply.decode("utf-8", "replace").split("\r\n") if ":" in line
        )
        keys = sum(int(fact.split(",")[0][5:]) for name, fact in facts.items() if name.startswith("db"))
        requests = int(facts["total_commands_processed"])
        if turn % HEADING_EVERY == 0:
            await ctx.out(HEADING)
        rate = f"{requests} (+{requests - before if turn else 0})"
        child = "SAVE" if facts["rdb_bgsave_in_progress"] == "1" else ""
        await ctx.out(
            f"{keys:<10} {human(int(facts['used_memory'])):<8} {facts['connected_clients']:<7} "
            f"{facts['blocked_clients']:<7} {rate:<19} {facts['total_connections_received']:<12} {child}\n"
        )
        before = requests
        turn += 1
        await ctx.sleep(options.interval_s or 1.0)
