"""which: find a command on the PATH; and sync."""

from __future__ import annotations

from typing import Final

from simcloud.machine.files import FileError
from simcloud.machine.proc import vary
from simcloud.machine.process import Context
from simcloud.userland.commands.file.names import complain, join
from simcloud.userland.commands.options import Options, UsageError, parse
from simcloud.userland.commands.registry import command
from simcloud.userland.commands.text.quoting import quote_name_always
from simcloud.userland.commands.text.tool import fail, tool

SYNC_S: Final = 0.012


@command("which")
async def which(ctx: Context) -> int:
    """Print the file that a command name stands for."""
    try:
        options = parse(ctx.args, "as", stop_early=True)
    except UsageError as mistake:
        letter = str(mistake).partition("\n")[0][-2]
        await ctx.err(f"Illegal option -{letter}\n")
        await ctx.out(f"Usage: {ctx.args[0]} [-a] args\n")
        return 2
    missing = 0 if options.operands else 1
    for name in options.operands:
        paths = _paths(ctx, name)
        if not paths:
            missing = 1
        if not options.any("s"):
            await ctx.out("".join(f"{path}\n" for path in (paths if options.any("a") else paths[:1])))
    return missing


def _paths(ctx: Context, name: str) -> list[str]:
    """All files of that name that could be run."""
    folders = [""] if "/" in name else [folder or "." for folder in ctx.env.get("PATH", "").split(":")]
    candidates = [join(folder, name) if folder else name for folder in folders]
    return [path for path in candidates if ctx.files.is_file(path) and ctx.files.access(path, "x")]


@tool("sync", options="d,data f,file-system", usage="[OPTION] [FILE]...")
async def sync(ctx: Context, options: Options) -> int:
    """Bring what is only in memory to the disk."""
    if options.any("d") and options.any("f"):
        fail(ctx, "cannot specify both --data and --file-system")
    if options.any("d") and not options.operands:
        fail(ctx, "--data needs at least one argument")
    if not options.operands:
        ctx.files.sync()
        await ctx.sleep(SYNC_S * (0.5 + vary(f"{ctx.machine.name}/sync", ctx.kernel.now)))
        return 0
    status = 0
    for path in options.operands:
        try:
            ctx.files.open(path).close()
        except FileError as error:
            status = await complain(ctx, f"error opening {quote_name_always(path)}", error)
            continue
        try:
            ctx.files.sync(path)
        except FileError as error:
            status = await complain(ctx, f"error syncing {quote_name_always(path)}", error)
    return status
