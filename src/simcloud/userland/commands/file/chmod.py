"""chmod: change the permissions of files."""

from __future__ import annotations

import stat as bits

from simcloud.machine.files import FileError
from simcloud.machine.process import Context
from simcloud.userland.commands.file.modes import Change, apply_changes, parse_mode
from simcloud.userland.commands.file.names import complain
from simcloud.userland.commands.file.tree_walk import Walk
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.quoting import quote, quote_name_always
from simcloud.userland.commands.text.tool import fail, misuse, tool

MODE_LETTERS = "rwxXstugoa,+=01234567"
TAKEN_AWAY = "\0"
"""Stands before a mode that began with a dash; no word of a command line can hold it."""


def _with_modes_as_operands(args: list[str]) -> list[str]:
    """``-w`` and ``-rwx`` take permissions away: they are the mode and no options."""
    modes, others = [], []
    words = iter(args[1:])
    for word in words:
        if word == "--":
            others += [word, *words]
        elif len(word) > 1 and word[0] == "-" and word[1] in MODE_LETTERS:
            modes.append(word)
        else:
            others.append(word)
    return [args[0], TAKEN_AWAY + ",".join(modes), *others] if modes else args


@tool(
    "chmod",
    options="c,changes f,silent,quiet v,verbose no-preserve-root preserve-root reference= R,recursive",
    usage="[OPTION]... MODE[,MODE]... FILE...",
    rewrite=_with_modes_as_operands,
)
async def chmod(ctx: Context, options: Options) -> int:
    """Change the permissions of files."""
    operands = list(options.operands)
    if options.any("reference"):
        changes = _reference(ctx, options.last("reference"))
    elif operands:
        text = operands.pop(0).removeprefix(TAKEN_AWAY)
        if not operands:
            misuse(ctx, f"missing operand after {quote(text)}")
        changes = _parse_mode(ctx, text)
    else:
        misuse(ctx, "missing operand")
    if not operands:
        misuse(ctx, "missing operand")
    status = 0
    for path in operands:
        status = await _Chmod(ctx, options, changes).run(path) or status
    return status


def _parse_mode(ctx: Context, text: str) -> list[Change]:
    changes = parse_mode(text)
    if changes is None:
        misuse(ctx, f"invalid mode: {quote(text)}")
    return changes


def _reference(ctx: Context, path: str) -> list[Change]:
    try:
        mode = ctx.files.stat(path).mode & 0o7777
    except FileError as error:
        fail(ctx, f"failed to get attributes of {quote_name_always(path)}: {error}")
    return [Change("=", 0o7777, mode, 0o7777)]


class _Chmod:
    """Changes one operand and, with -R, everything below it."""

    def __init__(self, ctx: Context, options: Options, changes: list[Change]) -> None:
        self._ctx = ctx
        self._options = options
        self._changes = changes

    async def run(self, path: str) -> int:
        ctx, walk = self._ctx, Walk(self._ctx)
        try:
            if self._options.any("R") and not ctx.files.stat(path, follow=False).is_link:
                status = 0
                async for where, found in walk.below(path):
                    if not found.is_link:
                        status = await self._change(where) or status
                return status or walk.status
            return await self._change(path)
        except FileError as error:
            return await self._complain(f"cannot access {quote_name_always(path)}", error)

    async def _change(self, path: str) -> int:
        ctx = self._ctx
        if ctx.files.node_kind(path, follow=False) == "link" and not ctx.files.exists(path):
            return await self._complain(f"cannot operate on dangling symlink {quote_name_always(path)}")
        before = ctx.files.stat(path)
        after = apply_changes(before.mode, self._changes, before.is_dir, ctx.files.umask)
        shown = quote_name_always(path)
        try:
            ctx.files.chmod(path, after)
        except FileError as error:
            status = await self._complain(f"changing permissions of {shown}", error)
            if self._options.any("v"):
                await ctx.out(
                    f"failed to change mode of {shown} from {_both(before.mode)} to {_both(after)}\n"
                )
            return status
        if before.mode & 0o7777 != after:
            if self._options.any("v", "c"):
                await ctx.out(f"mode of {shown} changed from {_both(before.mode)} to {_both(after)}\n")
        elif self._options.any("v"):
            await ctx.out(f"mode of {shown} retained as {_both(after)}\n")
        return 0

    async def _complain(self, what: str, error: FileError | str = "") -> int:
        return 1 if self._options.any("f") else await complain(self._ctx, what, error)


def _both(mode: int) -> str:
    return f"{mode & 0o7777:04o} ({bits.filemode(mode)[1:]})"
