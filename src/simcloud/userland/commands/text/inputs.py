"""Reads operands or standard input and writes results, with each tool's own error messages.

Data is read in pieces and passed on as it arrives. All input and output is charged to the process's budget, so that
reading an endless device ends with a plain message.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from simcloud.machine.files import FileError
from simcloud.machine.process import DESCRIPTOR_FOLDERS, STANDARD_STREAMS, BadDescriptor, Context, Stream
from simcloud.userland.commands.text.quoting import quote_name, quote_name_always
from simcloud.userland.commands.text.tool import fail

CHUNK_BYTES = 65536
LINES_A_TURN = 64
"""Bytes are paid for when they are read; lines that have hardly any are work, too."""


def is_there(ctx: Context, operand: str) -> bool:
    """Whether an operand names something to open: a file, or one of the process's own descriptors."""
    return ctx.files.exists(operand) or operand.startswith(DESCRIPTOR_FOLDERS) or operand in STANDARD_STREAMS


HELD_LINE_BYTES = 32
"""Memory of a kept line in addition to its bytes."""


class Source:
    """One input under its given name. A failing read is reported once and ends it."""

    def __init__(
        self, inputs: Inputs, name: str, stream: Stream | None, error: FileError | None = None
    ) -> None:
        self.name = name
        self.stream = stream
        self.failed = error is not None
        self._inputs = inputs
        self._error: FileError | BadDescriptor | None = error

    async def read(self, size: int = CHUNK_BYTES) -> bytes:
        """The next piece of data; nothing at the end or after an error."""
        if self.stream is not None:
            try:
                data = await self.stream.read(size)
                self._inputs.ctx.spend_bytes(len(data) * self._inputs.weight)
                return data
            except (FileError, BadDescriptor) as error:
                self._error, self.failed, self.stream = error, True, None
        if self._error is not None:
            why, self._error = str(self._error), None
            await self._inputs.complain(self._inputs.cannot_read, self.name, why)
        return b""

    async def read_all(self) -> bytes:
        """Everything there is."""
        return b"".join([piece async for piece in self.pieces()])

    async def pieces(self) -> AsyncIterator[bytes]:
        """The data as it arrives."""
        while piece := await self.read():
            yield piece

    async def batches(self, end: bytes = b"\n") -> AsyncIterator[list[bytes]]:
        """Complete lines with their ends, as many at a time as have arrived; the last may lack its end."""
        rest: list[bytes] = []
        held, memory = 0, self._inputs.ctx.memory
        while piece := await self.read():
            head, found, tail = piece.rpartition(end)
            if not found:
                rest.append(piece)
                held += len(piece)
                memory.grow(len(piece))  # a line without an end, such as /dev/zero's, must fit into memory
                continue
            memory.grow(-held)
            held = 0
            rest.append(head)
            lines = b"".join(rest).split(end)
            self._inputs.ctx.spend_turn(len(lines) // LINES_A_TURN)
            yield [line + end for line in lines]
            rest = [tail] if tail else []
        memory.grow(-held)
        if rest:
            yield [b"".join(rest)]

    async def lines(self, end: bytes = b"\n") -> AsyncIterator[bytes]:
        """Lines with their ends, one at a time."""
        async for batch in self.batches(end):
            for line in batch:
                yield line


class Inputs:
    """The operands of a tool, or its standard input when there are none.

    ``cannot_open`` and ``cannot_read`` are the tool's words; ``{name}`` is the operand quoted as
    needed, ``{quoted}`` always in quotes, ``{plain}`` never, ``{why}`` the system's reason.
    ``weight`` is how often each byte counts against the budget: more for tools that look at every single one.
    """

    def __init__(
        self,
        ctx: Context,
        operands: list[str],
        cannot_open: str = "{name}: {why}",
        cannot_read: str = "{name}: {why}",
        stdin_name: str = "-",
        weight: int = 1,
        dash_is_stdin: bool = True,
    ) -> None:
        self.ctx = ctx
        self.operands = operands or ["-"]
        self.cannot_open = cannot_open
        self.cannot_read = cannot_read
        self.stdin_name = stdin_name
        self.weight = weight
        self._without_operands = not operands
        self._dash_is_stdin = dash_is_stdin
        self.failed = False

    @property
    def status(self) -> int:
        """1 once an input could not be opened or read."""
        return 1 if self.failed else 0

    async def sources(self) -> AsyncIterator[Source]:
        """Each input that can be opened, in order; the others are reported."""
        for operand in self.operands:
            source = await self.open(operand)
            if source is not None:
                yield source
                if source.stream is not None and operand != "-":
                    source.stream.close()

    async def open(self, operand: str) -> Source | None:
        """One input, or None after reporting why not. A folder opens, but cannot be read.

        To a few tools a dash is a name like any other.
        """
        if operand == "-" and (self._dash_is_stdin or self._without_operands):
            return Source(self, self.stdin_name, self.ctx.stdin)
        try:
            stream = await self.ctx.open(operand)
            return Source(self, operand, stream)
        except FileError as error:
            if error.code == "EISDIR":
                return Source(self, operand, None, error)
            await self.complain(self.cannot_open, operand, error.strerror)
            return None

    async def complain(self, wording: str, name: str, why: str) -> None:
        """Report a failed operand and remember it for the exit status."""
        self.failed = True
        text = wording.format(plain=name, name=quote_name(name), quoted=quote_name_always(name), why=why)
        await self.ctx.err(f"{self.ctx.args[0]}: {text}\n")


async def emit(ctx: Context, data: bytes) -> None:
    """Write to standard output; a full disk ends the tool."""
    if data:
        ctx.spend_bytes(len(data))
        try:
            await ctx.stdout.write(data)
        except (FileError, BadDescriptor) as error:
            fail(ctx, f"write error: {error}")


def split_lines(ctx: Context, data: bytes, end: bytes = b"\n") -> list[bytes]:
    """The lines of something that is held as a whole: many short ones take much more than their bytes."""
    ctx.spend_bytes(HELD_LINE_BYTES * data.count(end))
    return data.split(end)


async def read_operand(ctx: Context, operand: str, cannot_open: str, status: int = 1) -> bytes:
    """All of one input that the tool cannot do without."""
    inputs = Inputs(ctx, [operand], cannot_open, cannot_open)
    source = await inputs.open(operand)
    data = await source.read_all() if source is not None else b""
    if inputs.failed:
        ctx.exit(status)
    return data
