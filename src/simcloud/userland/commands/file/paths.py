"""Commands on path names: basename, dirname, realpath, readlink."""

from __future__ import annotations

from typing import Final

from simcloud.machine.files import FileError, Files
from simcloud.machine.process import Context
from simcloud.userland.commands.file.names import base_name, complain, folder_name
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.quoting import quote_name
from simcloud.userland.commands.text.tool import at_most, misuse, tool

MAX_LINKS: Final = 40

ALL: Final = "all"
ALL_BUT_LAST: Final = "all but the last"
NONE: Final = "none"
"""The part of a path that must exist."""


@tool("basename", options="a,multiple s,suffix= z,zero", usage="NAME [SUFFIX]", stop_early=True)
async def basename(ctx: Context, options: Options) -> int:
    """Print names without the folders before them, and without a suffix if one is given."""
    words = options.operands
    if not words:
        misuse(ctx, "missing operand")
    suffix = options.last("s")
    if not options.any("a", "s"):
        at_most(ctx, words, 2)
        suffix, words = (words[1] if len(words) > 1 else ""), words[:1]
    end = "\0" if options.any("z") else "\n"
    for word in words:
        name = base_name(word)
        if suffix and name.endswith(suffix) and name != suffix:
            name = name[: -len(suffix)]
        await ctx.out(name + end)
    return 0


@tool("dirname", options="z,zero", usage="[OPTION] NAME...")
async def dirname(ctx: Context, options: Options) -> int:
    """Print names without their last part."""
    if not options.operands:
        misuse(ctx, "missing operand")
    end = "\0" if options.any("z") else "\n"
    for word in options.operands:
        await ctx.out((folder_name(word) if word else ".") + end)
    return 0


def resolve(files: Files, path: str, must_exist: str) -> str:
    """Resolve links and dots of a path. Raises ``FileError`` for a missing part that must exist."""
    if not path:
        raise FileError("ENOENT", path)
    at = [] if path.startswith("/") else _parts(files.cwd)
    todo = _parts(path)[::-1]
    links = 0
    missing = False
    while todo:
        part = todo.pop()
        if part == "..":
            at = at[:-1]
            continue
        here = "/" + "/".join([*at, part])
        try:
            found = None if missing else files.stat(here, follow=False)
        except FileError as error:
            last = not todo and error.code == "ENOENT"
            if must_exist is ALL or (must_exist is ALL_BUT_LAST and not last):
                raise FileError(error.code, path) from None
            found, missing = None, True
        if found is None or not found.is_link:
            if found is not None and not found.is_dir and todo and must_exist is not NONE:
                raise FileError("ENOTDIR", path)
            at.append(part)
            continue
        links += 1
        if links > MAX_LINKS:
            raise FileError("ELOOP", path)
        target = files.readlink(here)
        at = [] if target.startswith("/") else at
        todo += _parts(target)[::-1]
    whole = "/" + "/".join(at)
    if path.endswith("/") and must_exist is not NONE and files.exists(whole) and not files.is_dir(whole):
        raise FileError("ENOTDIR", path)
    return whole


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


@tool(
    "realpath",
    options="e,canonicalize-existing m,canonicalize-missing L,logical P,physical q,quiet relative-to= "
    "relative-base= s,strip,no-symlinks z,zero",
    usage="[OPTION]... FILE...",
)
async def realpath(ctx: Context, options: Options) -> int:
    """Print the absolute path of files, with links and dots resolved."""
    if not options.operands:
        misuse(ctx, "missing operand")
    must_exist = {"e": ALL, "m": NONE}.get(
        next((o for o, _ in options.given[::-1] if o in "em"), ""), ALL_BUT_LAST
    )

    def resolve_operand(path: str) -> str:
        if options.any("s", "L"):
            lexical = ctx.files.absolute(path)
            return lexical if options.any("s") else resolve(ctx.files, lexical, must_exist)
        return resolve(ctx.files, path, must_exist)

    status, end = 0, "\0" if options.any("z") else "\n"
    base = ""
    try:
        base = options.last("relative-base") and resolve_operand(options.last("relative-base"))
        start = options.last("relative-to") and resolve_operand(options.last("relative-to"))
    except FileError as error:
        return await complain(ctx, quote_name(error.path), error)
    start = start or base
    for path in options.operands:
        try:
            whole = resolve_operand(path)
        except FileError as error:
            status = 1 if options.any("q") else await complain(ctx, quote_name(path), error)
            continue
        inside = not base or (_is_below(whole, base) and _is_below(start, base))
        await ctx.out((relative_path(whole, start) if start and inside else whole) + end)
    return status


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def relative_path(path: str, start: str) -> str:
    """The way from a folder to a path; both are absolute and without links."""
    here, there = _parts(start), _parts(path)
    common = 0
    while common < min(len(here), len(there)) and here[common] == there[common]:
        common += 1
    return "/".join([".."] * (len(here) - common) + there[common:]) or "."


@tool(
    "readlink",
    options="f,canonicalize e,canonicalize-existing m,canonicalize-missing n,no-newline q,quiet s,silent "
    "v,verbose z,zero",
    usage="[OPTION]... FILE...",
)
async def readlink(ctx: Context, options: Options) -> int:
    """Print what links point to, or with -f where they lead in the end."""
    if not options.operands:
        misuse(ctx, "missing operand")
    modes = {"f": ALL_BUT_LAST, "e": ALL, "m": NONE}
    must_exist = modes.get(next((o for o, _ in options.given[::-1] if o in modes), ""))
    end = "\0" if options.any("z") else "\n"
    if options.any("n"):
        if len(options.operands) > 1:
            await complain(ctx, "ignoring --no-newline with multiple arguments")
        else:
            end = ""
    status = 0
    for path in options.operands:
        try:
            target = ctx.files.readlink(path) if must_exist is None else resolve(ctx.files, path, must_exist)
        except FileError as error:
            status = 1
            if options.any("v"):
                await complain(ctx, quote_name(path), error)
            continue
        await ctx.out(target + end)
    return status
