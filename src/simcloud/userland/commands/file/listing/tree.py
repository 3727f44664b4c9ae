"""tree: print folders as a tree."""

from __future__ import annotations

import stat as bits
from collections.abc import Iterator
from typing import Final, NamedTuple

from msgspec import Struct

from simcloud.machine.files import FileError, Stat
from simcloud.machine.process import Context
from simcloud.patterns import is_utf8_locale
from simcloud.userland.bash.patterns import Pattern, compile_pattern
from simcloud.userland.commands.file.names import join
from simcloud.userland.commands.file.sizes import human
from simcloud.userland.commands.options import Options, UsageError, parse
from simcloud.userland.commands.registry import command
from simcloud.userland.commands.system.accounts import Accounts
from simcloud.userland.commands.system.dates import Moment, format_moment, zone_of

USAGE: Final = "usage: tree [-adDfFghilprstu] [-L level] [-P pattern] [-I pattern] [--dirsfirst] [--noreport] [directory ...]"
LONG: Final = ("dirsfirst", "noreport", "charset=", "inodes", "ignore-case", "version", "help")


class _Strokes(NamedTuple):
    """The characters of the tree's lines."""

    middle: str
    last: str
    passing: str


ASCII: Final = _Strokes("|-- ", "`-- ", "|   ")
BOXES: Final = _Strokes("├── ", "└── ", "│\u00a0\u00a0 ")


class _Step(Struct):
    """An entry to show below ``prefix``."""

    path: str
    name: str
    stat: Stat
    level: int
    prefix: str
    is_last: bool


@command("tree")
async def tree(ctx: Context) -> int:
    """Show folders and what is in them as a tree."""
    try:
        options = parse(ctx.args, "adDfFghiI:lL:npP:rstu", LONG)
    except UsageError as mistake:
        option = str(mistake).partition("\n")[0].rpartition(" '")[2].rstrip("'")
        dash = "" if option.startswith("-") else "-"
        raise UsageError(f"tree: Invalid argument {dash}`{option}'.\n{USAGE}") from None
    if options.any("version", "help"):
        await ctx.out("tree v2.1.0\n" if options.any("version") else f"{USAGE}\n")
        return 0
    level = options.last("L")
    if options.any("L") and not (
        level.isdecimal() and level.isascii() and int(level[:9]) > 0 and len(level) < 10
    ):
        raise UsageError("tree: Invalid level, must be greater than 0.")
    drawing = _Tree(ctx, options, int(level) if level else 1 << 30)
    status = 0
    for root in options.operands or ["."]:
        status = await drawing.draw(root) or status
    if not options.any("noreport"):
        await ctx.out(drawing.report())
    return status


class _Tree:
    def __init__(self, ctx: Context, options: Options, depth: int) -> None:
        self._ctx = ctx
        self._options = options
        self._depth = depth
        boxes = (
            is_utf8_locale(ctx.env)
            if not options.any("charset")
            else "utf" in options.last("charset").lower()
        )
        self._strokes = BOXES if boxes else ASCII
        self._accounts = Accounts(ctx.files)
        self._hidden = _patterns(options.last("I"), options.any("ignore-case"))
        self._shown = _patterns(options.last("P"), options.any("ignore-case"))
        self._folders = self._files = 0

    async def draw(self, root: str) -> int:
        """One tree; the status."""
        ctx = self._ctx
        if not ctx.files.is_dir(root):
            await ctx.out(f"{root}  [error opening dir]\n")
            self._files += ctx.files.exists(root)
            return 2
        found = ctx.files.stat(root)
        self._folders += 1
        await ctx.out(f"{self._facts(found)}{root}{'/' if self._options.any('F') else ''}\n")
        steps = list(reversed([*self._entries(root, 1, "")]))
        while steps:
            ctx.spend_turn()
            step = steps.pop()
            await ctx.out(self._line(step))
            if step.stat.is_dir:
                self._folders += 1
                if step.level < self._depth:
                    prefix = step.prefix + ("    " if step.is_last else self._strokes.passing)
                    steps += reversed([*self._entries(step.path, step.level + 1, prefix)])
            else:
                self._files += 1
        return 0

    def report(self) -> str:
        """The counts at the end."""
        folders = f"{self._folders} director{'y' if self._folders == 1 else 'ies'}"
        files = f", {self._files} file{'' if self._files == 1 else 's'}"
        return f"\n{folders}{'' if self._options.any('d') else files}\n"

    def _entries(self, folder: str, level: int, prefix: str) -> Iterator[_Step]:
        options, files = self._options, self._ctx.files
        entries = []
        try:
            names = files.listdir(folder)
        except FileError:
            names = []
        for name in names:
            path = join(folder, name)
            found = files.stat(path, follow=False)
            if self._is_wanted(name, found):
                entries.append((name, path, found))
        if options.any("t"):
            entries.sort(key=lambda entry: entry[2].mtime)
        if options.any("r"):
            entries.reverse()
        if options.any("dirsfirst"):
            entries.sort(key=lambda entry: not entry[2].is_dir)
        for number, (name, path, found) in enumerate(entries, 1):
            yield _Step(path, name, found, level, prefix, number == len(entries))

    def _is_wanted(self, name: str, found: Stat) -> bool:
        if name.startswith(".") and not self._options.any("a"):
            return False
        if any(pattern.matches(name) for pattern in self._hidden):
            return False
        if found.is_dir:
            return True
        if self._options.any("d"):
            return False
        return not self._shown or any(pattern.matches(name) for pattern in self._shown)

    def _line(self, step: _Step) -> str:
        options = self._options
        stroke = (
            ""
            if options.any("i")
            else step.prefix + (self._strokes.last if step.is_last else self._strokes.middle)
        )
        name = step.path if options.any("f") else step.name
        if step.stat.is_link:
            name += f" -> {self._ctx.files.readlink(step.path)}"
        elif options.any("F"):
            name += _mark(step.stat)
        return f"{stroke}{self._facts(step.stat)}{name}\n"

    def _facts(self, found: Stat) -> str:
        options, facts = self._options, []
        if options.any("inodes"):
            facts.append(f"{found.ino:7d}")
        if options.any("p"):
            facts.append(bits.filemode(found.mode))
        if options.any("u"):
            facts.append(f"{self._accounts.user(found.uid):<8}")
        if options.any("g"):
            facts.append(f"{self._accounts.group(found.gid):<8}")
        if options.any("h"):
            facts.append(f"{human(found.size):>4}")
        elif options.any("s"):
            facts.append(f"{found.size:11d}")
        if options.any("D"):
            facts.append(format_moment(Moment.of(found.mtime), "%b %e %H:%M", zone_of(self._ctx.env)))
        return f"[{' '.join(facts)}]  " if facts else ""


def _patterns(text: str, nocase: bool) -> list[Pattern]:
    return [compile_pattern(pattern, nocase=nocase) for pattern in text.split("|") if pattern]


def _mark(found: Stat) -> str:
    if found.is_dir:
        return "/"
    if found.is_fifo:
        return "|"
    return "*" if found.is_file and found.mode & 0o111 else ""
