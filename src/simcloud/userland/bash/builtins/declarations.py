"""Builtins that declare variables and functions: declare, local, export, readonly."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from simcloud.userland.bash.assignments import ArrayArgument
from simcloud.userland.bash.builtins.table import BadOption, Options, builtin, usage
from simcloud.userland.bash.declarations import declaration, setting
from simcloud.userland.bash.printer import function_text
from simcloud.userland.bash.state import Function
from simcloud.userland.bash.variable import Readonly, Variable, VariableError, is_name

if TYPE_CHECKING:
    from simcloud.userland.bash.interfaces import Shell

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
    """Without names: print the variables that have the given attributes."""
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
