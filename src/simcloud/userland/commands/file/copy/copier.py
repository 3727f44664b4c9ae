"""The engine behind cp, and behind mv between file systems: copies a file or a tree.

Trees are walked with an explicit list of steps, so that their depth is not limited by Python's stack.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from simcloud.machine.files import FileError, Stat
from simcloud.machine.process import Context, Stream
from simcloud.userland.commands.file.confirmation import is_agreed
from simcloud.userland.commands.file.copy.rules import Rules
from simcloud.userland.commands.file.names import complain, folder_name, join
from simcloud.userland.commands.text.quoting import quote_name_always as shown

CHUNK_BYTES: Final = 131_072
Identity = tuple[int, int]
"""Device and inode number."""


class _Step(Struct):
    """Copy ``source`` to ``target``; or, if ``found`` is set, finish a folder whose entries are copied."""

    source: str
    target: str
    named: bool = False
    found: Stat | None = None
    fresh: bool = False


class Copier:
    """Copies with one set of rules, and remembers the files it made."""

    def __init__(self, ctx: Context, rules: Rules) -> None:
        self._ctx = ctx
        self._rules = rules
        self._linked: dict[Identity, str] = {}
        self._made: dict[Identity, str] = {}
        self._device = 0
        self._top = ("", "")

    async def copy(self, source: str, target: str) -> int:
        """Copy what a word on the command line names; the status."""
        self._top = (source, target)
        steps, status = [_Step(source, target, named=True)], 0
        while steps:
            self._ctx.spend_turn()
            step = steps.pop()
            if step.found is not None:
                if step.fresh or self._rules.keep:
                    self._keep_attributes(step.found, step.target, step.fresh)
                continue
            try:
                status = await self._one(step, steps) or status
            except FileError as error:
                status = await complain(self._ctx, f"cannot stat {shown(error.path)}", error)
        return status

    async def _one(self, step: _Step, steps: list[_Step]) -> int:
        ctx, rules, files = self._ctx, self._rules, self._ctx.files
        follow = rules.follow == "always" or (rules.follow == "arguments" and step.named)
        found = files.stat(step.source, follow)
        if found.is_dir and not rules.recursive:
            return await complain(ctx, f"-r not specified; omitting directory {shown(step.source)}")
        if step.named:
            self._device = found.dev
        existing = self._existing(step.target, follow or found.is_file)
        if existing is not None:
            answer = await self._may_overwrite(step, found, existing)
            if answer is not None:
                return answer
        if found.is_dir:
            return await self._folder(step, found, existing, steps)
        if rules.verbose:
            await self.tell(step.source, step.target)
        if existing is not None and (rules.remove_first or found.is_link or rules.symbolic_links):
            files.remove(step.target)
            existing = None
        status = await self._content(step, found, existing)
        if status == 0:
            self._made[self._identity(step.target)] = step.target
        return status

    async def tell(self, source: str, target: str) -> None:
        """The line of -v."""
        verb = "copied " if self._rules.moving else ""
        await self._ctx.out(f"{verb}{shown(source)} -> {shown(target)}\n")

    def _existing(self, target: str, follow: bool) -> Stat | None:
        try:
            return self._ctx.files.stat(target, follow)
        except FileError as error:
            if error.code != "ENOENT":
                raise
            return None

    def _identity(self, path: str) -> Identity:
        found = self._ctx.files.stat(path, follow=False)
        return found.dev, found.ino

    async def _may_overwrite(self, step: _Step, found: Stat, existing: Stat) -> int | None:
        """None if the copy may go on; else the status it ends with."""
        ctx, rules = self._ctx, self._rules
        same = (found.dev, found.ino) == (existing.dev, existing.ino)
        if same and not found.is_dir:
            if rules.hard_links:
                return 0
            if rules.remove_first and ctx.files.node_kind(step.target, follow=False) == "link":
                return None
            names = f"{shown(step.source)} and {shown(step.target)}"
            return await complain(ctx, f"{names} are the same file")
        if rules.update and not found.is_dir and existing.mtime >= found.mtime:
            return 0
        if not found.is_dir and rules.overwrite == "never":
            return 0
        if (
            not found.is_dir
            and rules.overwrite == "ask"
            and not await is_agreed(ctx, f"overwrite {shown(step.target)}")
        ):
            return 0
        if existing.is_dir and not found.is_dir:
            return await complain(ctx, f"cannot overwrite directory {shown(step.target)} with non-directory")
        if found.is_dir and not existing.is_dir:
            words = f"cannot overwrite non-directory {shown(step.target)} with directory {shown(step.source)}"
            return await complain(ctx, words)
        if not found.is_dir and (existing.dev, existing.ino) in self._made:
            words = f"will not overwrite just-created {shown(step.target)} with {shown(step.source)}"
            return await complain(ctx, words)
        return None

    # -- folders -------------------------------------------------------------------------------

    async def _folder(self, step: _Step, found: Stat, existing: Stat | None, steps: list[_Step]) -> int:
        ctx, files = self._ctx, self._ctx.files
        if (found.dev, found.ino) in self._made:
            source, target = (shown(path) for path in self._top)
            return await complain(ctx, f"cannot copy a directory, {source}, into itself, {target}")
        if existing is None:
            try:
                files.mkdir(step.target, found.mode & 0o777)
                files.chmod(step.target, files.stat(step.target).mode | 0o700)
            except FileError as error:
                return await complain(ctx, f"cannot create directory {shown(step.target)}", error)
            if self._rules.verbose:
                await self.tell(step.source, step.target)
            self._made[self._identity(step.target)] = step.target
        steps.append(_Step(step.source, step.target, found=found, fresh=existing is None))
        if self._rules.one_file_system and found.dev != self._device:
            return 0
        try:
            names = files.listdir(step.source)
        except FileError as error:
            return await complain(ctx, f"cannot access {shown(step.source)}", error)
        steps += [_Step(join(step.source, name), join(step.target, name)) for name in reversed(names)]
        return 0

    # -- everything else -----------------------------------------------------------------------

    async def _content(self, step: _Step, found: Stat, existing: Stat | None) -> int:
        ctx, rules, files = self._ctx, self._rules, self._ctx.files
        if rules.symbolic_links:
            return await self._link_symbolically(step)
        known = (
            self._linked.get((found.dev, found.ino)) if "links" in rules.keep and found.nlink > 1 else None
        )
        if rules.hard_links or known is not None:
            return await self._link(known or step.source, step.target, existing)
        if "links" in rules.keep and found.nlink > 1:
            self._linked[found.dev, found.ino] = step.target
        try:
            if found.is_link:
                files.symlink(files.readlink(step.source), step.target)
            elif found.is_fifo and rules.recursive:
                files.mkfifo(step.target, found.mode & 0o777)
            elif found.is_device and rules.recursive:
                raise FileError("EPERM", step.target)
            else:
                return await self._bytes(step, found, existing)
        except FileError as error:
            kind = "symbolic link" if found.is_link else "fifo" if found.is_fifo else "special file"
            return await complain(ctx, f"cannot create {kind} {shown(step.target)}", error)
        self._keep_attributes(found, step.target, fresh=False)
        return 0

    async def _link_symbolically(self, step: _Step) -> int:
        if (
            not step.source.startswith("/")
            and self._ctx.files.realpath(folder_name(step.target)) != self._ctx.files.cwd
        ):
            words = f"{step.target}: can make relative symbolic links only in current directory"
            return await complain(self._ctx, words)
        try:
            self._ctx.files.symlink(step.source, step.target)
        except FileError as error:
            words = f"cannot create symbolic link {shown(step.target)} to {shown(step.source)}"
            return await complain(self._ctx, words, error)
        return 0

    async def _link(self, source: str, target: str, existing: Stat | None) -> int:
        try:
            if existing is not None:
                if not self._rules.force:
                    raise FileError("EEXIST", target)
                self._ctx.files.remove(target)
            self._ctx.files.link(source, target)
        except FileError as error:
            return await complain(
                self._ctx, f"cannot create hard link {shown(target)} to {shown(source)}", error
            )
        return 0

    async def _bytes(self, step: _Step, found: Stat, existing: Stat | None) -> int:
        ctx = self._ctx
        try:
            source = await ctx.open(step.source)
        except FileError as error:
            return await complain(ctx, f"cannot open {shown(step.source)} for reading", error)
        try:
            target = await self._open_target(step, found, existing)
        except FileError as error:
            source.close()
            return await complain(ctx, f"cannot create regular file {shown(step.target)}", error)
        if target is None:
            source.close()
            return await complain(ctx, f"not writing through dangling symlink {shown(step.target)}")
        status = 0 if self._rules.attributes_only else await self._pour(source, target, step)
        source.close()
        target.close()
        if status == 0:
            self._keep_attributes(found, step.target, fresh=False)
        return status

    async def _open_target(self, step: _Step, found: Stat, existing: Stat | None) -> Stream | None:
        """None for a link that leads nowhere."""
        ctx, target = self._ctx, step.target
        if existing is None and ctx.files.node_kind(target, follow=False) == "link":
            if not self._rules.remove_first:
                return None
            ctx.files.remove(target)
        mode = found.mode & 0o777
        empty = not self._rules.attributes_only
        try:
            return await ctx.open(target, read=False, write=True, create=True, truncate=empty, mode=mode)
        except FileError as error:
            if error.code == "EISDIR" and target.endswith("/"):
                raise FileError("ENOTDIR", target) from None
            if not self._rules.force or existing is None:
                raise
        ctx.files.remove(target)
        return await ctx.open(target, read=False, write=True, create=True, mode=mode)

    async def _pour(self, source: Stream, target: Stream, step: _Step) -> int:
        ctx = self._ctx
        while True:
            try:
                data = await source.read(CHUNK_BYTES)
            except FileError as error:
                return await complain(ctx, f"error reading {shown(step.source)}", error)
            if not data:
                return 0
            ctx.spend_bytes(len(data))
            try:
                await target.write(data)
            except FileError as error:
                return await complain(ctx, f"error writing {shown(step.target)}", error)

    def _keep_attributes(self, found: Stat, target: str, fresh: bool) -> None:
        """Set the requested attributes of a copy; a new folder gets its mode last."""
        files, keep = self._ctx.files, self._rules.keep
        if "timestamps" in keep:
            files.utime(target, found.atime, found.mtime, follow=False)
        if "ownership" in keep:
            try:
                files.chown(target, found.uid, found.gid, follow=False)
            except FileError:
                pass  # only root gives files away; cp is silent about it
        if found.is_link:
            return
        if "mode" in keep:
            files.chmod(target, found.mode & 0o7777)
        elif fresh:
            files.chmod(target, found.mode & 0o777 & ~files.umask)
