"""Commands that create folders and files: mkdir, mkfifo, mktemp."""

from __future__ import annotations

from typing import Final

from simcloud.machine.files import FileError
from simcloud.machine.process import Context
from simcloud.userland.commands.file.modes import Change, apply_changes, parse_mode
from simcloud.userland.commands.file.names import complain, join
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.quoting import quote, quote_name_always
from simcloud.userland.commands.text.tool import fail, misuse, tool

LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
LEAST_XS: Final = 3
TRIES: Final = 1_000


def _parse_mode_option(ctx: Context, options: Options) -> list[Change] | None:
    if not options.any("m"):
        return None
    changes = parse_mode(options.last("m"))
    if changes is None:
        named = "" if ctx.args[0].endswith("mkfifo") else f" {quote(options.last('m'))}"
        fail(ctx, f"invalid mode{named}")
    return changes


@tool("mkdir", options="m,mode= p,parents v,verbose Z context=?", usage="[OPTION]... DIRECTORY...")
async def mkdir(ctx: Context, options: Options) -> int:
    """Make folders."""
    if not options.operands:
        misuse(ctx, "missing operand")
    changes = _parse_mode_option(ctx, options)
    status = 0
    for path in options.operands:
        try:
            made = make_parents(ctx, path) if options.any("p") else []
            if not (options.any("p") and ctx.files.is_dir(path)):
                ctx.files.mkdir(path)
                made.append(path)
                if changes is not None:
                    ctx.files.chmod(path, apply_changes(0o777, changes, True, ctx.files.umask))
        except FileError as error:
            status = await complain(ctx, f"cannot create directory {quote_name_always(error.path)}", error)
            continue
        if options.any("v"):
            await ctx.out("".join(f"{ctx.args[0]}: created directory {quote_name_always(p)}\n" for p in made))
    return status


def make_parents(ctx: Context, path: str) -> list[str]:
    """Make what is missing above a path; those that were made."""
    made = []
    ends = [at for at, letter in enumerate(path) if letter == "/" and at > 0 and path[at - 1] != "/"]
    for end in ends:
        ctx.spend_turn()
        above = path[:end]
        if not path[end:].strip("/"):
            break
        if not ctx.files.is_dir(above):
            if ctx.files.exists(above):
                raise FileError("ENOTDIR", above)
            ctx.files.mkdir(above)
            made.append(above)
    return made


@tool("mkfifo", options="m,mode= Z context=?", usage="[OPTION]... NAME...")
async def mkfifo(ctx: Context, options: Options) -> int:
    """Make named pipes."""
    if not options.operands:
        misuse(ctx, "missing operand")
    changes, status = _parse_mode_option(ctx, options), 0
    for path in options.operands:
        try:
            ctx.files.mkfifo(path)
            if changes is not None:
                ctx.files.chmod(path, apply_changes(0o666, changes, False, ctx.files.umask))
        except FileError as error:
            status = await complain(ctx, f"cannot create fifo {quote_name_always(path)}", error)
    return status


def _with_folder_attached(args: list[str]) -> list[str]:
    """``-p DIR`` takes a following word, which optional values of options do not."""
    words = iter(args)
    fixed: list[str] = []
    for word in words:
        if word == "--":
            return [*fixed, word, *words]
        if word.startswith("-") and not word.startswith("--") and word.endswith("p"):
            fixed.append(word + next(words, ""))
        else:
            fixed.append(word)
    return fixed


@tool(
    "mktemp",
    options="d,directory u,dry-run q,quiet suffix= p,tmpdir=? t",
    usage="[OPTION]... [TEMPLATE]",
    rewrite=_with_folder_attached,
)
async def mktemp(ctx: Context, options: Options) -> int:
    """Make a file or a folder with a name that nobody has yet, and print that name."""
    if len(options.operands) > 1:
        misuse(ctx, "too many templates")
    template = (options.operands or ["tmp.XXXXXXXXXX"])[0]
    suffix = options.last("suffix")
    start, end = _run_of_x(ctx, template, options.any("suffix"))
    if options.any("suffix") and "/" in suffix:
        fail(ctx, f"invalid suffix {quote(suffix)}, contains directory separator")
    folder = _folder(ctx, options, template)
    before, after = template[:start], template[end:] + suffix
    kind = "directory" if options.any("d") else "file"
    chance = ctx.random("mktemp")
    for _ in range(TRIES):
        ctx.spend_turn()
        name = before + "".join(chance.choice(LETTERS) for _ in range(end - start)) + after
        path = join(folder, name) if folder else name
        try:
            if options.any("u"):
                if ctx.files.node_kind(path, follow=False) is not None:
                    continue
            elif options.any("d"):
                ctx.files.mkdir(path, 0o700)
            else:
                ctx.files.open(path, write=True, create=True, exclusive=True, mode=0o600).close()
        except FileError as error:
            if error.code == "EEXIST":
                continue
            shown = quote(join(folder, template + suffix) if folder else template + suffix)
            return (
                1
                if options.any("q")
                else await complain(ctx, f"failed to create {kind} via template {shown}", error)
            )
        await ctx.out(f"{path}\n")
        return 0
    return await complain(ctx, f"failed to create {kind} via template {quote(template)}", "File exists")


def _run_of_x(ctx: Context, template: str, has_suffix: bool) -> tuple[int, int]:
    if has_suffix and not template.endswith("X"):
        fail(ctx, f"with --suffix, template {quote(template)} must end in X")
    end = template.rfind("X") + 1
    start = end
    while start > 0 and template[start - 1] == "X":
        start -= 1
    if end - start < LEAST_XS:
        fail(ctx, f"too few X's in template {quote(template)}")
    if "/" in template[end:]:
        fail(ctx, f"invalid suffix {quote(template[end:])}, contains directory separator")
    return start, end


def _folder(ctx: Context, options: Options, template: str) -> str:
    given = options.last("p")
    standard = ctx.env.get("TMPDIR", "") or "/tmp"
    if options.any("t"):
        if "/" in template:
            fail(ctx, f"invalid template, {quote(template)}, contains directory separator")
        return ctx.env.get("TMPDIR", "") or given or "/tmp"
    if options.any("p") or not options.operands:
        if template.startswith("/"):
            fail(ctx, f"invalid template, {quote(template)}; with --tmpdir, it may not be absolute")
        return given or standard
    return ""
