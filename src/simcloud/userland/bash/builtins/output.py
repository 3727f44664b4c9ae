"""echo and printf."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simcloud.userland.bash.builtins.table import builtin, usage
from simcloud.userland.bash.escapes import decode_echo
from simcloud.userland.bash.printf_formats import Formatter
from simcloud.userland.bash.variable import is_name

if TYPE_CHECKING:
    from simcloud.userland.bash.interfaces import Shell


@builtin("echo")
async def echo(shell: Shell, argv: list[str]) -> int:
    """Print words."""
    newline, escapes = True, shell.state.shopts.get("xpg_echo", False)
    position = 1
    while position < len(argv):
        word = argv[position]
        if len(word) < 2 or word[0] != "-" or word[1:].strip("neE"):
            break
        for letter in word[1:]:
            if letter == "n":
                newline = False
            else:
                escapes = letter == "e"
        position += 1
    text = " ".join(argv[position:])
    if escapes:
        text, stopped = decode_echo(text)
        newline = newline and not stopped
    await shell.out(text + "\n" if newline else text)
    return 0


@builtin("printf")
async def printf(shell: Shell, argv: list[str]) -> int:
    """Print words in a format."""
    words = argv[1:]
    variable = ""
    if words[:1] == ["-v"]:
        if len(words) < 2:
            return await usage(shell, "printf", "-v: option requires an argument")
        variable, words = words[1], words[2:]
        if not is_name(variable.partition("[")[0]):
            await shell.complain(f"printf: `{variable}': not a valid identifier")
            return 2
    elif words[:1] and words[0].startswith("-v") and len(words[0]) > 2:
        variable, words = words[0][2:], words[1:]
    elif words[:1] and words[0].startswith("-") and len(words[0]) > 1 and words[0] != "--":
        return await usage(shell, "printf", f"{words[0][:2]}: invalid option")
    if words[:1] == ["--"]:
        words = words[1:]
    if not words:
        return await usage(shell, "printf")
    formatter = Formatter(shell.ctx.spend_bytes, lambda: shell.ctx.now, shell.started_at_s)
    text = formatter.format(words[0], words[1:])
    if variable:
        await _report(shell, formatter.errors)
        name, bracket, rest = variable.partition("[")
        if bracket:
            shell.state.assign_element(name, rest.removesuffix("]"), text)
        else:
            shell.state.assign(name, text)
    else:
        # Errors and output go to different places, but whoever reads both sees them in this order.
        await _report(shell, formatter.errors)
        await shell.out(text)
    return formatter.status


async def _report(shell: Shell, errors: list[str]) -> None:
    for error in errors:
        await shell.complain(f"printf: {error}")
