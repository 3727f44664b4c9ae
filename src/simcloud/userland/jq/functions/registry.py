"""The registry of functions written in Python, by name and number of arguments.

A function takes the run it belongs to, its input and its arguments, and returns one value or raises
``JqError``. It must not change its arguments, and must charge for what it walks, copies and makes.
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


def describe(value: Value) -> str:
    """Return a value's kind and the start of its text, for messages."""
    return f"{kind_of(value)} ({brief(value, SHOWN_BYTES)})"


def refuse(value: Value, why: str) -> NoReturn:
    """Raise an error about a value."""
    raise JqError(f"{describe(value)} {why}")


def refuse_both(a: Value, b: Value, why: str) -> NoReturn:
    """Raise an error about two values."""
    raise JqError(f"{describe(a)} and {describe(b)} {why}")
