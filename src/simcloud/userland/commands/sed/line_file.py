"""Files whose content a script inserts: whole (``r``) or a line at a time (``R``)."""

from __future__ import annotations

from typing import Self

from simcloud.machine.files import FileError
from simcloud.machine.process import Context, Stream
from simcloud.userland.commands.records import read_chunk


class LineFile:
    """An open file, read when its first line is needed. An unreadable one is empty."""

    def __init__(self, stream: Stream | None, end: bytes) -> None:
        self._stream = stream
        self._end = end
        self._lines: list[bytes] | None = None
        self._position = 0

    @classmethod
    async def open(cls, ctx: Context, path: str, end: bytes) -> Self:
        """Open a file, if there is one."""
        try:
            return cls(await ctx.open(path), end)
        except FileError:
            return cls(None, end)

    async def content(self, ctx: Context) -> bytes:
        """All of it."""
        parts: list[bytes] = []
        try:
            while self._stream is not None and (data := await read_chunk(ctx, self._stream)):
                parts.append(data)
        except FileError:
            pass
        return b"".join(parts)

    async def next_line(self, ctx: Context) -> bytes:
        """The next line with its end, which the last may lack; nothing after the last."""
        if self._lines is None:
            parts = (await self.content(ctx)).split(self._end)
            self._lines = [part + self._end for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
        line = self._lines[self._position] if self._position < len(self._lines) else b""
        self._position += 1
        return line

    def rewind(self) -> None:
        """Begin with the first line again."""
        self._position = 0

    def close(self) -> None:
        """Let go of the file."""
        if self._stream is not None:
            self._stream.close()
