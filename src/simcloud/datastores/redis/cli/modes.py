"""``--scan``."""

from __future__ import annotations

from simcloud.datastores.redis.cli.link import Link
from simcloud.datastores.redis.cli.options import Options
from simcloud.datastores.redis.replies import ErrorReply
from simcloud.datastores.redis.resp import quoted
from simcloud.machine.process import Context


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
