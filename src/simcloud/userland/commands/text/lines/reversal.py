"""``tac`` and ``rev``: reverse the order of lines, or of the characters in each line."""

from __future__ import annotations

from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.inputs import Inputs, emit, split_lines
from simcloud.userland.commands.text.tool import UTIL_LINUX, fail, tool


@tool("tac", options="b,before r,regex s,separator=")
async def tac(ctx: Context, options: Options) -> int:
    """Write each file with its records in reverse order."""
    separator = options.last("s", default="\n").encode("utf-8", "surrogateescape")
    if "s" in options and not separator:
        separator = b"\0"
    if "r" in options:
        fail(ctx, "regular expressions as separators are not supported")
    inputs = Inputs(
        ctx, options.operands, "failed to open {quoted} for reading: {why}", "{name}: read error: {why}"
    )
    async for source in inputs.sources():
        records = split_lines(ctx, await source.read_all(), separator)
        if "b" in options:
            pieces = [separator + record for record in records[:0:-1]] + records[:1]
        else:
            pieces = records[-1:] + [record + separator for record in records[-2::-1]]
        await emit(ctx, b"".join(pieces))
    return inputs.status


@tool("rev", options="0,zero", usage="[options] [file ...]", version=UTIL_LINUX)
async def rev(ctx: Context, options: Options) -> int:
    """Write each line with its characters in reverse order."""
    end = b"\0" if "0" in options else b"\n"
    inputs = Inputs(ctx, options.operands, "cannot open {plain}: {why}", "{plain}: 0: {why}", "stdin")
    async for source in inputs.sources():
        async for batch in source.batches(end):
            await emit(ctx, b"".join([_reverse(line, end) for line in batch]))
    return inputs.status


def _reverse(line: bytes, end: bytes) -> bytes:
    text = line.removesuffix(end)
    characters = text.decode("utf-8", "surrogateescape")[::-1]
    return characters.encode("utf-8", "surrogateescape") + line[len(text) :]
