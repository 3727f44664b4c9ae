"""The building blocks of compiled awk code: frames, functions and the signals of statements.

Code is a Python function of one frame: a list with the return value, a function's parameters, and temporary
values. An expression's code returns the kind of result that was asked for (a number, a text, a truth, any value), so
that ``$3 > 10`` never makes a string out of what it compares.

A statement's code returns ``None`` to continue, or a signal. A function called from an expression has no statement
to return to, so there a signal for the whole rule is raised as ``Unwind``.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from enum import Enum
from typing import Any, Final, NoReturn

from msgspec import Struct, field

from simcloud.userland.awk import tree
from simcloud.userland.awk.analysis import Analysis
from simcloud.userland.awk.errors import Fatal
from simcloud.userland.awk.runtime import Runtime
from simcloud.userland.awk.values import UNSET

Frame = list[Any]
Run = Callable[[Frame], Any]
WaitingRun = Callable[[Frame], Coroutine[Any, Any, Any]]
Store = Callable[[Frame, Any], None]


class Kind(Enum):
    """The natural type of an expression's result."""

    NUMBER = "number"
    TEXT = "text"
    TRUTH = "truth"
    VALUE = "value"


Compiled = tuple[Kind, Run]


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


class FunctionCode(Struct):
    """A function of the program. The body is set once all functions are compiled."""

    name: str
    parameters: tuple[str, ...]
    takes_arrays: tuple[bool, ...]
    waits: bool
    scope: Scope
    body: Run = field(default=lambda frame: None)


class Unit(Struct, frozen=True):
    """The state shared by all code of one program."""

    runtime: Runtime
    analysis: Analysis
    slots: dict[str, int]
    functions: dict[str, FunctionCode]
    builtins: Mapping[str, Callable[[Any, tree.Builtin], Compiled]]
    """Compiles a call of a built-in function, given the ``ExpressionCompiler`` and the call."""


BREAK: Final = 1
CONTINUE: Final = 2
RETURN: Final = 3
NEXT: Final = 4
NEXTFILE: Final = 5
EXIT: Final = 6

Signal = int | None


class Unwind(Exception):
    """A signal that leaves a function."""

    def __init__(self, signal: int) -> None:
        super().__init__(signal)
        self.signal = signal


LEAVES_FUNCTION: Final = frozenset((NEXT, NEXTFILE, EXIT))


def leave_rule(signal: int, runtime: Runtime) -> NoReturn:
    """Leave the rule that called the function in which the signal was given."""
    if signal != EXIT and runtime.rule_kind != "record":
        word = "next" if signal == NEXT else "nextfile"
        raise Fatal(f"`{word}' cannot be called from a `{runtime.rule_kind}' rule")
    raise Unwind(signal)
