"""Sending signals: kill, pkill, killall."""

from __future__ import annotations

from aiopslab.machine.process import Context, Process, Signal
from aiopslab.machine.shell.commands.options import UsageError, parse
from aiopslab.machine.shell.commands.registry import command
from aiopslab.machine.shell.commands.system.processes import matching


def send_from(ctx: Context, process: Process, signal: Signal) -> None:
    """Signal a process; from the host, one in a container is reached from outside."""
    process.send(signal, outside=process.container is not ctx.container)


@command("kill")
async def kill(ctx: Context) -> int:
    """Send a signal to processes, by number; a negative number means a group."""
    words = ctx.args[1:]
    signal: Signal | None = Signal.TERM
    if words and words[0] in ("-l", "-L", "--list"):
        await ctx.out("".join(f"{s.name} " for s in Signal).rstrip() + "\n")
        return 0
    if words and words[0] in ("-s", "--signal", "-n"):
        signal, words = Signal.parse(words[1]) if len(words) > 1 else None, words[2:]
    elif words and words[0].startswith("-") and words[0] != "--":
        signal, words = Signal.parse(words[0][1:]), words[1:]
    if signal is None and ctx.args[1:2] != ["-0"]:
        await ctx.err(f"kill: {ctx.args[1]}: invalid signal specification\n")
        return 1
    if words[:1] == ["--"]:
        words = words[1:]
    if not words:
        raise UsageError("kill: not enough arguments")
    status = 0
    for word in words:
        if not word.lstrip("-").isdigit():
            await ctx.err(f"kill: failed to parse argument: '{word}'\n")
            status = 1
            continue
        targets = _targets(ctx, int(word))
        if not targets:
            await ctx.err(f"kill: ({word}): No such process\n")
            status = 1
        for process in targets:
            if signal is not None:
                send_from(ctx, process, signal)
    return status


def _targets(ctx: Context, number: int) -> list[Process]:
    visible = ctx.container.visible()
    if number >= 0:
        return [visible[number]] if number in visible else []
    if number == -1:
        return [process for pid, process in visible.items() if pid != 1 and process is not ctx.process]
    return [process for process in visible.values() if process.group == -number]


@command("pkill")
async def pkill(ctx: Context) -> int:
    """Send a signal to the processes that match."""
    words = [ctx.args[0]]
    signal: Signal | None = Signal.TERM
    for word in ctx.args[1:]:
        named = (
            Signal.parse(word[1:]) if (word.startswith("-") and len(word) > 2) or word[1:].isdigit() else None
        )
        if named is not None and word.startswith("-"):
            signal = named
        else:
            words.append(word)
    options = parse(words, "fxu:ns:oe", ("full", "exact", "signal=", "newest", "oldest", "echo"))
    if options.any("s", "signal"):
        signal = Signal.parse(options.last("s", "signal"))
    if not options.operands or signal is None:
        raise UsageError("pkill: no matching criteria specified\nTry `pkill --help' for more information.", 2)
    found = matching(
        ctx, options.operands[0], options.any("f", "full"), options.any("x", "exact"), options.last("u")
    )
    for process in found:
        send_from(ctx, process, signal)
    return 0 if found else 1


@command("killall")
async def killall(ctx: Context) -> int:
    """Send a signal to processes by exact name."""
    words, signal = ctx.args[1:], Signal.TERM
    if words and words[0].startswith("-"):
        signal = Signal.parse(words.pop(0)[1:]) or Signal.TERM
    status = 0
    for name in words:
        found = [p for p in ctx.container.visible().values() if p.name == name and p is not ctx.process]
        for process in found:
            send_from(ctx, process, signal)
        if not found:
            await ctx.err(f"{name}: no process found\n")
            status = 1
    return status
