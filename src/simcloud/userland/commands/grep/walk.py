"""The files that grep searches: its operands, and with ``-r`` everything below folders."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import NamedTuple, Protocol

from simcloud.machine.files import FileError, Stat
from simcloud.machine.process import Context
from simcloud.userland.bash.patterns import Pattern
from simcloud.userland.commands.grep.settings import Settings


class Target(NamedTuple):
    """A file to open (``-`` is standard input), its displayed name, and whether lines show it."""

    path: str
    shown: str
    named: bool


class _Folder(NamedTuple):
    """A folder that is being searched and its remaining names."""

    path: str
    stat: Stat
    names: list[str]

    def is_same(self, other: Stat) -> bool:
        return (self.stat.dev, self.stat.ino) == (other.dev, other.ino)


class Complain(Protocol):
    """Reports a problem with a file."""

    async def __call__(self, name: str, why: str, *, warning: bool = False) -> None:
        """Write the message."""


class Walk:
    """Finds the files to search, in order."""

    def __init__(self, ctx: Context, settings: Settings, complain: Complain) -> None:
        self._ctx = ctx
        self._settings = settings
        self._complain = complain
        self._recursive = settings.directories == "recurse"

    async def targets(self) -> AsyncIterator[Target]:
        """Each file that is to be searched; what cannot be is reported."""
        operands = self._settings.operands or (["."] if self._recursive else ["-"])
        several = len(operands) > 1
        for operand in operands:
            if operand == "-":
                yield Target("-", self._settings.label, self._shows_names(several))
                continue
            try:
                stat = self._ctx.files.stat(operand)
            except FileError as error:
                await self._complain(operand, error.strerror)
                continue
            if self._is_skipped(operand, stat, typed=True):
                continue
            if stat.is_dir and self._recursive:
                async for found in self._below(operand, stat):
                    yield found
            elif not stat.is_dir or self._settings.directories == "read":
                yield Target(operand, operand, self._shows_names(several))

    def _shows_names(self, wanted: bool) -> bool:
        """``-H`` and ``-h`` decide; without them, names are shown where there may be several files."""
        return wanted if self._settings.names is None else self._settings.names

    async def _below(self, operand: str, stat: Stat) -> AsyncIterator[Target]:
        """All files below a folder. Folders may nest deeper than functions may."""
        open_folders = [_Folder(operand, stat, await self._names(operand))]
        while open_folders:
            folder = open_folders[-1]
            if not folder.names:
                open_folders.pop()
                continue
            name = folder.names.pop()
            path = folder.path + name if folder.path.endswith("/") else f"{folder.path}/{name}"
            child = await self._stat(path)
            if child is None or self._is_skipped(name, child, typed=False):
                continue
            if child.is_file:
                yield Target(path, self._display_path(path), self._shows_names(True))
            elif child.is_dir and any(above.is_same(child) for above in open_folders):
                await self._complain(self._display_path(path), "recursive directory loop", warning=True)
            elif child.is_dir:
                open_folders.append(_Folder(path, child, await self._names(path)))

    async def _names(self, path: str) -> list[str]:
        """Return the names in a folder in reverse order."""
        self._ctx.spend_turn()
        try:
            return self._ctx.files.listdir(path)[::-1]
        except FileError as error:
            await self._complain(self._display_path(path), error.strerror)
            return []

    async def _stat(self, path: str) -> Stat | None:
        """Return the status of a path; None for a link that is not followed and after a reported error."""
        files = self._ctx.files
        try:
            if not self._settings.follow_links and files.stat(path, follow=False).is_link:
                return None
            return files.stat(path)
        except FileError as error:
            await self._complain(self._display_path(path), error.strerror)
            return None

    def _display_path(self, path: str) -> str:
        """Without an operand, names are shown as they are in the working directory."""
        return path if self._settings.operands else path.removeprefix("./")

    def _is_skipped(self, name: str, stat: Stat, *, typed: bool) -> bool:
        settings = self._settings
        if stat.is_dir:
            return any(self._matches(glob, name, typed) for glob in settings.folder_globs)
        if settings.skip_devices and not stat.is_file:
            return True
        for include, glob in reversed(settings.globs):
            if self._matches(glob, name, typed):
                return not include
        return bool(settings.globs) and settings.globs[0][0]

    def _matches(self, glob: Pattern, name: str, typed: bool) -> bool:
        """Names as typed may match from any slash on, names found in folders as a whole."""
        if glob.matches(name) or not typed:
            return glob.matches(name)
        return any(glob.matches(name[at + 1 :]) for at, char in enumerate(name) if char == "/")
