"""Reading streams: whole, in chunks, or in records that end with a newline or a NUL byte.

Records come in batches of what has arrived, so that a tool in a pipe answers at once and a
tool on a file does not answer line by line. Every read is charged, so that reading an endless device ends
with a plain message.
"""

from __future__ import annotations

from simcloud.machine.process import Context, Stream

CHUNK_BYTES = 98_304


async def read_chunk(ctx: Context, stream: Stream) -> bytes:
    """Read the available bytes; empty at the end."""
    data = await stream.read(CHUNK_BYTES)
    ctx.spend_bytes(len(data))
    return data


class RecordCutter:
    """Splits data into records, without their terminators, and buffers an incomplete one."""

    def __init__(self, end: bytes) -> None:
        self._end = end
        self._rest: list[bytes] = []

    def cut(self, data: bytes) -> list[bytes]:
        """Return the records that this data completes."""
        head, found, tail = data.rpartition(self._end)
        if not found:
            self._rest.append(data)
            return []
        records = b"".join([*self._rest, head]).split(self._end)
        self._rest = [tail] if tail else []
        return records

    def last(self) -> bytes | None:
        """Return the text after the last terminator, or None."""
        return b"".join(self._rest) if self._rest else None


async def read_whole(ctx: Context, stream: Stream, at_most: int | None = None) -> bytes:
    """Read a stream to its end, or its first ``at_most`` bytes."""
    data = bytearray()
    while (at_most is None or len(data) < at_most) and (chunk := await read_chunk(ctx, stream)):
        data += chunk
    return bytes(data if at_most is None else data[:at_most])


async def read_path(ctx: Context, path: str) -> bytes:
    """Read a file, or standard input for a dash. Raises ``FileError``."""
    if path == "-":
        return await read_whole(ctx, ctx.stdin)
    stream = await ctx.open(path)
    try:
        return await read_whole(ctx, stream)
    finally:
        stream.close()
