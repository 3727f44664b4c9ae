"""ls: list files and folders."""

from __future__ import annotations

from simcloud.machine.files import FileError
from simcloud.machine.process import Context
from simcloud.userland.commands.file.listing.details import Details
from simcloud.userland.commands.file.listing.entries import (
    Entry,
    argument_entry,
    folder_entries,
    sort_entries,
)
from simcloud.userland.commands.file.listing.labels import Painter, aligns_quotes, format_name, mark
from simcloud.userland.commands.file.listing.layout import Label, across_rows, down_columns, with_commas
from simcloud.userland.commands.file.listing.settings import OPTIONS, Settings, read_settings
from simcloud.userland.commands.file.names import complain
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.quoting import quote_name_always
from simcloud.userland.commands.text.tool import tool


@tool("ls", options=OPTIONS, trouble=2)
async def ls(ctx: Context, options: Options) -> int:
    """List information about files; those of the current folder unless others are named."""
    return await Lister(ctx, read_settings(ctx, options)).run(options.operands or ["."])


class Lister:
    """Lists files and folders as the settings want it; ``details`` formats the long format's columns."""

    def __init__(self, ctx: Context, settings: Settings, details: type[Details] = Details) -> None:
        self._ctx = ctx
        self._settings = settings
        self._details = details
        self._painter = Painter(ctx.env) if settings.color else None
        self._status = 0
        self._printed = False

    async def run(self, paths: list[str]) -> int:
        """List what the words name: what is no folder first."""
        entries = []
        for path in paths:
            try:
                entries.append(argument_entry(self._ctx, self._settings, path))
            except FileError as error:
                await complain(self._ctx, f"cannot access {quote_name_always(path)}", error)
                self._status = 2
        entries = sort_entries(self._settings, entries)
        files = [e for e in entries if not e.is_folder or self._settings.folders_themselves]
        folders = [e for e in entries if e not in files]
        if files:
            await self._print(files, measured=entries)
        titled = len(paths) > 1 or self._settings.recursive
        await self._folders(folders, titled)
        return self._status

    async def _folders(self, folders: list[Entry], titled: bool) -> None:
        pending = [(folder, True) for folder in reversed(folders)]
        while pending:
            folder, named = pending.pop()
            try:
                entries, status = await folder_entries(self._ctx, self._settings, folder.path)
            except FileError as error:
                await complain(self._ctx, f"cannot open directory {quote_name_always(folder.path)}", error)
                self._status = max(self._status, 2 if named else 1)
                continue
            self._status = max(self._status, status)
            await self._print_folder(folder, entries, titled)
            if self._settings.recursive:
                below = [e for e in entries if e.is_folder and e.name not in (".", "..")]
                pending += [(entry, False) for entry in reversed(below)]

    async def _print_folder(self, folder: Entry, entries: list[Entry], titled: bool) -> None:
        settings = self._settings
        if self._printed:
            await self._ctx.out("\n")
        if titled:
            await self._ctx.out(f"{folder.path}:\n")
        self._printed = True
        if settings.format == "verbose" or settings.blocks:
            total = sum(entry.stat.blocks for entry in entries if entry.stat is not None)
            await self._ctx.out(f"total {settings.block.show(total * 512)}{settings.end}")
        await self._print(entries)

    async def _print(self, entries: list[Entry], measured: list[Entry] | None = None) -> None:
        """Print entries in columns wide enough for those that are ``measured``, too."""
        self._printed = True
        text = self._text(entries, measured or entries)
        self._ctx.spend_bytes(len(text))
        await self._ctx.out(text)

    def _text(self, entries: list[Entry], measured: list[Entry]) -> str:
        settings = self._settings
        names = self._names(entries)
        if settings.format == "verbose":
            prefixes = self._details(self._ctx, settings).prefixes(entries, measured)
            return "".join(f"{a}{b.text}{settings.end}" for a, b in zip(prefixes, names, strict=True))
        labels = self._with_numbers(entries, names)
        if settings.format == "commas":
            return with_commas(labels, settings.width)
        if settings.format == "vertical":
            return down_columns(labels, settings.width, settings.tab)
        if settings.format == "horizontal":
            return across_rows(labels, settings.width, settings.tab)
        return "".join(f"{label.text}{settings.end}" for label in labels)

    def _names(self, entries: list[Entry]) -> list[Label]:
        settings = self._settings
        shown = [format_name(settings, entry.name) for entry in entries]
        some_quoted = aligns_quotes(settings) and any(
            text != entry.name for text, entry in zip(shown, entries, strict=True)
        )
        labels = []
        for text, entry in zip(shown, entries, strict=True):
            indent = " " if some_quoted and text == entry.name else ""
            labels.append(self._label(entry, text, indent))
        return labels

    def _label(self, entry: Entry, text: str, indent: str) -> Label:
        settings = self._settings
        painted = text if self._painter is None else self._painter.paint(text, entry, entry.stat)
        if settings.format != "verbose" or entry.stat is None or not entry.stat.is_link:
            sign = mark(settings, entry.stat)
            return Label(f"{indent}{painted}{sign}", len(indent) + _width(text) + len(sign))
        target = format_name(settings, entry.target)
        if self._painter is not None and entry.target_stat is not None:
            target = self._painter.paint(
                target, Entry(entry.target, "", entry.target_stat), entry.target_stat
            )
        sign = "" if settings.indicator == "slash" else mark(settings, entry.target_stat)
        return Label(f"{indent}{painted} -> {target}{sign}", 0)

    def _with_numbers(self, entries: list[Entry], names: list[Label]) -> list[Label]:
        """Add the inode and the blocks before each name, according to the options."""
        settings = self._settings
        columns = []
        if settings.inode:
            columns.append([str(entry.stat.ino) if entry.stat else "?" for entry in entries])
        if settings.blocks:
            columns.append(
                [settings.block.show(entry.stat.blocks * 512) if entry.stat else "?" for entry in entries]
            )
        if settings.context:
            columns.append(["?" for _ in entries])
        for cells in reversed(columns):
            width = 0 if settings.format == "commas" else max(map(len, cells), default=0)
            names = [
                Label(f"{cell.rjust(width)} {label.text}", max(width, len(cell)) + 1 + label.width)
                for cell, label in zip(cells, names, strict=True)
            ]
        return names


def _width(text: str) -> int:
    """In the C locale every byte takes one place."""
    return len(text.encode("utf-8", "surrogateescape"))
