"""ps: list processes, with UNIX and BSD options."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from simcloud.machine.process import Context, KernelThread, Process
from simcloud.userland.commands.options import UsageError
from simcloud.userland.commands.registry import command
from simcloud.userland.commands.system.processes.columns import (
    Column,
    column,
    ready_made,
    set_side_by_side,
)
from simcloud.userland.commands.system.processes.facts import Facts

HELP: Final = """
Usage:
 ps [options]

 Try 'ps --help <simple|list|output|threads|misc|all>'
  or 'ps --help <s|l|o|t|m|a>'
 for additional help text.

For more details see ps(1)."""
UNIX_FLAGS: Final = "AadefFjlHLTNwyMmcPZ"
UNIX_VALUES: Final = "CGOUgopqstu"
BSD_FLAGS: Final = "aefgjlLmnrsSTuvwxXch"
BSD_VALUES: Final = "koOpqtU"
LONG: Final = {"pid": "p", "quick-pid": "p", "ppid": "ppid", "sort": "sort", "format": "o", "user": "u", "User": "u",
               "cols": "", "columns": "", "width": "", "rows": "", "lines": "", "group": "G", "Group": "G"}  # fmt: skip
LONG_FLAGS: Final = {"forest": "forest", "no-headers": "h", "no-heading": "h", "headers": "", "deselect": "N",
                     "version": "version", "help": "help", "info": ""}  # fmt: skip


class _Request(Struct):
    """The parsed command line."""

    flags: set[str] = field(default_factory=set)
    bsd: set[str] = field(default_factory=set)
    is_bsd: bool = False
    formats: list[str] = field(default_factory=list)
    sort: list[str] = field(default_factory=list)
    picks: list[tuple[str, str]] = field(default_factory=list)
    """Lists that select processes: a letter and the words behind it."""


def _mistake(what: str) -> UsageError:
    return UsageError(f"error: {what}\n{HELP}")


@command("ps")
async def ps(ctx: Context) -> int:
    """Show the processes of this user, or those that are asked for."""
    request = _read(ctx.args[1:])
    if request.flags & {"version", "help"}:
        await ctx.out("ps from procps-ng 4.0.2\n" if "version" in request.flags else f"{HELP}\n")
        return 0
    facts = Facts(ctx)
    columns = _columns(request)
    shown = _sort(facts, _select(ctx, facts, request), request.sort)
    prefixes: dict[int, str] = {}
    if "forest" in request.flags or "H" in request.flags or "f" in request.bsd:
        shown, prefixes = _as_forest(facts, shown, plain="H" in request.flags)
    lines = []
    if "h" not in request.flags | request.bsd and any(each.heading for each in columns):
        lines.append(set_side_by_side(columns, [each.heading for each in columns]).rstrip() + "\n")
    for process in shown:
        ctx.spend_turn()
        cells = [each.value(facts, process) for each in columns]
        for number, each in enumerate(columns):
            if each.cut and each.heading in ("CMD", "COMMAND"):
                cells[number] = prefixes.get(facts.pid(process), "") + cells[number]
        lines.append(set_side_by_side(columns, cells) + "\n")
    await ctx.out("".join(lines))
    return 0 if shown else 1


# -- the command line ----------------------------------------------------------------------------


def _read(args: list[str]) -> _Request:
    request = _Request()
    words = iter(args)
    for word in words:
        if word.startswith("--"):
            _read_long(request, word[2:], words)
        elif word.startswith("-") and len(word) > 1:
            _read_letters(request, word[1:], words, UNIX_FLAGS, UNIX_VALUES, bsd=False)
        elif word.replace(",", "").isdecimal():
            request.picks.append(("p", word))
        else:
            request.is_bsd = True
            _read_letters(request, word, words, BSD_FLAGS, BSD_VALUES, bsd=True)
    if "y" in request.flags and "l" not in request.flags:
        raise _mistake("modifier -y without format -l makes no sense")
    return request


def _read_long(request: _Request, word: str, words: Iterator[str]) -> None:
    name, equals, value = word.partition("=")
    if name in LONG_FLAGS:
        request.flags.add(LONG_FLAGS[name])
    elif name in LONG:
        if not equals:
            following = next(words, None)
            if following is None:
                raise _mistake(
                    "long sort specification must follow '--sort'"
                    if name == "sort"
                    else "unknown gnu long option"
                )
            value = following
        _take(request, LONG[name], value)
    else:
        raise _mistake("unknown gnu long option")


def _read_letters(
    request: _Request, word: str, words: Iterator[str], flags: str, values: str, *, bsd: bool
) -> None:
    for position, letter in enumerate(word):
        if letter in values:
            value = word[position + 1 :] or next(words, "")
            if not value:
                raise _mistake(_missing(letter))
            if letter == "k":
                request.sort.append(value)
            else:
                _take(request, "u" if letter == "U" else letter, value)
            return
        if letter not in flags:
            raise _mistake("unsupported option (BSD syntax)" if bsd else "unsupported SysV option")
        (request.bsd if bsd else request.flags).add(letter)


def _missing(letter: str) -> str:
    return {
        "o": "format specification must follow -o",
        "p": "list of process IDs must follow -p",
        "C": "list of command names must follow -C",
        "u": "list of users must follow -u",
        "t": "list of terminals (pty, tty...) must follow -t",
    }.get(letter, f"list of arguments must follow -{letter}")


def _take(request: _Request, letter: str, value: str) -> None:
    if letter in ("o", "O"):
        request.formats.append(value)
    elif letter == "sort":
        request.sort.append(value)
    elif letter:
        request.picks.append((letter, value))


# -- which columns -------------------------------------------------------------------------------


def _columns(request: _Request) -> list[Column]:
    if request.formats:
        return [each for text in request.formats for each in _custom(text)]
    for letter in ("u", "l", "j", "v"):
        if letter in request.bsd:
            return ready_made(letter)
    for letter in ("F", "f", "l", "j"):
        if letter in request.flags:
            columns = ready_made(f"-{letter}")
            break
    else:
        columns = ready_made("bsd" if request.is_bsd else "")
    if request.flags & {"L", "T"} and not request.is_bsd:
        place = [each.heading for each in columns].index("PID") + 1
        thread = column("lwp" if "L" in request.flags else "spid")
        if thread is not None:
            columns.insert(place, thread)
    return columns


def _custom(text: str) -> list[Column]:
    """``pid,user:20,comm=NAME``: what follows an equals sign is the heading."""
    columns = []
    for word in text.replace(",", " ").split():
        spelled, equals, heading = word.partition("=")
        name, colon, width = spelled.partition(":")
        found = column(name)
        if found is None or (colon and not (width.isdecimal() and width.isascii() and int(width[:5]) > 0)):
            raise _mistake(f'unknown user-defined format specifier "{spelled}"')
        if colon:
            found = replace(found, width=int(width[:5]))
        if equals:
            found = found.with_heading(heading)
        columns.append(found)
    if not columns:
        raise _mistake("empty format list")
    return columns


# -- which processes -----------------------------------------------------------------------------


def _select(ctx: Context, facts: Facts, request: _Request) -> list[Process]:
    everyone = facts.processes
    at_terminals = [process for process in everyone if process.session.terminal]
    mine = [process for process in everyone if process.uid == ctx.files.uid]
    if request.picks:
        chosen = [
            process
            for process in everyone
            if any(_is_picked(facts, process, *pick) for pick in request.picks)
        ]
    elif request.flags & {"A", "e"}:
        chosen = everyone
    elif request.flags & {"a", "d"}:
        found = everyone if "d" in request.flags else at_terminals
        chosen = [process for process in found if process.session is not process]
    elif request.is_bsd:
        chosen = everyone if "a" in request.bsd else mine
        if "x" not in request.bsd:
            chosen = [process for process in chosen if process in at_terminals]
    else:
        own = ctx.process.session.terminal
        chosen = [process for process in mine if process.session.terminal == own]
    return [process for process in everyone if process not in chosen] if "N" in request.flags else chosen


def _is_picked(facts: Facts, process: Process, letter: str, text: str) -> bool:
    words = [word for word in text.replace(" ", ",").split(",") if word]
    if letter in ("p", "q", "ppid", "s", "g"):
        if not all(word.isdecimal() and word.isascii() for word in words) or not words:
            raise _mistake("process ID list syntax error" if letter in ("p", "q") else "list syntax error")
        number = {"ppid": facts.parent_pid, "s": facts.session, "g": facts.session}.get(letter, facts.pid)(
            process
        )
        return number in [int(word[:18]) for word in words]
    if letter == "t":
        return facts.terminal(process) in [word.removeprefix("/dev/") for word in words]
    if letter == "C":
        return process.name in [word[:15] for word in words]
    if letter == "u":
        numbers = [facts.user_number(word) for word in words]
        if None in numbers:
            raise _mistake("user name does not exist")
        return process.uid in numbers
    if letter == "G":
        return facts.group_name(process) in words or str(process.files.gid) in words
    return False


def _sort(facts: Facts, shown: list[Process], keys: list[str]) -> list[Process]:
    for word in reversed([word for text in keys for word in text.split(",") if word]):
        found = column(word.lstrip("+-"))
        if found is None:
            raise _mistake("unknown sort specifier")
        key = found.key or found.value
        shown = sorted(shown, key=partial(key, facts), reverse=word.startswith("-"))
    return shown


def _as_forest(facts: Facts, shown: list[Process], plain: bool) -> tuple[list[Process], dict[int, str]]:
    """Children below their parents, and what stands before the command of each."""
    children: dict[int, list[Process]] = {}
    roots = []
    for process in shown:
        parent = process.visible_parent
        if parent is not None and parent in shown and (plain or facts.pid(parent) != 1):
            children.setdefault(facts.pid(parent), []).append(process)
        else:
            roots.append(process)
    roots.sort(key=lambda root: not isinstance(root, KernelThread))
    ordered, prefixes = [], {}
    pending = [(process, "", 0, True) for process in reversed(roots)]
    while pending:
        process, indent, depth, is_last = pending.pop()
        ordered.append(process)
        prefixes[facts.pid(process)] = "  " * depth if plain else indent + (" \\_ " if depth else "")
        below = children.get(facts.pid(process), [])
        deeper = indent + ("" if depth == 0 else "    " if is_last else " |  ")
        pending += [(child, deeper, depth + 1, number == 0) for number, child in enumerate(reversed(below))]
    return ordered, prefixes
