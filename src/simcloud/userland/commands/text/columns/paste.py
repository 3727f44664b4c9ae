"""``paste``: join lines side by side."""

from __future__ import annotations

from collections.abc import AsyncIterator

from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.inputs import Inputs, emit
from simcloud.userland.commands.text.tool import fail, tool

_BATCH = 10_000
_ESCAPES = {"0": b"", "b": b"\b", "f": b"\f", "n": b"\n", "r": b"\r", "t": b"\t", "v": b"\v", "\\": b"\\"}


@tool("paste", options="d,delimiters= s,serial z,zero-terminated")
async def paste(ctx: Context, options: Options) -> int:
    """Write lines made of the corresponding lines of each file."""
    end = b"\0" if "z" in options else b"\n"
    delimiters = _delimiters(ctx, options.last("d", default="\t"))
    inputs = Inputs(ctx, options.operands)
    if "s" in options:
        async for source in inputs.sources():
            await _serial(ctx, source.lines(end), delimiters, end)
        return inputs.status
    readers = await _readers(ctx, inputs, end)
    if inputs.failed:
        return 1
    while True:
        row = [await anext(reader, None) for reader in readers]
        if all(cell is None for cell in row):
            return inputs.status
        await emit(ctx, _join([(cell or b"").removesuffix(end) for cell in row], delimiters) + end)


async def _serial(ctx: Context, lines: AsyncIterator[bytes], delimiters: list[bytes], end: bytes) -> None:
    """All lines in one, written bit by bit: many short ones would fill the memory."""
    parts: list[bytes] = []
    count = 0
    async for line in lines:
        if count:
            parts.append(delimiters[(count - 1) % len(delimiters)])
        parts.append(line.removesuffix(end))
        count += 1
        if count % _BATCH == 0:
            await emit(ctx, b"".join(parts))
            parts.clear()
    await emit(ctx, b"".join(parts) + end)


async def _readers(ctx: Context, inputs: Inputs, end: bytes) -> list[AsyncIterator[bytes]]:
    """One reader per operand; all that name standard input share one."""
    readers: dict[int, AsyncIterator[bytes]] = {}
    stdin: int | None = None
    order: list[AsyncIterator[bytes]] = []
    for position, operand in enumerate(inputs.operands):
        if operand == "-" and stdin is not None:
            order.append(readers[stdin])
            continue
        source = await inputs.open(operand)
        if source is None:
            break
        readers[position] = source.lines(end)
        order.append(readers[position])
        if operand == "-":
            stdin = position
    return order


def _join(cells: list[bytes], delimiters: list[bytes]) -> bytes:
    parts: list[bytes] = []
    for position, cell in enumerate(cells):
        if position:
            parts.append(delimiters[(position - 1) % len(delimiters)])
        parts.append(cell)
    return b"".join(parts)


def _delimiters(ctx: Context, text: str) -> list[bytes]:
    found: list[bytes] = []
    at = 0
    data = text.encode("utf-8", "surrogateescape").decode("latin-1")
    while at < len(data):
        if data[at] == "\\":
            at += 1
            if at == len(data):
                fail(ctx, f"delimiter list ends with an unescaped backslash: {text}")
            found.append(_ESCAPES.get(data[at], data[at].encode("latin-1")))
        else:
            found.append(data[at].encode("latin-1"))
        at += 1
    return found or [b""]
