"""In-place editing: the result replaces the file, and the old file may be kept as a backup."""

from __future__ import annotations

from simcloud.machine.files import FileError
from simcloud.machine.process import Context
from simcloud.userland.commands.sed.output import PANIC
from simcloud.userland.commands.sed.reader import ScriptError

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


class InPlace:
    """Replaces files one by one. ``suffix`` names the backups; empty means none."""

    def __init__(self, ctx: Context, suffix: str, *, follow_links: bool) -> None:
        self._ctx = ctx
        self._suffix = suffix
        self._follow_links = follow_links
        self._path = ""

    def begin(self, path: str) -> None:
        """Start on a file, which must be a regular one."""
        if path == "-" or not self._ctx.files.is_file(path):
            raise ScriptError(f"couldn't edit {path}: not a regular file", PANIC)
        self._path = self._ctx.files.realpath(path) if self._follow_links else path

    def commit(self, data: bytes) -> None:
        """Put the result in the file's place, with its mode and owner."""
        files = self._ctx.files
        folder = self._path.rpartition("/")[0] or ("/" if self._path.startswith("/") else ".")
        letters = self._ctx.random("sed").choices(_LETTERS, k=6)
        temporary = f"{folder.rstrip('/')}/sed{''.join(letters)}"
        stat = files.stat(self._path)
        try:
            files.write(temporary, b"", mode=0o600)
        except FileError as error:
            raise ScriptError(f"couldn't open temporary file {temporary}: {error.strerror}", PANIC) from None
        try:
            files.write(temporary, data)
            files.chown(temporary, stat.uid, stat.gid)
            files.chmod(temporary, stat.mode & 0o7777)
        except FileError as error:
            files.remove(temporary)
            raise ScriptError(f"couldn't flush {temporary}: {error.strerror}", PANIC) from None
        if self._suffix:
            self._rename(self._path, self._backup_path(), temporary)
        self._rename(temporary, self._path, temporary)

    def _rename(self, source: str, target: str, temporary: str) -> None:
        try:
            self._ctx.files.rename(source, target)
        except FileError as error:
            self._ctx.files.remove(temporary)
            raise ScriptError(f"cannot rename {source}: {error.strerror}", PANIC) from None

    def _backup_path(self) -> str:
        folder, slash, name = self._path.rpartition("/")
        backup = self._suffix.replace("*", name) if "*" in self._suffix else name + self._suffix
        return backup if "/" in backup else f"{folder}{slash}{backup}"
