"""env and printenv: commands on environment variables."""

from __future__ import annotations

from simcloud.machine.files import FileError
from simcloud.machine.process import CommandNotFound, Context, ForkFailed, NotExecutable
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.system.launchers import CANNOT_RUN, NOT_FOUND, OWN_FAILURE
from simcloud.userland.commands.text.quoting import quote, quote_name_always
from simcloud.userland.commands.text.tool import fail, misuse, tool

ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "_": " ", "#": "#", "$": "$", '"': '"', "'": "'",
           "\\": "\\"}  # fmt: skip


@tool("printenv", options="0,null", usage="[OPTION]... [VARIABLE]...", trouble=2, stop_early=True)
async def printenv(ctx: Context, options: Options) -> int:
    """Print the values of environment variables, or all of the environment."""
    end = "\0" if options.any("0") else "\n"
    if not options.operands:
        await ctx.out("".join(f"{name}={value}{end}" for name, value in ctx.env.items()))
        return 0
    found = [name for name in options.operands if name in ctx.env]
    await ctx.out("".join(f"{ctx.env[name]}{end}" for name in found))
    return 0 if len(found) == len(options.operands) else 1


@tool(
    "env",
    options="i,ignore-environment 0,null u,unset= C,chdir= S,split-string= v,debug block-signal=? default-signal=? "
    "ignore-signal=? list-signal-handling",
    usage="[OPTION]... [-] [NAME=VALUE]... [COMMAND [ARG]...]",
    trouble=OWN_FAILURE,
    stop_early=True,
)
async def env(ctx: Context, options: Options) -> int:
    """Run a command in a changed environment, or print the environment."""
    environment = {} if options.any("i") else dict(ctx.env)
    for name in options.all("u"):
        if not name or "=" in name:
            fail(ctx, f"cannot unset {quote(name)}: Invalid argument", OWN_FAILURE)
        environment.pop(name, None)
    words = list(options.operands)
    if options.any("S"):
        words = [*_split(ctx, options.last("S")), *words]
    if words[:1] == ["-"]:
        environment, words = {}, words[1:]
    while words and "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    if not words:
        if options.any("C"):
            misuse(ctx, "must specify command with --chdir (-C)", OWN_FAILURE)
        end = "\0" if options.any("0") else "\n"
        await ctx.out("".join(f"{name}={value}{end}" for name, value in environment.items()))
        return 0
    if options.any("0"):
        misuse(ctx, "cannot specify --null (-0) with command", OWN_FAILURE)
    if options.any("C"):
        try:
            ctx.files.chdir(options.last("C"))
        except FileError as error:
            shown = quote_name_always(options.last("C"))
            fail(ctx, f"cannot change directory to {shown}: {error}", OWN_FAILURE)
    return await _become(ctx, words, environment)


async def _become(ctx: Context, words: list[str], environment: dict[str, str]) -> int:
    if "PATH" not in environment and "/" not in words[0]:
        found = next(
            (path for path in (f"/bin/{words[0]}", f"/usr/bin/{words[0]}") if ctx.files.is_file(path)), None
        )
        words = [found, *words[1:]] if found is not None else words
    try:
        return await ctx.exec(words, environment)
    except CommandNotFound:
        reason, status = "No such file or directory", NOT_FOUND
    except (NotExecutable, ForkFailed) as error:
        reason, status = str(error), CANNOT_RUN
        reason = "Permission denied" if reason == "Is a directory" else reason
    await ctx.err(f"{ctx.args[0]}: {quote(words[0])}: {reason}\n")
    if " " in words[0] and status == NOT_FOUND:
        await ctx.err(f"{ctx.args[0]}: use -[v]S to pass options in shebang lines\n")
    return status


def _split(ctx: Context, text: str) -> list[str]:
    """Words of ``-S``: quotes, backslashes and ``${NAME}`` as env reads them."""
    words: list[str] = []
    word, inside, quote_mark, at = "", False, "", 0
    while at < len(text):
        letter = text[at]
        at += 1
        if letter == "\\" and quote_mark != "'" and at < len(text):
            word, inside = word + ESCAPES.get(text[at], "\\" + text[at]), True
            at += 1
        elif letter in "'\"" and quote_mark in ("", letter):
            quote_mark, inside = "" if quote_mark else letter, True
        elif letter == "$" and quote_mark != "'" and text[at : at + 1] == "{" and "}" in text[at:]:
            end = text.index("}", at)
            word, inside, at = word + ctx.env.get(text[at + 1 : end], ""), True, end + 1
        elif letter in " \t\n" and not quote_mark:
            if inside:
                words.append(word)
            word, inside = "", False
        elif letter == "#" and not inside and not quote_mark:
            break
        else:
            word, inside = word + letter, True
    if quote_mark:
        fail(ctx, "no terminating quote in -S string", OWN_FAILURE)
    return [*words, word] if inside else words
