"""``-printf``: format the properties of a file."""

from __future__ import annotations

import stat as bits
from collections.abc import Callable
from typing import Final

from simcloud.machine.files import FileError, Stat
from simcloud.userland.commands.file.directives import Directive, expand
from simcloud.userland.commands.file.find.search import Found, Search
from simcloud.userland.commands.system.dates import Moment, Zone, format_moment, zone_of

KIND_LETTERS: Final = {bits.S_IFREG: "f", bits.S_IFDIR: "d", bits.S_IFLNK: "l", bits.S_IFIFO: "p", bits.S_IFCHR: "c",
                       bits.S_IFBLK: "b", bits.S_IFSOCK: "s"}  # fmt: skip
TIME_KINDS: Final = "ACTB"
TIME_LETTERS: Final = "@+HIklMprSTXZaAbBcdDhjmUwWxyYFuVgGRsn%t"
WITH_FRACTION: Final = {"S": "%S.{}", "T": "%H:%M:%S.{}", "X": "%H:%M:%S.{}", "+": "%Y-%m-%d+%H:%M:%S.{}",
                        "full": "%a %b %e %H:%M:%S.{} %Y", "@": "%s.{}"}  # fmt: skip


def file_printf(search: Search, form: str, found: Found) -> str:
    """The format with everything about this file put in."""
    printer = _Printer(search, found)
    return expand(form, lambda directive: printer.value(form, directive), True, TIME_KINDS).text


def odd_directives(form: str) -> list[str]:
    """Return find's warnings about a format."""
    odd: list[str] = []

    def check(directive: Directive) -> str:
        is_time = directive.modifier and directive.letter in TIME_LETTERS
        if not is_time and directive.letter not in VALUES and directive.letter not in "act":
            odd.append(f"unrecognized format directive `%{form[directive.start + 1 : directive.end]}'")
        return ""

    expanded = expand(form, check, True, TIME_KINDS)
    return odd + [f"unrecognized escape `{escape}'" for escape in expanded.odd]


class _Printer:
    def __init__(self, search: Search, found: Found) -> None:
        self.search = search
        self.found = found
        self._zone: Zone = zone_of(search.ctx.env)

    def value(self, form: str, directive: Directive) -> str:
        stat, letter = self.found.stat, directive.letter
        times = {"A": stat.atime, "C": stat.ctime, "T": stat.mtime, "B": stat.ctime}
        if directive.modifier:
            return directive.pad(self._time(times[directive.modifier], letter))
        if letter in ("a", "c", "t"):
            return directive.pad(self._time(times[letter.upper()], "full"))
        make = VALUES.get(letter)
        return form[directive.start : directive.end] if make is None else directive.pad(make(self))

    def _time(self, time: float, letter: str) -> str:
        moment = Moment.of(time)
        form = WITH_FRACTION.get(letter, f"%{letter}").format(f"{moment.nanos:09d}0")
        return format_moment(moment, form, self._zone)

    def target_kind(self) -> str:
        """The kind at the other end of a link: N for nothing there, L for a loop."""
        try:
            return _kind(self.search.ctx.files.stat(self.found.path))
        except FileError as error:
            return {"ENOENT": "N", "ENOTDIR": "N", "ELOOP": "L"}.get(error.code, "?")

    def target(self) -> str:
        return self.search.ctx.files.readlink(self.found.path) if self.found.stat.is_link else ""

    def below_root(self) -> str:
        """The path without its starting point."""
        return self.found.path[len(self.found.root) :].lstrip("/")

    def folder(self) -> str:
        folder, slash, name = self.found.path.rpartition("/")
        return (folder if name else self.found.path) if slash else "."


def _kind(stat: Stat) -> str:
    return KIND_LETTERS.get(bits.S_IFMT(stat.mode), "U")


VALUES: Final[dict[str, Callable[[_Printer], str]]] = {
    "b": lambda p: str(p.found.stat.blocks),
    "d": lambda p: str(p.found.depth),
    "D": lambda p: str(p.found.stat.dev),
    "f": lambda p: p.found.name,
    "F": lambda p: p.search.ctx.files.space(p.found.path).fstype,
    "g": lambda p: p.search.accounts.group(p.found.stat.gid),
    "G": lambda p: str(p.found.stat.gid),
    "h": lambda p: p.folder(),
    "H": lambda p: p.found.root,
    "i": lambda p: str(p.found.stat.ino),
    "k": lambda p: str(-(-p.found.stat.blocks // 2)),
    "l": lambda p: p.target(),
    "m": lambda p: f"{p.found.stat.mode & 0o7777:o}",
    "M": lambda p: bits.filemode(p.found.stat.mode),
    "n": lambda p: str(p.found.stat.nlink),
    "p": lambda p: p.found.path,
    "P": lambda p: p.below_root(),
    "s": lambda p: str(p.found.stat.size),
    "S": lambda p: f"{p.found.stat.blocks * 512 / p.found.stat.size:g}" if p.found.stat.size else "1",
    "u": lambda p: p.search.accounts.user(p.found.stat.uid),
    "U": lambda p: str(p.found.stat.uid),
    "y": lambda p: _kind(p.found.stat),
    "Y": lambda p: p.target_kind() if p.found.stat.is_link else _kind(p.found.stat),
}
