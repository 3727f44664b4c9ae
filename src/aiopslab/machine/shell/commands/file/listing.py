"""ls, as GNU coreutils print it when not on a terminal; and tree."""

from __future__ import annotations

import stat as bits
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from aiopslab.machine.files import FileError, Stat
from aiopslab.machine.process import Context
from aiopslab.machine.shell.commands.file.problems import join
from aiopslab.machine.shell.commands.options import Options, parse
from aiopslab.machine.shell.commands.registry import command
from aiopslab.machine.shell.commands.system.identity import name_of
from aiopslab.machine.shell.commands.system.status import human

SHORT: Final = "laA1RdhStrFpinsogXUcumBCxfkGqQNHLvI:w:T:Z"
LONG: Final = (
    "all", "almost-all", "human-readable", "recursive", "directory", "reverse", "classify=?", "color=?", "inode",
    "full-time", "time-style=", "sort=", "time=", "group-directories-first", "ignore=", "numeric-uid-gid", "size",
    "no-group", "dereference", "format=", "si", "quote-name", "literal", "hide=",
)  # fmt: skip
HALF_YEAR_S: Final = 31_556_952 / 2


@dataclass(slots=True)
class _Entry:
    name: str
    path: str
    stat: Stat


@command("ls", "dir", "vdir")
async def ls(ctx: Context) -> int:
    """List files and folders."""
    options = parse(ctx.args, SHORT, LONG)
    status = 0
    files: list[_Entry] = []
    folders: list[_Entry] = []
    for path in options.operands or ["."]:
        try:
            follow = not options.any("l", "d", "directory") or path.endswith("/") or options.any("L")
            try:
                found = ctx.files.stat(path, follow=follow)
            except FileError:
                if not follow:
                    raise
                found = ctx.files.stat(path, follow=False)
            entry = _Entry(path, path, found)
        except FileError as error:
            await ctx.err(f"ls: cannot access '{path}': {error.strerror}\n")
            status = 2
            continue
        (folders if entry.stat.is_dir and not options.any("d", "directory") else files).append(entry)
    files, folders = _sort(options, files), _sort(options, folders)
    blocks = []
    if files:
        blocks.append(_lines(ctx, options, files))
    titled = len(folders) + len(files) > 1 or status or options.any("R", "recursive")
    for folder in folders:
        status = await _folder(ctx, options, folder, bool(titled), blocks) or status
    await ctx.out("\n".join(blocks))
    return status


async def _folder(ctx: Context, options: Options, folder: _Entry, titled: bool, blocks: list[str]) -> int:
    ctx.spend_turn()
    try:
        entries = _entries(ctx, options, folder.path)
    except FileError as error:
        await ctx.err(f"ls: cannot open directory '{folder.path}': {error.strerror}\n")
        return 2 if not options.any("R", "recursive") else 1
    text = f"{folder.path}:\n" if titled else ""
    if options.any("l", "s", "n", "o", "g", "size"):
        text += f"total {_total(options, entries)}\n"
    blocks.append(text + _lines(ctx, options, entries))
    status = 0
    if options.any("R", "recursive"):
        for entry in entries:
            if entry.stat.is_dir and entry.name not in (".", ".."):
                status = await _folder(ctx, options, entry, True, blocks) or status
    return status


def _entries(ctx: Context, options: Options, path: str) -> list[_Entry]:
    names = ctx.files.listdir(path)
    if options.any("a", "all", "f"):
        names = [".", "..", *names]
    elif not options.any("A", "almost-all"):
        names = [name for name in names if not name.startswith(".")]
    entries = []
    for name in names:
        where = join(path, name)
        try:
            entries.append(_Entry(name, where, ctx.files.stat(where, follow=options.any("L", "dereference"))))
        except FileError:
            continue  # it went away while we looked
    return _sort(options, entries)


def _sort(options: Options, entries: list[_Entry]) -> list[_Entry]:
    if options.any("U", "f"):
        return entries
    word = options.last("sort")
    entries = sorted(entries, key=lambda e: e.name.encode("utf-8", "surrogateescape"))
    if options.any("S") or word == "size":
        entries.sort(key=lambda e: -e.stat.size)
    elif options.any("t") or word == "time":
        entries.sort(
            key=lambda e: (
                -(e.stat.ctime if options.any("c") else e.stat.atime if options.any("u") else e.stat.mtime)
            )
        )
    elif options.any("X") or word == "extension":
        entries.sort(key=lambda e: e.name.rpartition(".")[2] if "." in e.name else "")
    if options.any("r", "reverse"):
        entries.reverse()
    if options.any("group-directories-first"):
        entries.sort(key=lambda e: not e.stat.is_dir)
    return entries


