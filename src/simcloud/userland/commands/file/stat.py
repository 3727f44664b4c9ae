"""stat: print the status of files, in the default or a custom format."""

from __future__ import annotations

import stat as bits
from collections.abc import Callable
from typing import Final

from simcloud.machine.files import FileError, Stat
from simcloud.machine.process import Context
from simcloud.userland.commands.file.directives import Directive, expand
from simcloud.userland.commands.file.names import complain
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.system.accounts import Accounts
from simcloud.userland.commands.system.dates import Moment, format_moment, zone_of
from simcloud.userland.commands.text.quoting import quote_name_always
from simcloud.userland.commands.text.tool import misuse, one_of, tool

TIME: Final = "%Y-%m-%d %H:%M:%S.%N %z"
KINDS: Final = {bits.S_IFREG: "regular file", bits.S_IFDIR: "directory", bits.S_IFLNK: "symbolic link",
                bits.S_IFIFO: "fifo", bits.S_IFCHR: "character special file", bits.S_IFBLK: "block special file",
                bits.S_IFSOCK: "socket"}  # fmt: skip
TERSE: Final = "%n %s %b %f %u %g %D %i %h %t %T %X %Y %Z %W %o\n"
SYSTEM_TERSE: Final = "%n %i %l %t %s %S %b %f %a %c %d\n"
ACCESS: Final = "Access: (%04a/%10.10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)\nAccess: %x\nModify: %y\nChange: %z\n Birth: %w\n"
FULL: Final = (
    "  File: %N\n  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F\nDevice: %Hd,%Ld\tInode: %-10i  Links: "
)
PLAIN: Final = f"{FULL}%h\n{ACCESS}"
DEVICE: Final = f"{FULL}%-5h Device type: %Hr,%Lr\n{ACCESS}"
SYSTEM: Final = (
    '  File: "%n"\n    ID: %-8i Namelen: %-7l Type: %T\nBlock size: %-10s Fundamental block size: %S\n'
    "Blocks: Total: %-10b Free: %-10f Available: %a\nInodes: Total: %-10c Free: %d\n"
)
MAGIC: Final = {"ext4": ("ef53", "ext2/ext3"), "proc": ("9fa0", "proc"), "tmpfs": ("1021994", "tmpfs"), "nfs4": ("6969", "nfs"),
                "sysfs": ("62656572", "sysfs"), "cgroup2": ("63677270", "cgroup2fs"),
                "devtmpfs": ("1021994", "tmpfs"), "overlay": ("794c7630", "overlayfs")}  # fmt: skip
MODIFIERS: Final = "HL"
BLOCK_BYTES: Final = 4096
NFS_BLOCK_BYTES: Final = 1_048_576
"""Blocks of a remote file system have the size of the largest transfer."""


def kind_of(found: Stat) -> str:
    """Return the type of a file in words."""
    if found.is_file and found.size == 0:
        return "regular empty file"
    return KINDS.get(bits.S_IFMT(found.mode), "weird file")


@tool(
    "stat",
    options="L,dereference f,file-system cached= c,format= printf= t,terse",
    usage="[OPTION]... FILE...",
)
async def stat(ctx: Context, options: Options) -> int:
    """Print all that is known about files or, with -f, about their file systems."""
    if options.any("cached"):
        one_of(ctx, "cached", options.last("cached"), ("default", "never", "always"))
    if not options.operands:
        misuse(ctx, "missing operand")
    form, escapes = "", False
    for option, value in options.given:
        if option in ("c", "printf"):
            form, escapes = (value, True) if option == "printf" else (value + "\n", False)
    reporter = _Reporter(ctx)
    status = 0
    for path in options.operands:
        try:
            if options.any("f"):
                chosen = form or (SYSTEM_TERSE if options.any("t") else SYSTEM)
                text = expand(chosen, reporter.system_values(path), escapes, MODIFIERS)
            else:
                found = ctx.files.stat(path, follow=options.any("L"))
                chosen = form or (TERSE if options.any("t") else DEVICE if found.is_device else PLAIN)
                text = expand(chosen, reporter.values(path, found, quotes=bool(form)), escapes, MODIFIERS)
        except FileError as error:
            what = "cannot read file system information for" if options.any("f") else "cannot statx"
            status = await complain(ctx, f"{what} {quote_name_always(path)}", error)
            continue
        for escape in text.odd:
            known = f"unrecognized escape '{escape}'" if escape != "\\" else "backslash at end of format"
            await complain(ctx, f"warning: {known}")
            text.text = text.text.replace(escape, escape[1:] or escape, 1)
        await ctx.out(text.text)
    return status


