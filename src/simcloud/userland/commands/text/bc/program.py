"""``bc``: a calculator of any precision, with variables, functions and loops."""

from __future__ import annotations

from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.bc.compiler import Compiler, QuitProgram
from simcloud.userland.commands.text.bc.lexer import BcSyntaxError, Lexer
from simcloud.userland.commands.text.bc.stack_machine import BcMachine, BcRuntimeError, Halted
from simcloud.userland.commands.text.counts import parse_number
from simcloud.userland.commands.text.inputs import Inputs, emit, is_there, read_operand
from simcloud.userland.commands.text.tool import tool

_USAGE = "usage: {name} [options] [file ...]"


@tool(
    "bc",
    options="h i,interactive l,mathlib q,quiet s,standard w,warn v",
    usage="[options] [file ...]",
    version="1.07.1",
    try_help=_USAGE,
)
async def bc(ctx: Context, options: Options) -> int:
    """Calculate with any precision."""
    if "h" in options or "v" in options:
        await ctx.out(_USAGE.format(name=ctx.args[0]) + "\n" if "h" in options else "bc 1.07.1\n")
        return 0
    length = parse_number(ctx.env.get("BC_LINE_LENGTH", "70"))
    usable = length is not None and (length == 0 or 3 <= length < 2**31)
    machine = BcMachine(ctx, "l" in options, length if usable and length is not None else 70)
    for operand in options.operands:
        if not is_there(ctx, operand):
            await ctx.err(f"File {operand} is unavailable.\n")
            return 1
        data = await read_operand(ctx, operand)
        if await _run(ctx, machine, data, operand):
            return 0
    data = await Inputs(ctx, []).read_all()
    await _run(ctx, machine, data, "(standard_in)")
    return 0


async def _run(ctx: Context, machine: BcMachine, data: bytes, name: str) -> bool:
    """Run a program; whether it asked to end."""
    lexer = Lexer(data.decode("utf-8", "surrogateescape"))
    compiler = Compiler(lexer, machine.functions.__setitem__)
    while True:
        try:
            ctx.spend_turn()
            code = compiler.next_line()
            if code is None:
                if lexer.unclosed_comment:
                    await ctx.err("EOF encountered in a comment.\n")
                return False
            machine.run(code)
        except BcSyntaxError as error:
            await _complain(ctx, lexer, error, name)
        except BcRuntimeError as error:
            await _flush(ctx, machine)
            await ctx.err(f"{error}\n")
        except (QuitProgram, Halted):
            await _flush(ctx, machine)
            return True
        await _flush(ctx, machine)


async def _complain(ctx: Context, lexer: Lexer, error: BcSyntaxError, name: str) -> None:
    token = lexer.peek()
    if token.kind == "bad":
        await ctx.err(f"{name} {error.line}: illegal character: {token.text}\n")
    else:
        await ctx.err(f"{name} {error.line}: {error}\n")
    if not error.skipped:
        lexer.skip_line()


async def _flush(ctx: Context, machine: BcMachine) -> None:
    for warning in machine.warnings:
        await ctx.err(f"{warning}\n")
    machine.warnings.clear()
    await emit(ctx, machine.out.take().encode("utf-8", "surrogateescape"))
