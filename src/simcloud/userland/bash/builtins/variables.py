"""Builtins that change variables: unset, shift, let, getopts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simcloud.userland.bash.arithmetic import ArithmeticError_, Unbound, evaluate
from simcloud.userland.bash.builtins.flow import is_number
from simcloud.userland.bash.builtins.table import BadOption, Options, builtin, usage
from simcloud.userland.bash.control import Abandoned
from simcloud.userland.bash.variable import Readonly, Variable, VariableError, is_name

if TYPE_CHECKING:
    from simcloud.userland.bash.interfaces import Shell


@builtin("unset")
async def unset(shell: Shell, argv: list[str]) -> int:
    """Forget variables, elements or functions."""
    try:
        options = Options(argv, "fvn")
    except BadOption as mistake:
        return await usage(shell, "unset", str(mistake))
    state = shell.state
    status = 0
    for name in options.rest:
        base, bracket, rest = name.partition("[")
        if "f" in options:
            status |= await _unset_function(shell, name)
            continue
        if not is_name(base):
            if "v" in options:
                await shell.complain(f"unset: `{name}': not a valid identifier")
                status = 1
            else:
                status |= await _unset_function(shell, name)
            continue
        if "n" in options and not _is_nameref(state.find_plain(base)):
            continue
        target = base if "n" in options else state.resolve(base)
        try:
            if bracket and rest.endswith("]"):
                await _unset_element(shell, target, rest[:-1])
            elif state.find_plain(target) is not None or "v" in options:
                state.unset(target)
            else:
                status |= await _unset_function(shell, name)
        except Readonly:
            await shell.complain(f"unset: {target}: cannot unset: readonly variable")
            status = 1
        except VariableError as error:
            await shell.complain(f"unset: {error}")
            status = 1
    return status


def _is_nameref(variable: Variable | None) -> bool:
    return variable is not None and variable.nameref


async def _unset_function(shell: Shell, name: str) -> int:
    function = shell.state.functions.get(name)
    if function is not None and function.readonly:
        await shell.complain(f"unset: {name}: cannot unset: readonly function")
        return 1
    shell.state.functions.pop(name, None)
    return 0


async def _unset_element(shell: Shell, name: str, subscript: str) -> None:
    variable = shell.state.find_plain(name)
    if variable is None:
        return
    if variable.readonly:
        raise Readonly(name)
    text = await shell.expander.string(shell.word_of(subscript))
    if variable.items is None:
        if text in ("0", "@", "*"):
            shell.state.unset(name)
            return
        raise VariableError(f"{name}: not an array variable")
    if text in ("@", "*") and not variable.associative:
        variable.items.clear()
        return
    key = shell.state.element_key("", variable, text) if text else ""
    variable.items.pop(key, None)


@builtin("shift")
async def shift(shell: Shell, argv: list[str]) -> int:
    """Drop positional parameters from the front."""
    text = argv[1] if len(argv) > 1 else "1"
    if not is_number(text):
        await shell.complain(f"shift: {text}: numeric argument required")
        return 1
    count = int(text)
    if count < 0:
        await shell.complain(f"shift: {text}: shift count out of range")
        return 1
    if count > len(shell.state.arguments):
        if shell.state.shopts.get("shift_verbose"):
            await shell.complain(f"shift: {text}: shift count out of range")
        return 1
    shell.state.arguments = shell.state.arguments[count:]
    return 0


@builtin("let")
async def let(shell: Shell, argv: list[str]) -> int:
    """Evaluate arithmetic; fails when the last result is zero."""
    expressions = argv[2:] if argv[1:2] == ["--"] else argv[1:]
    if not expressions:
        await shell.complain("let: expression expected")
        return 1
    value = 0
    for expression in expressions:
        try:
            value = evaluate(expression, shell.state)
        except ArithmeticError_ as error:
            await shell.complain(f"let: {error}")
            return 1
        except Unbound as error:
            await shell.complain(f"{error}: unbound variable")
            raise Abandoned(1, fatal=True) from None
    return int(value == 0)


@builtin("getopts")
async def getopts(shell: Shell, argv: list[str]) -> int:
    """Take the next option from the positional parameters or the given words."""
    if len(argv) < 3:
        return await usage(shell, "getopts")
    letters, name = argv[1], argv[2]
    words = argv[3:] if len(argv) > 3 else shell.state.arguments
    state = shell.state
    index_text = state.get("OPTIND") or "1"
    index = int(index_text) if index_text.isdigit() else 1
    quiet = letters.startswith(":")
    position = shell.getopts_position
    word = words[index - 1] if 0 < index <= len(words) else ""
    if position == 1 and (len(word) < 2 or word[0] != "-" or word == "--"):
        state.assign("OPTIND", str(index + 1 if word == "--" else min(max(index, 1), len(words) + 1)))
        state.assign(name, "?")
        state.unset("OPTARG")
        return 1
    letter = word[position : position + 1]
    shell.getopts_position = position + 1
    if position + 1 >= len(word):
        index, shell.getopts_position = index + 1, 1
    place = letters.find(letter, 1 if quiet else 0) if letter != ":" else -1
    found, argument = "?", None
    if place < 0:
        argument = letter if quiet else None
        await _option_error(shell, quiet, f"illegal option -- {letter}")
    elif letters[place + 1 : place + 2] == ":":
        if shell.getopts_position > 1:
            found, argument = letter, word[position + 1 :]
            index, shell.getopts_position = index + 1, 1
        elif index <= len(words):
            found, argument = letter, words[index - 1]
            index += 1
        else:
            found, argument = (":", letter) if quiet else ("?", None)
            await _option_error(shell, quiet, f"option requires an argument -- {letter}")
    else:
        found = letter
    saved = shell.getopts_position
    state.assign("OPTIND", str(index))
    shell.getopts_position = saved
    if argument is None:
        state.unset("OPTARG")
    else:
        state.assign("OPTARG", argument)
    if not is_name(name):
        await shell.complain(f"getopts: `{name}': not a valid identifier")
        return 1
    state.assign(name, found)
    return 0


async def _option_error(shell: Shell, quiet: bool, message: str) -> None:
    if not quiet and shell.state.get("OPTERR") != "0":
        await shell.err(f"{shell.state.name}: {message}\n")
