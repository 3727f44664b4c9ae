"""Commands that run another command: nohup, nice, setsid, stdbuf.

Priorities and buffering have no effect on simulated programs, so most of these only check their options, as the
genuine ones do, and then run the command.
"""

from __future__ import annotations

from simcloud.machine.process import CommandNotFound, Context, ForkFailed, NotExecutable, Signal
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.counts import parse_number
from simcloud.userland.commands.text.quoting import quote
from simcloud.userland.commands.text.tool import UTIL_LINUX, fail, misuse, tool

CANNOT_RUN = 126
NOT_FOUND = 127
OWN_FAILURE = 125


async def tell_start_failure(ctx: Context, name: str, error: Exception) -> int:
    """Say why a command could not be run, as coreutils do; 127 when it is not there, else 126."""
    missing = isinstance(error, CommandNotFound)
    reason = "No such file or directory" if missing else str(error)
    reason = "Permission denied" if reason == "Is a directory" else reason
    what = quote(name) if ctx.args[0].endswith("nice") else f"failed to run command {quote(name)}"
    await ctx.err(f"{ctx.args[0]}: {what}: {reason}\n")
    return NOT_FOUND if missing else CANNOT_RUN


async def become(ctx: Context, argv: list[str]) -> int:
    """Become another command; its status, or that of the failure to start it."""
    try:
        return await ctx.exec(argv)
    except (CommandNotFound, NotExecutable, ForkFailed) as error:
        return await tell_start_failure(ctx, argv[0], error)


@tool("nohup", usage="COMMAND [ARG]...", trouble=OWN_FAILURE, stop_early=True)
async def nohup(ctx: Context, options: Options) -> int:
    """Run a command that a hang-up does not end."""
    if not options.operands:
        misuse(ctx, "missing operand", OWN_FAILURE)
    ctx.signals.on(Signal.HUP, "ignore")
    return await become(ctx, options.operands)


def _with_adjustment(args: list[str]) -> list[str]:
    """``nice -5`` is an old way to write ``nice -n 5``."""
    word = args[1] if len(args) > 1 else ""
    if word[:1] == "-" and word[1:].lstrip("+-").isdecimal():
        return [args[0], "-n", word[1:], *args[2:]]
    return args


@tool(
    "nice",
    options="n,adjustment=",
    usage="[OPTION] [COMMAND [ARG]...]",
    trouble=OWN_FAILURE,
    stop_early=True,
    rewrite=_with_adjustment,
)
async def nice(ctx: Context, options: Options) -> int:
    """Run a command at another priority, or print the priority."""
    text = options.last("n", default="10")
    if parse_number(text) is None:
        fail(ctx, f"invalid adjustment {quote(text)}", OWN_FAILURE)
    if not options.operands:
        if options.any("n"):
            misuse(ctx, "a command must be given with an adjustment", OWN_FAILURE)
        await ctx.out("0\n")
        return 0
    return await become(ctx, options.operands)


@tool(
    "stdbuf",
    options="i,input= o,output= e,error=",
    usage="OPTION... COMMAND",
    trouble=OWN_FAILURE,
    stop_early=True,
)
async def stdbuf(ctx: Context, options: Options) -> int:
    """Run a command with other buffers."""
    for _, mode in options.given:
        if mode != "L" and parse_number(mode, "kKmMgGtTPEZY") is None:
            fail(ctx, f"invalid mode {quote(mode)}", OWN_FAILURE)
    if not options.operands:
        misuse(ctx, "missing operand", OWN_FAILURE)
    if not options.given:
        misuse(ctx, "you must specify a buffering mode option", OWN_FAILURE)
    return await become(ctx, options.operands)


@tool(
    "setsid",
    options="c,ctty f,fork w,wait",
    usage="[options] <program> [arguments ...]",
    version=UTIL_LINUX,
    stop_early=True,
)
async def setsid(ctx: Context, options: Options) -> int:
    """Run a command in a session of its own."""
    if not options.operands:
        misuse(ctx, "no command specified")
    try:
        process = ctx.start(options.operands, new_group=True)
        process.session = process
    except CommandNotFound:
        fail(ctx, f"failed to execute {options.operands[0]}: No such file or directory", NOT_FOUND)
    except (NotExecutable, ForkFailed) as error:
        fail(ctx, f"failed to execute {options.operands[0]}: {error}", CANNOT_RUN)
    return 0 if options.any("f") and not options.any("w") else await process.wait()
