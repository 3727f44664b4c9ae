"""Where the functions written in Python are found by name and number of arguments.

A function gets the run it belongs to, its input and its arguments, and returns one value or raises
``JqError``. It must not change what it is given, and must pay for what it walks, copies and makes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from simcloud.userland.jq.errors import JqError
from simcloud.userland.jq.output import brief
from simcloud.userland.jq.tree import Value
from simcloud.userland.jq.values import kind_of

Function = Callable[..., Value]

NATIVES: dict[tuple[str, int], Function] = {}

SHOWN_BYTES = 14


def native(name: str, arity: int) -> Callable[[Function], Function]:
    """Register a function under a name."""

    def register(function: Function) -> Function:
        NATIVES[name, arity] = function
        return function

    return register


def shown(value: Value) -> str:
    """A value's kind and the start of its text, as messages show it."""
    return f"{kind_of(value)} ({brief(value, SHOWN_BYTES)})"


def refuse(value: Value, why: str) -> NoReturn:
    """Say that a value cannot be used so."""
    raise JqError(f"{shown(value)} {why}")


def refuse_both(a: Value, b: Value, why: str) -> NoReturn:
    """Say that two values do not go together."""
    raise JqError(f"{shown(a)} and {shown(b)} {why}")
