"""The inputs of a program: values or lines from files or stdin, one by one as they arrive."""

from __future__ import annotations

from typing import Final

from simcloud.machine.files import FileError
from simcloud.machine.process import BadDescriptor, Context, Stream
from simcloud.userland.jq.json_reader import ENDED, PIECE_BYTES, WAITING, JsonReader, Signal
from simcloud.userland.jq.tree import Value
from simcloud.userland.jq.utf8 import decode, encode

STDIN: Final = "-"
READ_BYTES: Final = 1 << 20


class Inputs:
    """The inputs of jq. ``failures`` counts files that could not be read."""

    def __init__(self, ctx: Context, files: list[str], complaints: list[bytes]) -> None:
        self.failures = 0
        self.ended = False
        """All files have been read to their ends."""
        self.name: str | None = None
        self._ctx = ctx
        self._waiting = list(files) or [STDIN]
        self._complaints = complaints
        self._stream: Stream | None = None
        self._opened = False
        self._held = b""

    async def more(self) -> bytes:
        """The next whole lines, or a long piece of one; nothing at the end of all files."""
        while True:
            if self._stream is None and not await self._open_next():
                data, self._held = self._held, b""
                self.ended = True
                return data
            assert self._stream is not None
            try:
                data = await self._stream.read(READ_BYTES)
            except (FileError, BadDescriptor):
                self.failures += 1
                data = b""
            if not data:
                self.close()
                continue
            self._ctx.spend_bytes(len(data))
            data = self._held + data
            end = data.rfind(b"\n") + 1
            if len(data) - end >= PIECE_BYTES:
                end = len(data)
            self._held = data[end:]
            if end:
                return data[:end]

    async def _open_next(self) -> bool:
        while self._waiting:
            name = self._waiting.pop(0)
            if name == STDIN:
                self._stream, self._opened, self.name = self._ctx.stdin, False, "<stdin>"
                return True
            try:
                self._stream, self._opened, self.name = await self._ctx.open(name), True, name
                return True
            except FileError as error:
                self.failures += 1
                if error.code != "EISDIR":
                    self._complaints.append(encode(f"jq: error: Could not open file {name}: {error}\n"))
        return False

    def close(self) -> None:
        """Let go of the file being read; stdin belongs to the process."""
        if self._stream is not None and self._opened:
            self._stream.close()
        self._stream = None


class Source:
    """Produces the inputs of a program."""

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs
        self.started = False
        self.exhausted = False
        """Handle a request for input after the end."""

    @property
    def lines(self) -> int:
        """The number of lines read."""
        raise NotImplementedError

    async def next(self) -> Value | Signal:
        """The next input or ``ENDED``. Raises ``JsonError``."""
        raise NotImplementedError

    def position(self) -> str:
        """Return the position of the last input, for messages."""
        known = self.started and not self.exhausted
        return f"{self._inputs.name}:{self.lines}" if known else "<unknown>"


class JsonSource(Source):
    """JSON values."""

    def __init__(self, inputs: Inputs) -> None:
        super().__init__(inputs)
        self._reader = JsonReader()

    @property
    def lines(self) -> int:
        return self._reader.lines

    async def next(self) -> Value | Signal:
        self.started = True
        ended = self._inputs.ended
        self.exhausted = ended and self._reader.drained
        while True:
            value = self._reader.next()
            if value is not WAITING:
                self.exhausted |= ended and value is ENDED
                return value
            self._reader.feed(await self._inputs.more())
            if self._inputs.ended:
                self._reader.finish()


class LineSource(Source):
    """Lines as strings, for ``-R``."""

    def __init__(self, inputs: Inputs) -> None:
        super().__init__(inputs)
        self._data: list[bytes] = []
        self._lines = 0
        self._rest = b""
        self._ended = False

    @property
    def lines(self) -> int:
        return self._lines

    async def next(self) -> Value | Signal:
        self.started = True
        while not self._data:
            if self._ended:
                self.exhausted = True
                return ENDED
            data = await self._inputs.more()
            if not data:
                self._ended = True
                self._data = [self._rest] if self._rest else []
                self._rest = b""
            else:
                *lines, self._rest = (self._rest + data).split(b"\n")
                self._data = [line + b"\n" for line in lines][::-1]
        line = self._data.pop()
        self._lines += line.endswith(b"\n")
        return decode(line.removesuffix(b"\n"))


class TextSource(Source):
    """The whole input as one string, for ``-Rs``."""

    def __init__(self, inputs: Inputs) -> None:
        super().__init__(inputs)
        self._lines = 0

    @property
    def lines(self) -> int:
        return self._lines

    async def next(self) -> Value | Signal:
        if self.started:
            return ENDED
        self.started = True
        parts: list[bytes] = []
        while data := await self._inputs.more():
            parts.append(data)
        self._lines = sum(part.count(b"\n") for part in parts)
        return decode(b"".join(parts))


class SlurpedSource(Source):
    """All inputs as one array, for ``-s``."""

    def __init__(self, inputs: Inputs, source: Source) -> None:
        super().__init__(inputs)
        self._source = source

    @property
    def lines(self) -> int:
        return self._source.lines

    async def next(self) -> Value | Signal:
        if self.started:
            return ENDED
        self.started = True
        values: list[Value] = []
        while (value := await self._source.next()) is not ENDED:
            values.append(value)
        return values
