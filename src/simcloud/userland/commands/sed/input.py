"""The input lines of sed, and the files whose content a script inserts with ``r`` and ``R``.

Input files are read one after the other, with look-ahead where ``$`` needs it, and only when a line is needed, so
that sed in a pipe answers line by line.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from typing import NamedTuple, Self

from simcloud.machine.files import FileError
from simcloud.machine.process import BadDescriptor, Context, FileStream, Stream
from simcloud.userland.commands.records import RecordCutter, read_chunk
from simcloud.userland.commands.sed.output import PANIC
from simcloud.userland.commands.sed.reader import ScriptError

CANNOT_READ = 2


class Line(NamedTuple):
    """One line without its newline, and whether it had one."""

    text: bytes
    ended: bool


class Input:
    """All input files. ``before_waiting`` is called before more data is waited for.

    ``name`` is the file that was opened last: while looking for the last line, that may be the one after
    the file that the current line came from.
    """

    def __init__(
        self, ctx: Context, files: list[str], end: bytes, before_waiting: Callable[[], Awaitable[None]]
    ) -> None:
        self._ctx = ctx
        self._files = deque(files)
        self._end = end
        self._before_waiting = before_waiting
        self._stream: Stream | None = None
        self.name = "-"
        self._start = 0
        self._cutter = RecordCutter(end)
        self._lines: deque[Line] = deque()
        self._taken_bytes = 0
        self.status = 0

    async def has_line(self) -> bool:
        """Whether the file that is open has another line."""
        while not self._lines and self._stream is not None:
            await self._before_waiting()
            try:
                data = await read_chunk(self._ctx, self._stream)
            except (FileError, BadDescriptor) as error:
                name = "stdin" if self.name == "-" else self.name
                raise ScriptError(f"read error on {name}: {error}", PANIC) from None
            if data:
                self._lines.extend(Line(text, True) for text in self._cutter.cut(data))
            else:
                last = self._cutter.last()
                if last is not None:
                    self._lines.append(Line(last, False))
                self._close()
        return bool(self._lines)

    def take(self) -> Line:
        """The next line, which is known to be there."""
        line = self._lines.popleft()
        self._taken_bytes += len(line.text) + line.ended
        return line

    async def open_next(self) -> str | None:
        """Open the next file that can be opened and return its name; None after the last."""
        while self._files:
            name = self._files.popleft()
            try:
                stream = self._ctx.stdin if name == "-" else await self._ctx.open(name)
            except FileError as error:
                if error.code == "EISDIR":
                    raise ScriptError(f"read error on {name}: {error.strerror}", PANIC) from None
                self.status = CANNOT_READ
                await self._ctx.err(f"sed: can't read {name}: {error.strerror}\n")
                continue
            self._stream, self.name = stream, name
            self._cutter = RecordCutter(self._end)
            self._start = stream.file.tell() if isinstance(stream, FileStream) else 0
            self._taken_bytes = 0
            return name
        return None

    async def is_last(self, *, of_all: bool) -> bool:
        """Whether no line follows, in this file or in any."""
        while not await self.has_line():
            if not of_all or not self._files:
                return True
            if self._ctx.files.is_dir(self._files[0]):
                self._files.popleft()
            elif await self.open_next() is None:
                return True
        return False

    def leave(self) -> None:
        """Stop reading and leave unused standard input to its next reader."""
        stream = self._stream or self._ctx.stdin
        if self.name == "-" and isinstance(stream, FileStream) and stream.file.kind == "file":
            stream.file.seek(self._start + self._taken_bytes)

    def _close(self) -> None:
        if self._stream is not None and self.name != "-":
            self._stream.close()
        self._stream = None


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
