"""The actions of find: printing, removing, running commands, and controlling the walk."""

from __future__ import annotations

import stat as bits
from collections.abc import Callable
from functools import partial
from typing import Final

from simcloud.machine.files import FileError
from simcloud.machine.process import FileStream, Stream
from simcloud.userland.commands.file.find.exec import running
from simcloud.userland.commands.file.find.printf import file_printf, odd_directives
from simcloud.userland.commands.file.find.search import Found, Search, Test
from simcloud.userland.commands.file.find.words import Words
from simcloud.userland.commands.file.listing.details import HALF_YEAR_S
from simcloud.userland.commands.options import UsageError
from simcloud.userland.commands.system.dates import Moment, format_moment, zone_of
from simcloud.userland.commands.text.quoting import quote_name_always

Maker = Callable[[Search, Words], Test]


def printer(search: Search, end: str) -> Test:
    """Prints the path of every file it is asked about."""
    return _writing(search, lambda found: found.path + end, None)


def _writing(search: Search, text_of: Callable[[Found], str], path: str | None) -> Test:
    ctx = search.ctx

    async def write(found: Found) -> bool:
        text = text_of(found)
        ctx.spend_bytes(len(text))
        stream = ctx.stdout if path is None else search.outputs[path]
        try:
            await stream.write(text.encode("utf-8", "surrogateescape"))
        except FileError as error:
            shown = quote_name_always(path or "standard output")
            raise UsageError(f"{ctx.args[0]}: {shown}: {error}\n{ctx.args[0]}: write error") from None
        return True

    return write


def _to_file(search: Search, words: Words) -> str:
    """Open the file that is to be written to; several actions may share it."""
    path = words.argument()
    if path not in search.outputs:
        stream: Stream
        if path in ("/dev/stdout", "/dev/stderr"):
            stream = search.ctx.stdout if path == "/dev/stdout" else search.ctx.stderr
        else:
            try:
                file = search.ctx.files.open(path, read=False, write=True, create=True, truncate=True)
            except FileError as error:
                raise search.mistake(f"{quote_name_always(path)}: {error}") from None
            stream = FileStream(search.ctx.kernel, file)
        search.outputs[path] = stream
    return path


def _print(end: str, search: Search, _: Words) -> Test:
    return printer(search, end)


def _fprint(end: str, search: Search, words: Words) -> Test:
    return _writing(search, lambda found: found.path + end, _to_file(search, words))


def _printf(search: Search, words: Words) -> Test:
    return _print_formatted(search, words.argument(), None)


def _fprintf(search: Search, words: Words) -> Test:
    path = _to_file(search, words)
    return _print_formatted(search, words.argument(), path)


def _print_formatted(search: Search, form: str, path: str | None) -> Test:
    write = _writing(search, lambda found: file_printf(search, form, found), path)
    warnings = odd_directives(form)

    async def show(found: Found) -> bool:
        for warning in warnings:
            await search.ctx.err(f"{search.ctx.args[0]}: warning: {warning}\n")
        warnings.clear()
        return await write(found)

    return show


def _ls(search: Search, _: Words) -> Test:
    return _writing(search, lambda found: _long_line(search, found), None)


def _fls(search: Search, words: Words) -> Test:
    return _writing(search, lambda found: _long_line(search, found), _to_file(search, words))


def _long_line(search: Search, found: Found) -> str:
    stat, accounts = found.stat, search.accounts
    recent = search.now - HALF_YEAR_S < stat.mtime <= search.now
    time = format_moment(
        Moment.of(stat.mtime), "%b %e %H:%M" if recent else "%b %e  %Y", zone_of(search.ctx.env)
    )
    size = f"{stat.rdev >> 8:3d}, {stat.rdev & 0xFF:3d}" if stat.is_device else f"{stat.size:8d}"
    target = f" -> {search.ctx.files.readlink(found.path)}" if stat.is_link else ""
    return (
        f"{stat.ino:9d} {stat.blocks // 2:6d} {bits.filemode(stat.mode)} {stat.nlink:3d} "
        f"{accounts.user(stat.uid):<8} {accounts.group(stat.gid):<8} {size} {time} {_escape(found.path)}{target}\n"
    )


def _escape(path: str) -> str:
    return path.replace("\\", "\\\\").replace(" ", "\\ ").replace('"', '\\"').replace("\n", "\\n")


def _prune(search: Search, _: Words) -> Test:
    async def prune(found: Found) -> bool:
        search.prune = True
        return True

    return prune


def _quit(search: Search, _: Words) -> Test:
    async def stop(found: Found) -> bool:
        search.quit = True
        return True

    return stop


def _delete(search: Search, _: Words) -> Test:
    search.depth_first = True

    async def delete(found: Found) -> bool:
        files = search.ctx.files
        if found.path == ".":
            return True
        try:
            if found.stat.is_dir:
                files.rmdir(found.path)
            else:
                files.remove(found.path)
        except FileError as error:
            search.status = 1
            await search.ctx.err(
                f"{search.ctx.args[0]}: cannot delete {quote_name_always(found.path)}: {error}\n"
            )
            return False
        return True

    return delete


ACTIONS: Final[dict[str, Maker]] = {
    "-print": partial(_print, "\n"),
    "-print0": partial(_print, "\0"),
    "-fprint": partial(_fprint, "\n"),
    "-fprint0": partial(_fprint, "\0"),
    "-printf": _printf,
    "-fprintf": _fprintf,
    "-ls": _ls,
    "-fls": _fls,
    "-prune": _prune,
    "-quit": _quit,
    "-delete": _delete,
    "-exec": running,
    "-execdir": running,
    "-ok": running,
    "-okdir": running,
}
