"""ls of busybox, whose columns are as wide for every file."""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.images.busybox.messages import WrongCall
from simcloud.machine.process import Context
from simcloud.userland.commands import UsageError, parse
from simcloud.userland.commands.file.listing import HUMAN, KIB, Cell, Details, Entry, Lister, read_settings

USAGE: Final = """\
Usage: ls [-1AaCxdLHRFplinshrSXvctu] [-w WIDTH] [FILE]...

List directory contents

\t-1\tOne column output
\t-a\tInclude names starting with .
\t-A\tLike -a, but exclude . and ..
\t-x\tList by lines
\t-d\tList directory names, not contents
\t-L\tFollow symlinks
\t-H\tFollow symlinks on command line
\t-R\tRecurse
\t-p\tAppend / to directory names
\t-F\tAppend indicator (one of */=@|) to names
\t-l\tLong format
\t-i\tList inode numbers
\t-n\tList numeric UIDs and GIDs instead of names
\t-s\tList allocated blocks
\t-lc\tList ctime
\t-lu\tList atime
\t--full-time\tList full date/time
\t-h\tHuman readable sizes (1K 243M 2G)
\t--group-directories-first
\t-S\tSort by size
\t-X\tSort by extension
\t-v\tSort by version
\t-t\tSort by mtime
\t-tc\tSort by ctime
\t-tu\tSort by atime
\t-r\tReverse sort order
\t-w N\tFormat N columns wide
\t--color[={always,never,auto}]
"""
SHORT: Final = "1AaCxdLHRFplinshrSXvctuw:"
LONG: Final = ("full-time", "group-directories-first", "color=?")
INODE, BLOCKS, LINKS, OWNER, SIZE, SHORT_SIZE = 7, 6, 4, 8, 9, 7
"""Widths of columns."""
MAJOR, MINOR = 4, 3
"""Widths of the two halves of a device's number."""


async def ls(ctx: Context) -> int:
    """List information about files; those of the current folder unless others are named."""
    try:
        options = parse(ctx.args, SHORT, LONG)
    except UsageError as mistake:
        raise WrongCall(USAGE, mistake) from None
    settings = read_settings(ctx, options)
    settings.quoting, settings.block = "literal", KIB  # ``-h`` is about sizes only
    return min(await Lister(ctx, settings, FixedColumns).run(options.operands or ["."]), 1)


class FixedColumns(Details):
    """Formats columns of fixed widths; what is too long moves the rest to the right."""

    def measure(self, entries: list[Entry]) -> list[int]:
        settings = self._settings
        self._major, self._minor = MAJOR, MINOR
        optional = [*([INODE] if settings.inode else ()), *([BLOCKS] if settings.blocks else ())]
        size = SHORT_SIZE if settings.size is HUMAN else SIZE
        return [*optional, 0, LINKS, OWNER, OWNER, size, 0]

    def _row(self, entry: Entry) -> list[Cell]:
        *others, owner, group, size, time = super()._row(entry)
        return [*others, (owner[0], False), (group[0], False), size, time]