class _Reporter:
    """Computes the value of every directive for a file."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._accounts = Accounts(ctx.files)
        self._zone = zone_of(ctx.env)

    def values(self, path: str, found: Stat, quotes: bool) -> Callable[[Directive], str]:
        """Return the values of the directives of ``stat`` for this file."""
        name = quote_name_always if quotes else str
        words: dict[str, Callable[[], str]] = {
            "A": lambda: bits.filemode(found.mode),
            "B": lambda: "512",
            "C": lambda: "?",
            "D": lambda: f"{found.dev:x}",
            "F": lambda: kind_of(found),
            "G": lambda: self._accounts.group_name(found.gid) or "UNKNOWN",
            "N": lambda: (
                name(path) + (f" -> {name(self._ctx.files.readlink(path))}" if found.is_link else "")
            ),
            "R": lambda: f"{found.rdev:x}",
            "T": lambda: f"{found.rdev & 0xFF:x}",
            "U": lambda: self._accounts.user_name(found.uid) or "UNKNOWN",
            "a": lambda: f"{found.mode & 0o7777:o}",
            "f": lambda: f"{found.mode:x}",
            "m": lambda: self._ctx.files.space(path).mounted_on,
            "n": lambda: path,
            "t": lambda: f"{found.rdev >> 8:x}",
            "w": lambda: "-",
            "x": lambda: self._format_time(found.atime),
            "y": lambda: self._format_time(found.mtime),
            "z": lambda: self._format_time(found.ctime),
        }
        numbers = {"b": found.blocks, "d": found.dev, "g": found.gid, "h": found.nlink, "i": found.ino,
                   "o": BLOCK_BYTES, "r": found.rdev, "s": found.size, "u": found.uid}  # fmt: skip
        times = {"W": 0.0, "X": found.atime, "Y": found.mtime, "Z": found.ctime}
        halves = {"d": found.dev, "r": found.rdev}

        def value(directive: Directive) -> str:
            letter = directive.letter
            if directive.modifier and letter in halves:
                number = halves[letter]
                return directive.pad(str(number >> 8 if directive.modifier == "H" else number & 0xFF))
            if letter in times:
                return _seconds(directive, Moment.of(times[letter]))
            if letter in numbers:
                return directive.pad(str(numbers[letter]))
            return directive.pad(words[letter](), cut=letter not in "atfDRT") if letter in words else "?"

        return value

    def system_values(self, path: str) -> Callable[[Directive], str]:
        """Return the values of the directives of ``stat -f`` for the file system of a path."""
        space = self._ctx.files.space(path)
        magic, kind = MAGIC.get(space.fstype, ("ef53", "ext2/ext3"))
        remote = space.fstype == "nfs4"
        block = NFS_BLOCK_BYTES if remote else BLOCK_BYTES
        identity = f"{self._ctx.files.stat(path).dev:x}" if not remote else "0"
        sizes = (space.total_bytes, space.free_bytes, space.available_bytes)
        total, free, available = (str(size // block) for size in sizes)
        words = {"n": path, "i": identity, "l": "255", "t": magic, "T": kind, "s": str(block), "S": str(block), "b": total,
                 "f": free, "a": available, "c": str(space.inodes), "d": str(space.inodes - space.inodes_used)}  # fmt: skip

        def value(directive: Directive) -> str:
            return directive.pad(words[directive.letter]) if directive.letter in words else "?"

        return value

    def _format_time(self, time: float) -> str:
        return format_moment(Moment.of(time), TIME, self._zone)


def _seconds(directive: Directive, moment: Moment) -> str:
    """Seconds since 1970; a precision adds digits of the fraction."""
    if directive.precision is None:
        return directive.pad(str(moment.seconds))
    digits = min(directive.precision or 9, 9)
    return directive.pad(f"{moment.seconds}.{moment.nanos:09d}"[: -9 + digits or None], cut=False)
