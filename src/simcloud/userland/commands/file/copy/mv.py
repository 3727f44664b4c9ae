"""mv: move or rename files and folders."""

from __future__ import annotations

from simcloud.machine.files import FileError, Stat
from simcloud.machine.process import Context
from simcloud.userland.commands.file.confirmation import is_agreed
from simcloud.userland.commands.file.copy.copier import Copier
from simcloud.userland.commands.file.copy.rules import archive_rules
from simcloud.userland.commands.file.copy.targets import read_targets
from simcloud.userland.commands.file.names import complain
from simcloud.userland.commands.file.removal import Remover
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.quoting import quote_name_always as shown
from simcloud.userland.commands.text.tool import tool


@tool(
    "mv",
    options="f,force i,interactive n,no-clobber strip-trailing-slashes t,target-directory= T,no-target-directory "
    "u,update v,verbose Z,context",
    usage="[OPTION]... SOURCE... DEST",
)
async def mv(ctx: Context, options: Options) -> int:
    """Rename files, or move them to a folder."""
    targets = read_targets(ctx, options)
    mover, status = _Mover(ctx, options), 0
    for word in targets.sources:
        source = word.rstrip("/") or word if options.any("strip-trailing-slashes") else word
        status = await mover.move(source, targets.place(source)) or status
    return status


class _Mover:
    def __init__(self, ctx: Context, options: Options) -> None:
        self._ctx = ctx
        self._options = options
        self._overwrite = next((o for o, _ in options.given[::-1] if o in ("f", "i", "n")), "")

    async def move(self, source: str, target: str) -> int:
        """Move one thing; the status."""
        ctx, files = self._ctx, self._ctx.files
        try:
            found = files.stat(source, follow=False)
            existing = None
            try:
                existing = files.stat(target, follow=False)
            except FileError as error:
                if error.code not in ("ENOENT", "ENOTDIR"):
                    return await complain(ctx, f"cannot stat {shown(target)}", error)
            if existing is not None:
                answer = await self._may_overwrite(source, target, found, existing)
                if answer is not None:
                    return answer
        except FileError as error:
            return await complain(ctx, f"cannot stat {shown(error.path)}", error)
        try:
            files.rename(source, target)
        except FileError as error:
            if error.code == "EXDEV":
                return await self._across(source, target)
            if error.code == "EINVAL":
                return await complain(
                    ctx, f"cannot move {shown(source)} to a subdirectory of itself, {shown(target)}"
                )
            return await complain(ctx, f"cannot move {shown(source)} to {shown(target)}", error)
        if self._options.any("v"):
            await ctx.out(f"renamed {shown(source)} -> {shown(target)}\n")
        return 0

    async def _may_overwrite(self, source: str, target: str, found: Stat, existing: Stat) -> int | None:
        """None if the move may go on; else the status it ends with."""
        ctx = self._ctx
        if (found.dev, found.ino) == (existing.dev, existing.ino):
            if found.is_dir:
                return None  # renaming says what is wrong
            return await complain(ctx, f"{shown(source)} and {shown(target)} are the same file")
        if self._overwrite == "n" or (self._options.any("u") and existing.mtime >= found.mtime):
            return 0
        if self._overwrite == "i" and not await is_agreed(ctx, f"overwrite {shown(target)}"):
            return 0
        if existing.is_dir and not found.is_dir:
            return await complain(ctx, f"cannot overwrite directory {shown(target)} with non-directory")
        if found.is_dir and not existing.is_dir:
            words = f"cannot overwrite non-directory {shown(target)} with directory {shown(source)}"
            return await complain(ctx, words)
        return None

    async def _across(self, source: str, target: str) -> int:
        """From one file system to another: copy, then remove."""
        rules = archive_rules()
        rules.verbose = self._options.any("v")
        if self._ctx.files.node_kind(target, follow=False) not in (None, "directory"):
            self._ctx.files.remove(target)
        status = await Copier(self._ctx, rules).copy(source, target)
        if status:
            return status
        return await Remover(self._ctx, recursive=True, verbose=rules.verbose).remove(source)
