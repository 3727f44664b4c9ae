"""The outputs of sed: standard output, the files of ``w``, and files edited in place.

A last line without a newline is written without one; if more output follows, the newline is written first.
"""

from __future__ import annotations

from simcloud.machine.files import FileError
from simcloud.machine.process import BadDescriptor, Context, Stream
from simcloud.userland.commands.sed.reader import ScriptError

FLUSH_BYTES = 65_536
PANIC = 4


class Output:
    """Buffers the output to one stream until it is flushed."""

    def __init__(self, ctx: Context, stream: Stream | None, name: str) -> None:
        self._ctx = ctx
        self._stream = stream
        self._name = name
        self._missing_newline = False
        self.data = bytearray()

    @property
    def full(self) -> bool:
        """Whether it is time to flush."""
        return len(self.data) >= FLUSH_BYTES and self._stream is not None

    def write(self, data: bytes | bytearray) -> None:
        """Whole lines, or a file as it is."""
        self._ctx.spend_bytes(len(data))
        if self._missing_newline:
            self._missing_newline = False
            self.data += b"\n"
        self.data += data

    def line(self, text: bytes | bytearray, end: bytes) -> None:
        """One line; an empty ``end`` is a newline still to come, if more follows."""
        self.write(text)
        self.data += end
        self._missing_newline = not end

    def end_line(self) -> None:
        """Write the newline that is still to come, if there is one."""
        self.write(b"")

    async def flush(self) -> None:
        """Hand over what has been collected."""
        if self._stream is None or not self.data:
            return
        data = bytes(self.data)
        self.data.clear()
        try:
            await self._stream.write(data)
        except (FileError, BadDescriptor) as error:
            verb = "close" if isinstance(error, BadDescriptor) else "flush"
            raise ScriptError(f"couldn't {verb} {self._name}: {error}", PANIC) from None

    def close(self) -> None:
        """Let go of the stream."""
        if self._stream is not None:
            self._stream.close()


class Outputs:
    """Standard output and the files that ``w`` and ``W`` write to, one for each name."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self.stdout = Output(ctx, ctx.stdout, "stdout")
        self._files: dict[str, Output] = {}

    async def open(self, path: str) -> None:
        """Create or empty a file that will be written to."""
        if path in self._files:
            return
        if path == "/dev/stdout":
            output = Output(self._ctx, self._ctx.stdout, "stdout")
            output.data = self.stdout.data  # one order for all that goes there
        elif path == "/dev/stderr":
            output = Output(self._ctx, self._ctx.stderr, "stderr")
        else:
            try:
                stream = await self._ctx.open(path, read=False, write=True, create=True, truncate=True)
            except FileError as error:
                raise ScriptError(f"couldn't open file {path}: {error.strerror}", PANIC) from None
            output = Output(self._ctx, stream, path)
        self._files[path] = output

    async def line(self, path: str, text: bytes | bytearray, end: bytes) -> None:
        """Write a line to a file; others can read it at once."""
        output = self._files[path]
        output.line(text, end)
        if path != "/dev/stdout":
            await output.flush()

    async def flush(self) -> None:
        """Hand over everything."""
        await self.stdout.flush()

    def close(self) -> None:
        """Close the files."""
        for path, output in self._files.items():
            if not path.startswith("/dev/std"):
                output.close()


_NAMES = {7: b"\\a", 8: b"\\b", 9: b"\\t", 10: b"\\n", 11: b"\\v", 12: b"\\f", 13: b"\\r", 92: b"\\\\"}


def unmistakable(text: bytes, width: int, end: bytes) -> bytes:
    """The text with everything unprintable escaped, in lines of that width (0: one line)."""
    out = bytearray()
    column = 0
    for byte in text:
        shown = _NAMES.get(byte) or (bytes((byte,)) if 0x20 <= byte < 0x7F else b"\\%03o" % byte)
        if width and column + len(shown) > width - 1:
            out += b"\\" + end
            column = 0
        out += shown
        column += len(shown)
    return bytes(out + b"$" + end)
