"""The long format of ls: mode, links, owner, size and time in aligned columns."""

from __future__ import annotations

import stat as bits
from typing import Final

from simcloud.machine.files import Stat
from simcloud.machine.process import Context
from simcloud.userland.commands.file.listing.entries import Entry, time_of
from simcloud.userland.commands.file.listing.settings import Settings
from simcloud.userland.commands.system.accounts import Accounts
from simcloud.userland.commands.system.dates import Moment, format_moment, zone_of

HALF_YEAR_S: Final = 31_556_952 / 2
Cell = tuple[str, bool]
"""A text and whether it stands on the right."""


class Details:
    """Formats the columns before names."""

    def __init__(self, ctx: Context, settings: Settings) -> None:
        self._settings = settings
        self._accounts = Accounts(ctx.files)
        self._zone = zone_of(ctx.env)
        self._now = ctx.now
        self._major = self._minor = 0

    def prefixes(self, entries: list[Entry], measured: list[Entry]) -> list[str]:
        """For each entry what stands before its name, the space included.

        The columns are as wide as those that are ``measured`` need, entries or not.
        """
        widths = self.measure(measured)
        return [
            "".join(
                (text.rjust(width) if right else text.ljust(width)) + " "
                for (text, right), width in zip(self._row(entry), widths, strict=True)
            )
            for entry in entries
        ]

    def measure(self, entries: list[Entry]) -> list[int]:
        """Return the widths of the columns: what these entries need."""
        self._measure_devices(entries)
        rows = [self._row(entry) for entry in entries]
        return [max(len(row[column][0]) for row in rows) for column in range(len(rows[0]))] if rows else []

    def _row(self, entry: Entry) -> list[Cell]:
        settings, found = self._settings, entry.stat
        cells: list[Cell] = []
        if settings.inode:
            cells.append((str(found.ino) if found else "?", True))
        if settings.blocks:
            cells.append((settings.block.show(found.blocks * 512) if found else "?", True))
        cells += [self._mode(found), (str(found.nlink) if found else "?", True)]
        if settings.owner:
            cells.append(self._owner(found))
        if settings.group:
            cells.append(self._group(found))
        if settings.author:
            cells.append(self._owner(found))
        if settings.context:
            cells.append(("?", False))
        return [*cells, (self._size(found), True), self._time(found)]

    def _mode(self, found: Stat | None) -> Cell:
        return ("?????????" if found is None else bits.filemode(found.mode)).rjust(10, "-"), False

    def _owner(self, found: Stat | None) -> Cell:
        if found is None:
            return "?", False
        name = None if self._settings.numeric else self._accounts.user_name(found.uid)
        return name or str(found.uid), name is None

    def _group(self, found: Stat | None) -> Cell:
        if found is None:
            return "?", False
        name = None if self._settings.numeric else self._accounts.group_name(found.gid)
        return name or str(found.gid), name is None

    def _size(self, found: Stat | None) -> str:
        if found is None:
            return "?"
        if found.is_device:
            return f"{found.rdev >> 8:{self._major}d}, {found.rdev & 0xFF:{self._minor}d}"
        return self._settings.size.show(found.size)

    def _measure_devices(self, entries: list[Entry]) -> None:
        """The two halves of a device's number stand in columns of their own."""
        devices = [entry.stat for entry in entries if entry.stat is not None and entry.stat.is_device]
        self._major = max((len(str(found.rdev >> 8)) for found in devices), default=0)
        self._minor = max((len(str(found.rdev & 0xFF)) for found in devices), default=0)

    def _time(self, found: Stat | None) -> Cell:
        older, recent = self._settings.time_formats
        if found is None:
            return "?".rjust(len(format_moment(Moment.of(self._now), recent, self._zone))), True
        moment = time_of(self._settings, found)
        is_recent = self._now - HALF_YEAR_S < moment <= self._now
        return format_moment(Moment.of(moment), recent if is_recent else older, self._zone), False
