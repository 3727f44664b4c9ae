"""Formats variables and functions as commands that declare them."""

from __future__ import annotations

import re
from typing import Final

from simcloud.userland.bash.escapes import quote_double, quote_if_needed, quote_single
from simcloud.userland.bash.printer import function_text
from simcloud.userland.bash.state import State
from simcloud.userland.bash.variable import Variable

FUNCTION_PREFIX: Final = "BASH_FUNC_"
"""Prefix of environment variables that export functions to child shells."""

_PLAIN_KEY = re.compile(r"[A-Za-z0-9_./:@%+=-]+\Z")


def declaration(name: str, variable: Variable) -> str:
    """The line ``declare -p name`` prints."""
    flags = variable.flags()
    head = f"declare -{flags} {name}" if flags else f"declare -- {name}"
    if variable.items is not None:
        return f"{head}={array_text(variable)}" if variable.is_set or variable.items == {} else head
    return head if variable.scalar is None else f"{head}={quote_double(variable.scalar)}"


def array_text(variable: Variable) -> str:
    """The elements in brackets."""
    pieces = []
    for key, value in zip(variable.subscripts(), variable.values(), strict=True):
        shown = key if isinstance(key, int) or _PLAIN_KEY.match(key) else quote_double(key)
        pieces.append(f"[{shown}]={quote_double(value)}")
    joined = " ".join(pieces)
    return f"({joined} )" if variable.associative and pieces else f"({joined})"


def setting(name: str, variable: Variable) -> str:
    """The line ``set`` prints."""
    if variable.items is not None:
        return f"{name}={array_text(variable)}"
    return f"{name}={quote_if_needed(variable.scalar or '')}" if variable.scalar else f"{name}="


def assignment_text(name: str, variable: Variable, whole: bool) -> str:
    """``${name@A}``."""
    flags = variable.flags()
    if variable.items is not None and whole:
        return f"declare -{flags} {name}={array_text(variable)}"
    value = quote_single(variable.value() or "")
    return f"declare -{flags} {name}={value}" if flags else f"{name}={value}"


def child_environment(state: State) -> dict[str, str]:
    """Return the exported variables and functions."""
    environment = state.environment()
    for name, function in state.functions.items():
        if function.exported:
            text = function_text(name, function.body)
            environment[f"{FUNCTION_PREFIX}{name}%%"] = "() " + text[text.index("{") :]
    return environment
