"""ln: make links."""

from __future__ import annotations

from simcloud.machine.files import FileError
from simcloud.machine.process import Context
from simcloud.userland.commands.file.confirmation import is_agreed
from simcloud.userland.commands.file.copy.targets import Targets, read_targets, why_no_folder
from simcloud.userland.commands.file.names import base_name, complain, folder_name
from simcloud.userland.commands.file.paths import NONE, relative_path, resolve
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.quoting import quote_name_always as shown
from simcloud.userland.commands.text.tool import fail, misuse, tool


@tool(
    "ln",
    options="d,F,directory f,force i,interactive L,logical n,no-dereference P,physical r,relative s,symbolic "
    "t,target-directory= T,no-target-directory v,verbose",
    usage="[OPTION]... TARGET... LINK_NAME",
)
async def ln(ctx: Context, options: Options) -> int:
    """Give files more names, or with -s make names that point to others."""
    if options.any("r") and not options.any("s"):
        fail(ctx, "cannot do --relative without --symbolic")
    targets = _targets(ctx, options)
    status = 0
    for source in targets.sources:
        ctx.spend_turn()
        status = await _Link(ctx, options, source, targets.place(source)).make() or status
    return status


def _targets(ctx: Context, options: Options) -> Targets:
    operands = options.operands
    if options.any("t"):
        return read_targets(ctx, options)
    if not operands:
        misuse(ctx, "missing file operand")
    if options.any("T"):
        if len(operands) == 1:
            misuse(ctx, f"missing destination file operand after {shown(operands[0])}")
        if len(operands) > 2:
            misuse(ctx, f"extra operand {shown(operands[2])}")
        return Targets(operands[:1], operands[1], False)
    if len(operands) == 1:
        return Targets(operands, ".", True)
    *sources, target = operands
    is_link = ctx.files.node_kind(target.rstrip("/") or "/", follow=False) == "link"
    reason = why_no_folder(ctx, target)
    into = reason is None and not (options.any("n") and is_link and len(sources) == 1)
    if not into and len(sources) > 1:
        fail(ctx, f"target {shown(target)}: {reason or FileError('ENOTDIR')}")
    return Targets(sources, target, into)


class _Link:
    """Makes one link."""

    def __init__(self, ctx: Context, options: Options, source: str, path: str) -> None:
        self._ctx = ctx
        self._options = options
        self._source = source
        self._path = path
        self._symbolic = options.any("s")

    async def make(self) -> int:
        """Make it; the status."""
        ctx, files, source, path = self._ctx, self._ctx.files, self._source, self._path
        if not self._symbolic:
            try:
                found = files.stat(source, follow=self._options.any("L"))
            except FileError as error:
                return await complain(ctx, f"failed to access {shown(source)}", error)
            if found.is_dir:
                return await complain(ctx, f"{source}: hard link not allowed for directory")
        if files.node_kind(path, follow=False) is not None:
            answer = await self._make_room()
            if answer is not None:
                return answer
        try:
            if self._symbolic:
                self._source = self._relative() if self._options.any("r") else source
                files.symlink(self._source, path)
            else:
                files.link(files.realpath(source) if self._options.any("L") else source, path)
        except FileError as error:
            return await self._report_failure(error)
        if self._options.any("v"):
            arrow = "->" if self._symbolic else "=>"
            await ctx.out(f"{shown(path)} {arrow} {shown(self._source)}\n")
        return 0

    async def _make_room(self) -> int | None:
        """Clear the name; the status if that ends the matter."""
        ctx, files = self._ctx, self._ctx.files
        mode = next((o for o, _ in self._options.given[::-1] if o in ("f", "i")), "")
        if not mode:
            return None
        if mode == "i" and not await is_agreed(ctx, f"replace {shown(self._path)}"):
            return 0
        if files.node_kind(self._path, follow=False) == "directory":
            return await complain(ctx, f"{shown(self._path)}: cannot overwrite directory")
        if self._is_same():
            return await complain(ctx, f"{shown(self._source)} and {shown(self._path)} are the same file")
        files.remove(self._path)
        return None

    def _is_same(self) -> bool:
        if self._symbolic:
            return False
        files = self._ctx.files
        one, other = files.stat(self._source, follow=False), files.stat(self._path, follow=False)
        return (one.dev, one.ino) == (other.dev, other.ino)

    def _relative(self) -> str:
        files = self._ctx.files
        folder = resolve(files, folder_name(self._path), NONE)
        above = resolve(files, folder_name(self._source), NONE)
        name = base_name(self._source)
        whole = (
            resolve(files, self._source, NONE) if name in (".", "..", "/") else f"{above.rstrip('/')}/{name}"
        )
        return relative_path(whole, folder)

    async def _report_failure(self, error: FileError) -> int:
        kind = "symbolic" if self._symbolic else "hard"
        message = f"failed to create {kind} link {shown(self._path)}"
        if error.code not in ("EEXIST", "ENOSPC", "EROFS", "EMLINK", "EDQUOT") and not (
            error.code == "ENOENT" and self._source
        ):
            message += f" {'->' if self._symbolic else '=>'} {shown(self._source)}"
        return await complain(self._ctx, message, error)
