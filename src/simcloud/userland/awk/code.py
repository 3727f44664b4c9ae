"""What compiled awk code is made of.

Code is a Python function of one frame: a list with the value to return, a function's parameters, and
values kept for later. Every expression is compiled to the kind of result that is wanted of it (a number, a text,
a truth, any value), so that ``$3 > 10`` never makes a string out of what it compares.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from simcloud.userland.awk.analysis import Analysis
from simcloud.userland.awk.runtime import Runtime
from simcloud.userland.awk.values import UNSET

Frame = list[Any]
Run = Callable[[Frame], Any]
WaitingRun = Callable[[Frame], Coroutine[Any, Any, Any]]
Store = Callable[[Frame, Any], None]


class Kind(Enum):
    """What an expression gives by its nature."""

    NUMBER = "number"
    TEXT = "text"
    TRUTH = "truth"
    VALUE = "value"


class Scope:
    """The frame of a function or a rule while it is compiled."""

    def __init__(self, function: str = "", parameters: tuple[str, ...] = ()) -> None:
        self.function = function
        self.slots = {name: number for number, name in enumerate(parameters, 1)}
        self.size = 1 + len(parameters)

    def keep(self) -> int:
        """A place for a value that is kept for later."""
        self.size += 1
        return self.size - 1

    def frame(self) -> Frame:
        """A frame with nothing in it yet."""
        return [UNSET] * self.size


@dataclass
class FunctionCode:
    """A function of the program. The body is there once all functions are compiled."""

    name: str
    parameters: tuple[str, ...]
    takes_arrays: tuple[bool, ...]
    waits: bool
    scope: Scope
    body: Run = field(default=lambda frame: None)


@dataclass(frozen=True, slots=True)
class Unit:
    """What all parts of one program's code share."""

    runtime: Runtime
    analysis: Analysis
    slots: dict[str, int]
    functions: dict[str, FunctionCode]
