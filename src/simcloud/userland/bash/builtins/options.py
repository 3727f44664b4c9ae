"""set and shopt: the options of the shell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simcloud.userland.bash.builtins.table import BadOption, Options, builtin, usage
from simcloud.userland.bash.declarations import setting
from simcloud.userland.bash.printer import function_text
from simcloud.userland.bash.state import OPTION_LETTERS, OPTIONS, SHOPTS, SHOPTS_ON

if TYPE_CHECKING:
    from simcloud.userland.bash.interfaces import Shell

_BY_LETTER: Final = {letter: name for name, letter in OPTION_LETTERS.items()}


@builtin("set")
async def set_(shell: Shell, argv: list[str]) -> int:
    """Switch options, set the positional parameters, or show all variables."""
    state = shell.state
    if len(argv) == 1:
        for name in state.all_names():
            variable = state.find_plain(name)
            if variable is not None and variable.is_set:
                await shell.out(setting(name, variable) + "\n")
        for name in sorted(state.functions):
            await shell.out(function_text(name, state.functions[name].body) + "\n")
        return 0
    mistake = _mistake(argv)
    if mistake:
        return await usage(shell, "set", mistake)
    position = 1
    while position < len(argv):
        word = argv[position]
        if word == "--":
            state.arguments = argv[position + 1 :]
            return 0
        if word == "-":
            state.options["xtrace"] = state.options["verbose"] = False
            if argv[position + 1 :]:
                state.arguments = argv[position + 1 :]
            return 0
        if word[:1] not in ("-", "+") or len(word) < 2:
            break
        on = word[0] == "-"
        position += 1
        for letter in word[1:]:
            if letter == "o":
                if position >= len(argv):
                    await show_options(shell, as_commands=not on)
                    continue
                name = argv[position]
                position += 1
                if name not in OPTIONS:
                    await shell.complain(f"set: {name}: invalid option name")
                    return 2
                state.options[name] = on
            else:
                state.options[_BY_LETTER[letter]] = on
    if argv[position:]:
        state.arguments = argv[position:]
    return 0


def _mistake(argv: list[str]) -> str:
    """Return the error in the letters, before any of them takes effect."""
    for word in argv[1:]:
        if word in ("-", "--") or word[:1] not in ("-", "+") or len(word) < 2:
            break
        for letter in word[1:]:
            if letter != "o" and letter not in _BY_LETTER:
                return f"{word[0]}{letter}: invalid option"
        if "o" in word:
            break
    return ""


async def show_options(shell: Shell, as_commands: bool) -> None:
    """Print the options as ``set -o`` and ``set +o`` do."""
    for name in OPTIONS:
        on = bool(shell.state.options.get(name))
        line = f"set {'-' if on else '+'}o {name}" if as_commands else f"{name:<15}\t{'on' if on else 'off'}"
        await shell.out(line + "\n")


@builtin("shopt")
async def shopt(shell: Shell, argv: list[str]) -> int:
    """Switch or show the other kind of options."""
    try:
        options = Options(argv, "pqsuo")
    except BadOption as mistake:
        return await usage(shell, "shopt", str(mistake))
    set_options = "o" in options
    known = OPTIONS if set_options else SHOPTS
    values = shell.state.options if set_options else shell.state.shopts
    if "s" in options and "u" in options:
        await shell.complain("shopt: cannot set and unset shell options simultaneously")
        return 1
    status = 0
    if options.rest and ("s" in options or "u" in options):
        for name in options.rest:
            if name not in known:
                status = await _unknown(shell, name, set_options)
            else:
                values[name] = "s" in options
        return status
    for name in options.rest or known:
        if name not in known:
            status = await _unknown(shell, name, set_options)
            continue
        on = values.get(name, not set_options and name in SHOPTS_ON)
        if options.rest and not on:
            status = status or 1
        if not options.rest and (("s" in options and not on) or ("u" in options and on)):
            continue
        if "q" not in options:
            await shell.out(_line(name, on, "p" in options, set_options))
    return status


def _line(name: str, on: bool, as_command: bool, set_option: bool) -> str:
    if as_command and set_option:
        return f"set {'-' if on else '+'}o {name}\n"
    if as_command:
        return f"shopt {'-s' if on else '-u'} {name}\n"
    return f"{name:<15}\t{'on' if on else 'off'}\n"


async def _unknown(shell: Shell, name: str, set_option: bool) -> int:
    what = "invalid option name" if set_option else "invalid shell option name"
    await shell.complain(f"shopt: {name}: {what}")
    return 1
