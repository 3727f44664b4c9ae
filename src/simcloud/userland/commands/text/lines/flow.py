"""``tee``, ``yes``, ``true`` and ``false``: commands for pipelines."""

from __future__ import annotations

from simcloud.machine.files import FileError
from simcloud.machine.process import Context, Stream
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.registry import command
from simcloud.userland.commands.text.inputs import Inputs, Source, emit
from simcloud.userland.commands.text.quoting import quote_name
from simcloud.userland.commands.text.tool import COREUTILS, one_of, tool

_YES_BYTES = 8192
_NOWHERE = "/dev/null"
_SLICE_S = 0.01  # what others in the container wait for, each of them about as long as in life
_OUTPUT_ERROR_MODES = ("warn", "warn-nopipe", "exit", "exit-nopipe")


@tool("tee", options="a,append i,ignore-interrupts p output-error=?")
async def tee(ctx: Context, options: Options) -> int:
    """Copy standard input to standard output and to each file."""
    if options.last("output-error"):
        one_of(ctx, "output-error", options.last("output-error"), _OUTPUT_ERROR_MODES)
    outputs: list[tuple[str, Stream]] = [("standard output", ctx.stdout)]
    status = 0
    append = "a" in options
    for operand in options.operands:
        try:
            opened = await ctx.open(
                operand, read=False, write=True, create=True, truncate=not append, append=append
            )
            outputs.append((operand, opened))
        except FileError as error:
            status = 1
            await ctx.err(f"{ctx.args[0]}: {quote_name(operand)}: {error.strerror}\n")
    files = [stream for _, stream in outputs[1:]]
    inputs = Inputs(ctx, [], cannot_read="read error: {why}")
    try:
        async for piece in Source(inputs, "standard input", ctx.stdin).pieces():
            for output in list(outputs):
                name, stream = output
                try:
                    await stream.write(piece)
                except FileError as error:
                    outputs.remove(output)
                    status = 1
                    await ctx.err(f"{ctx.args[0]}: {quote_name(name)}: {error.strerror}\n")
    finally:
        for stream in files:
            stream.close()  # the reader of a pipe waits for its end: tee >(wc -l)
    return status or inputs.status


@tool("yes", usage="[STRING]...", stop_early=True)
async def yes(ctx: Context, options: Options) -> int:
    """Write a line, 'y' by default, until told to stop."""
    line = (" ".join(options.operands or ["y"]) + "\n").encode("utf-8", "surrogateescape")
    block = line * max(1, _YES_BYTES // len(line))
    while ctx.stdout.describe() == _NOWHERE:
        await ctx.cpu(_SLICE_S)  # what nobody reads need not be made
    while True:
        await emit(ctx, block)


@command("true")
async def true(ctx: Context) -> int:
    """Succeed."""
    await _answer(ctx, "true")
    return 0


@command("false")
async def false(ctx: Context) -> int:
    """Fail."""
    await _answer(ctx, "false")
    return 1


async def _answer(ctx: Context, name: str) -> None:
    """The two take no notice of arguments but for these."""
    if ctx.args[1:] == ["--version"]:
        await ctx.out(f"{name} {COREUTILS}\n")
    elif ctx.args[1:] == ["--help"]:
        await ctx.out(f"Usage: {ctx.args[0]} [ignored command line arguments]\n")
