"""Where a process reads from and writes to: pipes, files, memory, nothing.

A stream is shared by all who hold it, and counts them: ``dup`` for one more holder, ``close`` for
one fewer; the last one out ends it. Reading gives what is there, up to a size, and ``b""`` at the
end. Writing to a pipe that nobody reads raises the broken-pipe signal.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Final, Self

from simcloud.machine.files import OpenFile
from simcloud.machine.process.errors import KilledBySignal
from simcloud.machine.process.signals import Signal
from simcloud.sim import Condition, Kernel

PIPE_BYTES: Final = 65_536
CHUNK_BYTES: Final = 65_536


class Stream:
    """One end of something that carries bytes."""

    __slots__ = ("_holders",)
    isatty = False

    def __init__(self) -> None:
        self._holders = 1

    @property
    def closed(self) -> bool:
        """Whether the last holder has let go."""
        return self._holders <= 0

    def describe(self) -> str:
        """What ``/proc/<pid>/fd`` shows the descriptor as."""
        return "pipe"

    def dup(self) -> Self:
        """One more holder of the same stream."""
        self._holders += 1
        return self

    def close(self) -> None:
        """One holder fewer; the last one ends the stream."""
        self._holders -= 1
        if self._holders == 0:
            self._on_release()

    async def read(self, size: int = CHUNK_BYTES) -> bytes:
        """What is there, up to ``size`` bytes, waiting for the first of them; ``b""`` at the end."""
        raise BadDescriptor

    async def write(self, data: bytes) -> None:
        """All of ``data``, waiting for room."""
        raise BadDescriptor

    def write_at_once(self, data: bytes) -> bool:
        """All of ``data`` without waiting, as the last words of a process must be; False where it cannot be."""
        return False

    def _on_release(self) -> None:
        """Called when the last holder has closed the stream."""


class BadDescriptor(Exception):
    """Reading from what can only be written, or the other way round."""

    def __init__(self) -> None:
        super().__init__("Bad file descriptor")


class Pipe:
    """Bytes from ``writer`` to ``reader``, 64 KiB at most in between."""

    def __init__(self, kernel: Kernel) -> None:
        self.buffer = bytearray()
        self.changed = Condition(kernel)
        self.reader = PipeReader(self)
        self.writer = PipeWriter(self)


class PipeReader(Stream):
    """The end that reads."""

    def __init__(self, pipe: Pipe) -> None:
        super().__init__()
        self._pipe = pipe

    async def read(self, size: int = CHUNK_BYTES) -> bytes:
        """What is in the pipe, waiting for the writer."""
        pipe = self._pipe
        while not pipe.buffer:
            if pipe.writer.closed:
                return b""
            await pipe.changed.wait()
        data = bytes(pipe.buffer[:size])
        del pipe.buffer[:size]
        pipe.changed.notify()
        return data

    def _on_release(self) -> None:
        self._pipe.changed.notify()


class PipeWriter(Stream):
    """The end that writes."""

    def __init__(self, pipe: Pipe) -> None:
        super().__init__()
        self._pipe = pipe

    async def write(self, data: bytes) -> None:
        """Fill the pipe, waiting for the reader."""
        pipe = self._pipe
        while True:
            if pipe.reader.closed:
                raise KilledBySignal(Signal.PIPE)
            room = PIPE_BYTES - len(pipe.buffer)
            if room > 0:
                pipe.buffer += data[:room]
                pipe.changed.notify()
                data = data[room:]
            if not data:
                return
            await pipe.changed.wait()

    def _on_release(self) -> None:
        self._pipe.changed.notify()


class FileStream(Stream):
    """A stream on an open file. A slow disk makes it wait."""

    def __init__(self, kernel: Kernel, file: OpenFile) -> None:
        super().__init__()
        self._kernel = kernel
        self.file = file

    def dup(self) -> Self:
        """One more holder, which may be a child that outlives the process that opened the file."""
        self.file.share()
        return super().dup()

    async def read(self, size: int = CHUNK_BYTES) -> bytes:
        """From where the file stands."""
        data = self.file.read(size)
        delay_s = self.file.io_delay_s(len(data))
        if delay_s:
            await self._kernel.sleep(delay_s)
        return data

    async def write(self, data: bytes) -> None:
        """All of it, as far as the disk takes it."""
        while data:
            written = self.file.write(data)
            delay_s = self.file.io_delay_s(written)
            if delay_s:
                await self._kernel.sleep(delay_s)
            data = data[written:]

    def describe(self) -> str:
        """The file's path."""
        return self.file.path

    def _on_release(self) -> None:
        self.file.close()


class NullStream(Stream):
    """``/dev/null``: always at its end, takes everything."""

    __slots__ = ()

    def describe(self) -> str:
        """The device's name."""
        return "/dev/null"

    async def read(self, size: int = CHUNK_BYTES) -> bytes:
        """The end, at once."""
        return b""

    async def write(self, data: bytes) -> None:
        """Forget it."""

    def write_at_once(self, data: bytes) -> bool:
        """Forget it."""
        return True


class ByteSource(Stream):
    """Reads bytes that are there from the start."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self._data = data
        self._position = 0

    async def read(self, size: int = CHUNK_BYTES) -> bytes:
        """The next of the given bytes."""
        data = self._data[self._position : self._position + size]
        self._position += len(data)
        return data


class Capture(Stream):
    """Keeps what is written, up to a limit; what is beyond is counted and dropped."""

    def __init__(self, limit_bytes: int = 16 * 1024 * 1024) -> None:
        super().__init__()
        self.data = bytearray()
        self.dropped_bytes = 0
        self._limit_bytes = limit_bytes

    async def write(self, data: bytes) -> None:
        """Keep it."""
        self.put(data)

    def put(self, data: bytes) -> None:
        """Keep it."""
        room = self._limit_bytes - len(self.data)
        self.data += data[:room]
        self.dropped_bytes += max(0, len(data) - room)


class LineSink(Stream):
    """Hands every whole line (without its newline) to a function, at once.

    ``refuse`` is called with the number of lines before they are passed on; refused lines are lost.
    """

    def __init__(self, take: Callable[[bytes], None], refuse: Callable[[int], bool] | None = None) -> None:
        super().__init__()
        self._refuse = refuse
        self._take = take
        self._rest = b""

    async def write(self, data: bytes) -> None:
        """Hand on the lines that are whole."""
        self.write_at_once(data)

    def write_at_once(self, data: bytes) -> bool:
        """Hand on the lines that are whole."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if self._refuse is None or not self._refuse(len(lines)):
            for line in lines:
                self._take(line)
        if len(self._rest) > CHUNK_BYTES:  # as container runtimes do with endless lines
            self._take(self._rest)
            self._rest = b""
        return True

    def _on_release(self) -> None:
        if self._rest:
            self._take(self._rest)
            self._rest = b""


async def read_all(stream: Stream) -> bytes:
    """Everything up to the end."""
    parts = []
    while data := await stream.read():
        parts.append(data)
    return b"".join(parts)


async def read_lines(stream: Stream) -> AsyncIterator[bytes]:
    """Lines with their newlines as they arrive; the last may lack one."""
    rest = b""
    while data := await stream.read():
        if rest:
            data = rest + data
        lines = data.split(b"\n")
        rest = lines.pop()
        for line in lines:
            yield line + b"\n"
    if rest:
        yield rest
