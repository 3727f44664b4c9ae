"""``fold``: breaks lines that are too long."""

from __future__ import annotations

from aiopslab.machine.process import Context
from aiopslab.machine.shell.commands.options import Options
from aiopslab.machine.shell.commands.text.counts import number
from aiopslab.machine.shell.commands.text.inputs import Inputs, emit
from aiopslab.machine.shell.commands.text.tool import tool


def _modernised(args: list[str]) -> list[str]:
    """``-30`` is an older spelling of ``-w 30``."""
    return [f"-w{arg[1:]}" if arg[:1] == "-" and arg[1:].isdigit() else arg for arg in args]


@tool("fold", options="b,bytes s,spaces w,width=", rewrite=_modernised)
async def fold(ctx: Context, options: Options) -> int:
    """Break lines at a width of 80 columns, or another."""
    width = number(ctx, options.last("w", default="80"), "invalid number of columns", low=1, high=2**63)
    inputs = Inputs(ctx, options.operands)
    in_bytes, at_spaces = "b" in options, "s" in options
    async for source in inputs.sources():
        async for line in source.lines():
            text = line.removesuffix(b"\n")
            folded = _folded(text, width, in_bytes, at_spaces) if len(text) > width or b"\t" in text else text
            await emit(ctx, folded + line[len(text) :])
    return inputs.status


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


def _folded(text: bytes, width: int, in_bytes: bool, at_spaces: bool) -> bytes:
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
