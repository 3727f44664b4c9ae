"""Cutting a stream into records: lines, or what stands between NUL bytes.

Records come in batches, as many as have arrived, so that a tool in a pipe answers at once and a
tool on a file does not answer line by line. What is read is paid for, so that an endless device ends
by a plain message.
"""

from __future__ import annotations

from simcloud.machine.process import Context, Stream

CHUNK_BYTES = 98_304


async def read_chunk(ctx: Context, stream: Stream) -> bytes:
    """What has arrived, nothing at the end."""
    data = await stream.read(CHUNK_BYTES)
    ctx.spend_bytes(len(data))
    return data


class RecordCutter:
    """Cuts data into records without their ends and keeps what is not yet complete."""

    def __init__(self, end: bytes) -> None:
        self._end = end
        self._rest: list[bytes] = []

    def cut(self, data: bytes) -> list[bytes]:
        """The records that this piece of data completes."""
        head, found, tail = data.rpartition(self._end)
        if not found:
            self._rest.append(data)
            return []
        records = b"".join([*self._rest, head]).split(self._end)
        self._rest = [tail] if tail else []
        return records

    def last(self) -> bytes | None:
        """What came after the last end, or None."""
        return b"".join(self._rest) if self._rest else None


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
