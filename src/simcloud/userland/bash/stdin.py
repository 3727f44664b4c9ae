"""Reads commands from standard input line by line, so that the commands can read from it as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simcloud.machine.files import FileError
from simcloud.machine.process import BadDescriptor
from simcloud.sim import Cancelled
from simcloud.userland.bash import interactive
from simcloud.userland.bash.control import ExitShell
from simcloud.userland.bash.parser import Parser
from simcloud.userland.bash.scripts import read_unit
from simcloud.userland.bash.word_parts import ShellSyntaxError
from simcloud.userland.bash.words import MAX_SOURCE_CHARS

if TYPE_CHECKING:
    from simcloud.userland.bash.interfaces import Shell


async def run_stdin(shell: Shell) -> int:
    """Run what comes on standard input until it ends."""
    from simcloud.userland.bash.builtins.read import read_line

    pending, line_number = "", 1
    if shell.mode == "interactive":
        await interactive.begin(shell)
    while True:
        if shell.mode == "interactive":
            await interactive.show_prompt(shell, continued=bool(pending))
        try:
            line, ended = await read_line(shell, shell.ctx.process.streams[0])
        except (BadDescriptor, FileError):
            line, ended = "", True
        except Cancelled:
            if not interactive.take_interrupt(shell):
                raise
            pending = ""
            continue
        if ended and not line and not pending:
            if shell.mode == "interactive" and shell.ctx.stdin.isatty and shell.flavour == "bash":
                await shell.err("exit\n")
            return shell.status
        pending += line if ended else line + "\n"
        shell.ctx.spend_turn()
        if len(pending) > MAX_SOURCE_CHARS:
            raise shell.limit(f"a command of more than {MAX_SOURCE_CHARS} characters")
        if not ended and _continues(line):
            continue
        work = _run_pending(shell, pending, line_number, ended)
        if await (interactive.run_line(shell, work) if shell.mode == "interactive" else work):
            line_number += pending.count("\n")
            pending = ""
        if ended:
            return shell.status


def _continues(line: str) -> bool:
    """Whether a line ends in a backslash that joins the next one to it."""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


async def _run_pending(shell: Shell, text: str, line_number: int, ended: bool) -> bool:
    """Run the lines read so far if they are complete; whether they were."""
    state = shell.state
    aliases = state.aliases if state.shopts.get("expand_aliases") else None
    parser = Parser(text, line_number, state.shopts.get("extglob", False), aliases)
    units = []
    try:
        while (unit := read_unit(parser)).sequence is not None:
            if not ended and unit.warnings:
                return False
            units.append(unit.sequence)
    except ShellSyntaxError as error:
        if not ended and error.at_end:
            return False
        interactive.remember(shell, text)
        for sequence in units:
            await shell.run_unit(sequence)
        await shell.syntax_failed(error, "")
        if shell.mode == "interactive":
            return True
        raise ExitShell(shell.status) from None
    interactive.remember(shell, text)
    for sequence in units:
        await shell.run_unit(sequence)
    return True
