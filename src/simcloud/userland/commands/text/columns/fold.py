"""``fold``: wrap long lines."""

from __future__ import annotations

from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.counts import number
from simcloud.userland.commands.text.inputs import Inputs, emit
from simcloud.userland.commands.text.tool import historical, tool


@tool("fold", options="b,bytes s,spaces w,width=", rewrite=historical("w", "-w", "--width"))
async def fold(ctx: Context, options: Options) -> int:
    """Break lines at a width of 80 columns, or another."""
    width = number(ctx, options.last("w", default="80"), "invalid number of columns", low=1, high=2**63)
    inputs = Inputs(ctx, options.operands, weight=5)
    in_bytes, at_spaces = "b" in options, "s" in options
    async for source in inputs.sources():
        async for batch in source.batches():
            await emit(ctx, b"".join([_line(line, width, in_bytes, at_spaces) for line in batch]))
    return inputs.status


def _line(line: bytes, width: int, in_bytes: bool, at_spaces: bool) -> bytes:
    text = line.removesuffix(b"\n")
    if len(text) <= width and b"\t" not in text:
        return line
    return _fold(text, width, in_bytes, at_spaces) + line[len(text) :]


def _advance(column: int, byte: int, in_bytes: bool) -> int:
    if in_bytes:
        return column + 1
    if byte == 0x08:
        return max(0, column - 1)
    if byte == 0x0D:
        return 0
    if byte == 0x09:
        return column + 8 - column % 8
    return column + 1


def _fold(text: bytes, width: int, in_bytes: bool, at_spaces: bool) -> bytes:
    out = bytearray()
    line = bytearray()
    column = 0
    for byte in text:
        column = _advance(column, byte, in_bytes)
        while column > width and line:
            blank = max(line.rfind(b" "), line.rfind(b"\t")) if at_spaces else -1
            cut = blank + 1 if blank >= 0 else len(line)
            out += line[:cut] + b"\n"
            line = line[cut:]
            column = 0
            for kept in line:
                column = _advance(column, kept, in_bytes)
            column = _advance(column, byte, in_bytes)
        line.append(byte)
    return bytes(out + line)
