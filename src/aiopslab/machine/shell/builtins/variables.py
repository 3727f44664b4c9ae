"""Builtins about variables: declare, local, export, readonly, unset, shift, let, getopts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from aiopslab.machine.shell.arithmetic import ArithmeticError_, Unbound, evaluate
from aiopslab.machine.shell.assigning import ArrayArgument
from aiopslab.machine.shell.builtins.flow import is_number
from aiopslab.machine.shell.builtins.table import BadOption, Options, builtin, usage
from aiopslab.machine.shell.control import Abandoned
from aiopslab.machine.shell.declaring import declaration, setting
from aiopslab.machine.shell.printer import function_text
from aiopslab.machine.shell.state import Function, Readonly, Variable, VariableError, is_name

if TYPE_CHECKING:
    from aiopslab.machine.shell.shell import Shell

_ARGUMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[(.*?)\])?(?:(\+?=)(.*))?\Z", re.DOTALL)
LETTERS: Final = "aAfFgiIlnprtuxc"


@builtin("declare", "typeset", "local")
async def declare(shell: Shell, argv: list[str]) -> int:
    """Make variables with attributes, or show them."""
    name = argv[0]
    try:
        options = Options(argv, LETTERS, plus=True)
    except BadOption as mistake:
        return await usage(shell, name, str(mistake))
    local = name == "local"
    if local and not any(frame.is_function for frame in shell.state.frames):
        await shell.complain("local: can only be used in a function")
        return 1
    if "f" in options or "F" in options:
        return await _functions(shell, name, options)
    if "p" in options:
        return await _print(shell, name, options)
    if not options.rest:
        return await _list(shell, options, local)
    status = 0
    for argument in options.rest:
        if not await _declare_one(shell, name, argument, options):
            status = 1
    return status


async def _declare_one(shell: Shell, command: str, argument: str, options: Options) -> bool:
    match = _ARGUMENT.match(argument)
    if match is None:
        await shell.complain(f"{command}: `{argument}': not a valid identifier")
        return False
    name = match[1]
    try:
        variable = _target(shell, command, name, options)
        if not await _shape(shell, command, name, variable, options):
            return False
        await _value(shell, name, variable, argument, match, options)
    except VariableError as error:
        await shell.complain(str(error) if isinstance(error, Readonly) else f"{command}: {error}")
        return False
    if "r" in options:
        variable.readonly = True
    return True


def _target(shell: Shell, command: str, name: str, options: Options) -> Variable:
    state = shell.state
    in_function = any(frame.is_function for frame in state.frames)
    if in_function and "g" not in options:
        scope = next(state.local_scopes())
        variable = scope.get(name)
        if variable is None:
            outer = state.find_plain(name)
            if outer is not None and outer.readonly and not _is_local(state.scopes, name):
                raise Readonly(f"{command}: {name}")
            variable = scope[name] = Variable()
            if outer is not None and ("I" in options or state.shopts.get("localvar_inherit")):
                scope[name] = variable = outer.copy()
        return variable
    variable = state.scopes[0].get(name) if "g" in options else state.find_plain(name)
    if variable is None:
        variable = state.scopes[0][name] = Variable()
    if variable.nameref and "n" not in options and "n" not in options.off and variable.scalar:
        return state.variable(state.resolve(name))
    return variable


def _is_local(scopes: list[dict[str, Variable]], name: str) -> bool:
    return any(name in scope for scope in scopes[1:])


async def _shape(shell: Shell, command: str, name: str, variable: Variable, options: Options) -> bool:
    """Give a variable its attributes; false when one is impossible."""
    if variable.readonly and ("r" in options.off):
        raise Readonly(f"{command}: {name}" if command else name)
    if "A" in options and variable.items is not None and not variable.associative:
        await shell.complain(f"{command}: {name}: cannot convert indexed to associative array")
        return False
    if "a" in options and variable.associative:
        await shell.complain(f"{command}: {name}: cannot convert associative to indexed array")
        return False
    if "A" in options and not variable.associative:
        variable.make_array(associative=True)
    elif "a" in options and variable.items is None:
        variable.make_array(associative=False)
    for letter, attribute in (("i", "integer"), ("x", "exported"), ("n", "nameref")):
        if letter in options:
            setattr(variable, attribute, True)
        elif letter in options.off:
            setattr(variable, attribute, False)
    for letter in "ulc":
        if letter in options:
            variable.letter_case = letter
        elif letter in options.off and variable.letter_case == letter:
            variable.letter_case = ""
    return True


async def _value(
    shell: Shell, name: str, variable: Variable, argument: str, match: re.Match[str], options: Options
) -> None:
    state = shell.state
    if isinstance(argument, ArrayArgument):
        assignment = argument.assignment
        assert assignment.elements is not None
        await shell.interpreter.assigner.assign_array(name, assignment.elements, assignment.append, variable)
        return
    subscript, operator, value = match[2], match[3], match[4]
    if operator is None:
        return
    append = operator == "+="
    if variable.nameref:
        if not (is_name(value.partition("[")[0]) or not value):
            raise VariableError(f"`{value}': invalid variable name for name reference")
        variable.scalar = value
    elif subscript is not None:
        if variable.items is None:
            variable.make_array(associative=False)
        state.store_element(name, variable, state.element_key(name, variable, subscript), value, append)
    elif name in state.on_assign:
        state.assign(name, value)
    else:
        state.store(name, variable, value, append)
    if state.options.get("allexport"):
        variable.exported = True


async def _list(shell: Shell, options: Options, local: bool) -> int:
    """Without names: show the variables that have the attributes asked for."""
    state = shell.state
    if local:
        scope = next(state.local_scopes())
        for name in sorted(scope):
            await shell.out(declaration(name, scope[name]) + "\n")
        return 0
    wanted = [letter for letter in options.given if letter in "aAilnrux"]
    for name in state.all_names():
        variable = state.find_plain(name)
        if variable is None:
            continue
        if wanted:
            if all(letter in variable.flags() for letter in wanted):
                await shell.out(declaration(name, variable) + "\n")
        elif variable.is_set:
            await shell.out(setting(name, variable) + "\n")
    if not wanted:
        for name in sorted(state.functions):
            await shell.out(function_text(name, state.functions[name].body) + "\n")
    return 0


async def _print(shell: Shell, command: str, options: Options) -> int:
    state = shell.state
    if not options.rest:
        for name in state.all_names():
            variable = state.find_plain(name)
            wanted = [letter for letter in options.given if letter in "aAilnrux"]
            if variable is not None and all(letter in variable.flags() for letter in wanted):
                await shell.out(declaration(name, variable) + "\n")
        return 0
    status = 0
    for name in options.rest:
        variable = state.find_plain(name)
        if variable is None:
            await shell.complain(f"{command}: {name}: not found")
            status = 1
        else:
            await shell.out(declaration(name, variable) + "\n")
    return status


async def _functions(shell: Shell, command: str, options: Options) -> int:
    functions = shell.state.functions
    if not options.rest:
        for name in sorted(functions):
            await shell.out(
                f"declare -f{'x' if functions[name].exported else ''} {name}\n"
                if "F" in options
                else function_text(name, functions[name].body) + "\n"
            )
        return 0
    status = 0
    for name in options.rest:
        function = functions.get(name)
        if function is None:
            status = 1
        elif "x" in options or "r" in options or "t" in options:
            function.exported = function.exported or "x" in options
            function.readonly = function.readonly or "r" in options
        else:
            await shell.out((name if "F" in options else function_text(name, function.body)) + "\n")
    return status


@builtin("export", "readonly")
async def export(shell: Shell, argv: list[str]) -> int:
    """Mark variables or functions for children, or as constants."""
    command = argv[0]
    exports = command == "export"
    try:
        options = Options(argv, "fnp" if exports else "aAfp")
    except BadOption as mistake:
        return await usage(shell, command, str(mistake))
    if "f" in options and options.rest:
        return await _mark_functions(shell, options, exports)
    if not options.rest:
        for name in shell.state.all_names():
            variable = shell.state.find_plain(name)
            if variable is not None and (variable.exported if exports else variable.readonly):
                await shell.out(declaration(name, variable) + "\n")
        return 0
    status = 0
    for argument in options.rest:
        if not await _mark(shell, command, argument, options, exports):
            status = 1
    return status


async def _mark(shell: Shell, command: str, argument: str, options: Options, exports: bool) -> bool:
    match = _ARGUMENT.match(argument)
    if match is None or match[2] is not None:
        await shell.complain(f"{command}: `{argument}': not a valid identifier")
        return False
    state = shell.state
    name = state.resolve(match[1])
    variable = state.find_plain(name)
    if variable is None:
        variable = state.scopes[0][name] = Variable()
    try:
        if "A" in options and variable.items is None:
            variable.make_array(associative=True)
        elif "a" in options and variable.items is None:
            variable.make_array(associative=False)
        await _value(shell, name, variable, argument, match, options)
    except VariableError as error:
        await shell.complain(str(error))
        return False
    if not exports:
        variable.readonly = True
    else:
        variable.exported = "n" not in options
    return True


async def _mark_functions(shell: Shell, options: Options, exports: bool) -> int:
    status = 0
    for name in options.rest:
        function: Function | None = shell.state.functions.get(name)
        if function is None:
            command = "export" if exports else "readonly"
            await shell.complain(f"{command}: {name}: not a function")
            status = 1
        elif exports:
            function.exported = "n" not in options
        else:
            function.readonly = True
    return status


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
