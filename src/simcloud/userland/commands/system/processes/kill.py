"""kill: send signals to processes by number."""

from __future__ import annotations

from typing import Final

from simcloud.machine.process import Context, Process, Signal
from simcloud.userland.commands.options import UsageError
from simcloud.userland.commands.registry import command

USAGE: Final = "\nUsage:\n kill [options] <pid> [...]\n\nFor more details see kill(1)."
NAMES: Final = {**{signal.name: signal for signal in Signal}, "POLL": Signal.IO}
LINE_WIDTH: Final = 80
ACROSS: Final = 7


def send_from(ctx: Context, process: Process, signal: Signal) -> None:
    """Signal a process; one in another container is reached from outside."""
    process.send(signal, outside=process.container is not ctx.container)


def signal_lines() -> str:
    """The names of all signals, as many to a line as fit."""
    lines, line = [], ""
    for signal in Signal:
        name = "POLL" if signal is Signal.IO else signal.name
        if line and len(line) + 1 + len(name) >= LINE_WIDTH:
            lines.append(line)
            line = ""
        line += f" {name}" if line else name
    return "\n".join([*lines, line]) + "\n"


def _table() -> str:
    cells = [f"{int(s):2d} {'POLL' if s is Signal.IO else s.name:<8}" for s in Signal]
    rows = ["".join(cells[at : at + ACROSS]) for at in range(0, len(cells), ACROSS)]
    return "".join(f"{row.rstrip()}\n" for row in rows[:-1]) + f"{rows[-1]}\n"


@command("kill")
async def kill(ctx: Context) -> int:
    """Send a signal to processes by number; a negative number means a group."""
    name, words = ctx.args[0], ctx.args[1:]
    signal: Signal | None = Signal.TERM
    if words and words[0] in ("-l", "--list", "-L", "--table"):
        await ctx.out(_list_signals(name, words))
        return 0
    if words and words[0] in ("-s", "--signal"):
        signal, words = _signal(name, words[1] if len(words) > 1 else ""), words[2:]
    elif words and words[0].startswith("-") and words[0] != "--":
        signal, words = _signal(name, words[0][1:]), words[1:]
    words = words[1:] if words[:1] == ["--"] else words
    if not words:
        raise UsageError(USAGE)
    status = 0
    for word in words:
        digits = word.removeprefix("-")
        if not (digits.isdecimal() and digits.isascii()) or len(digits) > 9:
            raise UsageError(f"{name}: failed to parse argument: '{word}'\n{USAGE}")
        targets = _targets(ctx, int(word))
        if not targets:
            await ctx.err(f"{name}: ({word}): No such process\n")
            status = 1
        for process in targets:
            if signal is not None:
                send_from(ctx, process, signal)
    return status


def _signal(name: str, text: str) -> Signal | None:
    """A signal by name or number; None for 0, which only asks whether a process is there."""
    if text == "0":
        return None
    signal = Signal.parse(text) or NAMES.get(text.upper().removeprefix("SIG"))
    if signal is None:
        raise UsageError(f"{name}: invalid argument {text[:1]}\n{USAGE}")
    return signal


def _list_signals(name: str, words: list[str]) -> str:
    if words[0] in ("-L", "--table"):
        return _table()
    if len(words) == 1:
        return signal_lines()
    word = words[1]
    number = int(word[:9]) if word.isdecimal() and word.isascii() else None
    if number is not None:
        signal = next((s for s in Signal if s == number % 128), None)
        if signal is None:
            raise UsageError(f"{name}: unknown signal name {word}\n{USAGE}")
        return f"{signal.name}\n"
    found = NAMES.get(word.upper().removeprefix("SIG"))
    if found is None:
        raise UsageError(f"{name}: unknown signal name {word}\n{USAGE}")
    return f"{int(found)}\n"


def _targets(ctx: Context, number: int) -> list[Process]:
    visible = ctx.container.visible()
    if number > 0:
        return [visible[number]] if number in visible else []
    if number == -1:
        return [process for pid, process in visible.items() if pid != 1 and process is not ctx.process]
    group = -number if number else _group_seen(ctx, ctx.process)
    return [process for process in visible.values() if _group_seen(ctx, process) == group]


def _group_seen(ctx: Context, process: Process) -> int:
    leader = process.container.processes.get(process.group)
    return ctx.container.pid_seen(leader) if leader is not None else process.group