def _total(options: Options, entries: list[_Entry]) -> str:
    blocks = sum(entry.stat.blocks for entry in entries)
    return human(blocks * 512) if options.any("h", "human-readable") else str(blocks // 2)


def _lines(ctx: Context, options: Options, entries: list[_Entry]) -> str:
    if options.any("l", "n", "o", "g") or options.any("full-time") or ctx.args[0] == "vdir":
        return _long_lines(ctx, options, entries)
    lines = []
    for entry in entries:
        text = _shown_name(ctx, options, entry)
        if options.any("s", "size"):
            text = f"{entry.stat.blocks // 2} {text}"
        if options.any("i", "inode"):
            text = f"{entry.stat.ino} {text}"
        lines.append(text)
    if options.any("m"):
        return ", ".join(lines) + "\n" if lines else ""
    return "".join(f"{line}\n" for line in lines)


def _shown_name(ctx: Context, options: Options, entry: _Entry) -> str:
    name = f'"{entry.name}"' if options.any("Q", "quote-name") else entry.name
    if options.any("F", "classify"):
        return name + _mark(entry.stat)
    return name + ("/" if options.any("p") and entry.stat.is_dir else "")


def _mark(found: Stat) -> str:
    if found.is_dir:
        return "/"
    if found.is_link:
        return "@"
    if bits.S_ISFIFO(found.mode):
        return "|"
    return "*" if found.mode & 0o111 and found.is_file else ""


def _long_lines(ctx: Context, options: Options, entries: list[_Entry]) -> str:
    rows = [_long_row(ctx, options, entry) for entry in entries]
    if not rows:
        return ""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    left = {"mode", "user", "group", "time"}
    kinds = _row_kinds(options)
    lines = []
    for row in rows:
        cells = [
            text.ljust(width) if kind in left else text.rjust(width)
            for text, width, kind in zip(row[:-1], widths, kinds, strict=False)
        ]
        lines.append(" ".join([*cells, row[-1]]) + "\n")
    return "".join(lines)


def _row_kinds(options: Options) -> list[str]:
    kinds = ["inode"] if options.any("i", "inode") else []
    kinds += ["blocks"] if options.any("s", "size") else []
    kinds += ["mode", "links"]
    kinds += [] if options.any("g") else ["user"]
    kinds += [] if options.any("o", "G", "no-group") else ["group"]
    return [*kinds, "size", "time", "name"]


def _long_row(ctx: Context, options: Options, entry: _Entry) -> list[str]:
    found = entry.stat
    numeric = options.any("n", "numeric-uid-gid")
    values = {
        "inode": str(found.ino),
        "blocks": str(found.blocks // 2),
        "mode": bits.filemode(found.mode),
        "links": str(found.nlink),
        "user": str(found.uid) if numeric else name_of(ctx, found.uid),
        "group": str(found.gid) if numeric else name_of(ctx, found.gid, "/etc/group"),
        "size": _size(options, found),
        "time": _time(ctx, options, found),
        "name": _long_name(ctx, options, entry),
    }
    return [values[kind] for kind in _row_kinds(options)]


def _size(options: Options, found: Stat) -> str:
    if bits.S_ISCHR(found.mode):
        return f"{found.rdev >> 8 & 0xFFF}, {found.rdev & 0xFF:3d}"
    return human(found.size) if options.any("h", "human-readable") else str(found.size)


def _long_name(ctx: Context, options: Options, entry: _Entry) -> str:
    if not entry.stat.is_link:
        return _shown_name(ctx, options, entry)
    target = ctx.files.readlink(entry.path)
    mark = ""
    if options.any("F", "classify") and ctx.files.exists(entry.path):
        mark = _mark(ctx.files.stat(entry.path))
    return f"{entry.name} -> {target}{mark}"


def _time(ctx: Context, options: Options, found: Stat) -> str:
    moment = found.ctime if options.any("c") else found.atime if options.any("u") else found.mtime
    when = datetime.fromtimestamp(moment, UTC)
    style = options.last("time-style")
    if options.any("full-time") or style == "full-iso":
        return f"{when:%Y-%m-%d %H:%M:%S}.{int((moment % 1) * 1e9):09d} +0000"
    if style == "long-iso":
        return f"{when:%Y-%m-%d %H:%M}"
    if style.startswith("+"):
        return when.strftime(style[1:])
    recent = ctx.now - HALF_YEAR_S < moment <= ctx.now
    return when.strftime("%b %e %H:%M" if recent else "%b %e  %Y")


@command("tree")
async def tree(ctx: Context) -> int:
    """Folders as a tree of lines."""
    options = parse(ctx.args, "adL:fiI:")
    depth = int(options.last("L") or 100)
    counts = [0, 0]

    def show(path: str, prefix: str, level: int) -> list[str]:
        if level > depth:
            return []
        names = [n for n in ctx.files.listdir(path) if options.any("a") or not n.startswith(".")]
        rows = []
        for number, name in enumerate(names):
            ctx.spend_turn()
            where = join(path, name)
            found = ctx.files.stat(where, follow=False)
            counts[0 if found.is_dir else 1] += 1
            last = number == len(names) - 1
            label = f"{name} -> {ctx.files.readlink(where)}" if found.is_link else name
            rows.append(f"{prefix}{'└── ' if last else '├── '}{label}\n")
            if found.is_dir:
                rows += show(where, prefix + ("    " if last else "│\u00a0\u00a0 "), level + 1)
        return rows

    for root in options.operands or ["."]:
        if not ctx.files.is_dir(root):
            await ctx.out(f"{root}  [error opening dir]\n")
            continue
        await ctx.out(f"{root}\n" + "".join(show(root, "", 1)))
    folders = f"{counts[0]} director{'y' if counts[0] == 1 else 'ies'}"
    await ctx.out(f"\n{folders}, {counts[1]} file{'' if counts[1] == 1 else 's'}\n")
    return 0
