"""echo, printf, test and pwd as programs, for ``xargs echo``, ``find -exec test`` and the like.

They work like the builtins, with the messages of GNU's programs where those differ.
"""

from __future__ import annotations

from simcloud.machine.process import Context
from simcloud.userland.bash.builtins.output import echo
from simcloud.userland.bash.conditions import ConditionMistake, evaluate_test
from simcloud.userland.bash.printf_formats import Formatter
from simcloud.userland.bash.shell import Shell
from simcloud.userland.bash.state import State
from simcloud.userland.commands.options import UsageError, parse
from simcloud.userland.commands.registry import command


def _shell(ctx: Context) -> Shell:
    return Shell(ctx, State(), mode="c", base_name=ctx.args[0])


@command("echo")
async def echo_program(ctx: Context) -> int:
    """Print words."""
    return await echo(_shell(ctx), ctx.args)


@command("printf")
async def printf_program(ctx: Context) -> int:
    """Print words in a format."""
    words = ctx.args[2:] if ctx.args[1:2] == ["--"] else ctx.args[1:]
    if not words:
        raise UsageError("printf: missing operand\nTry 'printf --help' for more information.")
    formatter = Formatter(ctx.spend_bytes, lambda: ctx.now, ctx.now)
    text = formatter.format(words[0], words[1:])
    for error in formatter.errors:
        argument, _, reason = error.rpartition(": ")
        wording = {"invalid number": "expected a numeric value"}.get(reason, reason)
        await ctx.err(f"printf: '{argument}': {wording}\n" if argument else f"printf: {error}\n")
    await ctx.out(text)
    return formatter.status


@command("test", "[")
async def test_program(ctx: Context) -> int:
    """Answer a question by the exit status."""
    arguments = ctx.args[1:]
    name = ctx.args[0].rpartition("/")[2]
    if name == "[":
        if arguments[-1:] != ["]"]:
            raise UsageError("[: missing ']'", 2)
        arguments = arguments[:-1]
    try:
        return int(not evaluate_test(_shell(ctx), arguments))
    except ConditionMistake as mistake:
        argument, _, reason = str(mistake).rpartition(": ")
        if reason == "integer expression expected":
            raise UsageError(f"{name}: invalid integer '{argument}'", 2) from None
        raise UsageError(f"{name}: '{argument}': {reason}" if argument else f"{name}: {reason}", 2) from None


@command("pwd")
async def pwd_program(ctx: Context) -> int:
    """Print the working folder."""
    options = parse(ctx.args, "LP", ("logical", "physical"))
    logical = ctx.env.get("PWD", "")
    if options.any("L", "logical") and logical and ctx.files.realpath(logical) == ctx.files.realpath("."):
        await ctx.out(logical + "\n")
    else:
        await ctx.out(ctx.files.realpath(".") + "\n")
    return 0
