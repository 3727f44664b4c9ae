"""The entries of a folder and their order."""

from __future__ import annotations

from msgspec import Struct

from simcloud.machine.files import FileError, Stat
from simcloud.machine.process import Context
from simcloud.userland.commands.file.listing.settings import Follow, Settings
from simcloud.userland.commands.file.names import complain, join
from simcloud.userland.commands.text.order.sort_values import version
from simcloud.userland.commands.text.quoting import quote_name_always


class Entry(Struct):
    """A name, its path, and its status, or None if that could not be read."""

    name: str
    path: str
    stat: Stat | None
    target: str = ""
    target_stat: Stat | None = None

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder, as far as is known."""
        return self.stat is not None and self.stat.is_dir


def argument_entry(ctx: Context, settings: Settings, path: str) -> Entry:
    """Return the entry of an operand. Raises ``FileError``."""
    files, follow = ctx.files, settings.follow
    if follow in (Follow.ALL, Follow.ARGUMENTS):
        return Entry(path, path, files.stat(path))
    if follow is Follow.ARGUMENTS_TO_FOLDERS and files.is_dir(path):
        return Entry(path, path, files.stat(path))
    return _with_target(ctx, Entry(path, path, files.stat(path, follow=False)))


async def folder_entries(ctx: Context, settings: Settings, path: str) -> tuple[list[Entry], int]:
    """Return the sorted entries of a folder and the status. Raises ``FileError`` for the folder itself."""
    entries, status = [], 0
    for name in _names(settings, ctx.files.listdir(path)):
        ctx.spend_turn()
        entry = Entry(name, join(path, name), None)
        try:
            entry.stat = ctx.files.stat(entry.path, follow=settings.follow is Follow.ALL)
        except FileError as error:
            status = await complain(ctx, f"cannot access {quote_name_always(entry.path)}", error)
        entries.append(_with_target(ctx, entry))
    return sort_entries(settings, entries), status


def _with_target(ctx: Context, entry: Entry) -> Entry:
    if entry.stat is not None and entry.stat.is_link:
        entry.target = ctx.files.readlink(entry.path)
        if ctx.files.exists(entry.path):
            entry.target_stat = ctx.files.stat(entry.path)
    return entry


def _names(settings: Settings, names: list[str]) -> list[str]:
    if settings.all == "all":
        names = [".", "..", *names]
    elif not settings.all:
        names = [
            name
            for name in names
            if not name.startswith(".") and not any(pattern.matches(name) for pattern in settings.hidden)
        ]
    return [name for name in names if not any(pattern.matches(name) for pattern in settings.ignored)]


def sort_entries(settings: Settings, entries: list[Entry]) -> list[Entry]:
    """Sort entries according to the options."""
    if settings.sort == "none":
        return entries
    entries = sorted(entries, key=lambda entry: _bytes(entry.name))
    if settings.sort == "size":
        entries.sort(key=lambda entry: -entry.stat.size if entry.stat else 0)
    elif settings.sort == "time":
        entries.sort(key=lambda entry: -time_of(settings, entry.stat) if entry.stat else 0)
    elif settings.sort == "extension":
        entries.sort(
            key=lambda entry: _bytes("." + entry.name.rpartition(".")[2] if "." in entry.name else "")
        )
    elif settings.sort == "version":
        entries.sort(key=lambda entry: version(_bytes(entry.name)))
    elif settings.sort == "width":
        entries.sort(key=lambda entry: len(entry.name))
    if settings.reverse:
        entries.reverse()
    if settings.folders_first:
        entries.sort(key=lambda entry: not (entry.is_folder or _leads_to_folder(entry)))
    return entries


def _leads_to_folder(entry: Entry) -> bool:
    return entry.target_stat is not None and entry.target_stat.is_dir


def time_of(settings: Settings, found: Stat) -> float:
    """The time that is sorted by and shown. When a file was made is not known: that is 1970."""
    return {"mtime": found.mtime, "atime": found.atime, "ctime": found.ctime, "birth": 0.0}[settings.time]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
