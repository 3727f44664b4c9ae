"""rm, rmdir and unlink."""

from __future__ import annotations

from typing import NamedTuple

from simcloud.machine.files import FileError, Stat
from simcloud.machine.process import Context
from simcloud.userland.commands.file.confirmation import is_agreed
from simcloud.userland.commands.file.names import base_name, complain, folder_name, join
from simcloud.userland.commands.file.stat import kind_of
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.quoting import quote_name_always as shown
from simcloud.userland.commands.text.tool import misuse, one_of, tool

ASK_WHEN = ("never,no,none", "once", "always,yes")
MANY = 3


class _Step(NamedTuple):
    """Visit a path, or (``emptied``) remove the folder whose entries were handled."""

    path: str
    emptied: bool = False
    inside: int = 0
    """The number of problems when the folder was entered."""


class Remover:
    """Removes files and, with -r, folders with their entries."""

    def __init__(
        self,
        ctx: Context,
        *,
        recursive: bool = False,
        force: bool = False,
        empty_folders: bool = False,
        ask: bool = False,
        verbose: bool = False,
        one_file_system: bool = False,
    ) -> None:
        self._ctx = ctx
        self._recursive = recursive
        self._force = force
        self._empty_folders = empty_folders
        self._ask = ask
        self._verbose = verbose
        self._one_file_system = one_file_system
        self._problems = 0

    async def remove(self, path: str) -> int:
        """Remove what a path names; the status."""
        steps, before = [_Step(path)], self._problems
        while steps:
            self._ctx.spend_turn()
            step = steps.pop()
            try:
                if step.emptied:
                    await self._remove_folder(step)
                else:
                    await self._look(step, steps)
            except FileError as error:
                if not (self._force and error.code in ("ENOENT", "ENOTDIR")):
                    await self._complain(f"cannot remove {shown(step.path)}", error)
        return 1 if self._problems > before else 0

    async def _complain(self, what: str, error: FileError | str = "") -> None:
        self._problems += 1
        await complain(self._ctx, what, error)

    async def _look(self, step: _Step, steps: list[_Step]) -> None:
        path, files = step.path, self._ctx.files
        found = files.stat(path, follow=False)
        if not found.is_dir:
            if await self._is_allowed(path, found):
                files.remove(path)
                await self._tell(f"removed {shown(path)}")
            return
        if not self._recursive and not self._empty_folders:
            raise FileError("EISDIR", path)
        names = files.listdir(path)
        if names and not self._recursive:
            raise FileError("ENOTEMPTY", path)
        if self._one_file_system and found.dev != files.stat(folder_name(path)).dev:
            await self._complain(f"skipping {shown(path)}, since it's on a different device")
            return
        if names and self._ask and not await is_agreed(self._ctx, f"descend into directory {shown(path)}"):
            return
        steps.append(_Step(path, emptied=True, inside=self._problems))
        steps += [_Step(join(path, name)) for name in reversed(names)]

    async def _remove_folder(self, step: _Step) -> None:
        if self._problems > step.inside:
            return  # an entry could not be removed, which has been reported
        if self._ask and not await is_agreed(self._ctx, f"remove directory {shown(step.path)}"):
            return
        self._ctx.files.rmdir(step.path)
        await self._tell(f"removed directory {shown(step.path)}")

    async def _is_allowed(self, path: str, found: Stat) -> bool:
        """Whether a file may be removed: asks with -i, or for a write-protected file at a terminal."""
        ctx = self._ctx
        guarded = (
            not self._force and ctx.stdin.isatty and not found.is_link and not ctx.files.access(path, "w")
        )
        if not self._ask and not guarded:
            return True
        protection = "write-protected " if guarded else ""
        return await is_agreed(ctx, f"remove {protection}{kind_of(found)} {shown(path)}")

    async def _tell(self, text: str) -> None:
        if self._verbose:
            await self._ctx.out(f"{text}\n")


@tool(
    "rm",
    options="d,dir f,force i I interactive=? one-file-system no-preserve-root preserve-root=? r,R,recursive v,verbose",
    usage="[OPTION]... [FILE]...",
)
async def rm(ctx: Context, options: Options) -> int:
    """Remove files, and folders with -r."""
    mode = ""
    for option, value in options.given:
        if option in ("f", "i", "I"):
            mode = option
        elif option == "interactive":
            answer = one_of(ctx, option, value or "always", ASK_WHEN)
            mode = {"never": "", "once": "I", "always": "i"}[answer]
    paths = options.operands
    if not paths:
        if mode == "f":
            return 0
        misuse(ctx, "missing operand")
    recursive = options.any("r", "R")
    if mode == "I" and (recursive or len(paths) > MANY):
        how = " recursively" if recursive else ""
        many = "argument" if len(paths) == 1 else "arguments"
        if not await is_agreed(ctx, f"remove {len(paths)} {many}{how}"):
            return 0
    remover = Remover(
        ctx, recursive=recursive, force=mode == "f", empty_folders=options.any("d"), ask=mode == "i",
        verbose=options.any("v"), one_file_system=options.any("one-file-system"),
    )  # fmt: skip
    status = 0
    for path in paths:
        if recursive and base_name(path) in (".", ".."):
            status = await complain(ctx, f"refusing to remove '.' or '..' directory: skipping {shown(path)}")
        elif recursive and not options.any("no-preserve-root") and ctx.files.absolute(path) == "/":
            await complain(ctx, "it is dangerous to operate recursively on '/'")
            status = await complain(ctx, "use --no-preserve-root to override this failsafe")
        else:
            status = await remover.remove(path) or status
    return status


@tool("rmdir", options="p,parents v,verbose ignore-fail-on-non-empty", usage="[OPTION]... DIRECTORY...")
async def rmdir(ctx: Context, options: Options) -> int:
    """Remove folders that are empty."""
    if not options.operands:
        misuse(ctx, "missing operand")
    status = 0
    for operand in options.operands:
        path = operand
        while True:
            ctx.spend_turn()
            if options.any("v"):
                await ctx.out(f"{ctx.args[0]}: removing directory, {shown(path)}\n")
            try:
                ctx.files.rmdir(path)
            except FileError as error:
                if not (options.any("ignore-fail-on-non-empty") and error.code == "ENOTEMPTY"):
                    what = "directory " if path != operand else ""
                    status = await complain(ctx, f"failed to remove {what}{shown(path)}", error)
                break
            path = path.rstrip("/").rpartition("/")[0].rstrip("/") if options.any("p") else ""
            if not path:
                break
    return status
