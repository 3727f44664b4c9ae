"""Reading a whole stream or file at once, paid for as it is read."""

from __future__ import annotations

from simcloud.machine.process import Context, Stream
from simcloud.userland.commands.records import read_chunk


async def read_whole(ctx: Context, stream: Stream, at_most: int | None = None) -> bytes:
    """Everything up to the end, or its first bytes."""
    data = bytearray()
    while (at_most is None or len(data) < at_most) and (chunk := await read_chunk(ctx, stream)):
        data += chunk
    return bytes(data if at_most is None else data[:at_most])


async def read_path(ctx: Context, path: str) -> bytes:
    """The content of a file, or of standard input for a dash; raises ``FileError``."""
    if path == "-":
        return await read_whole(ctx, ctx.stdin)
    stream = await ctx.open(path)
    try:
        return await read_whole(ctx, stream)
    finally:
        stream.close()
