"""The state of a JavaScript engine: globals, prototypes, stack and limits.

Everything a script does is charged to the process: loop iterations and calls as turns, long strings and arrays as
bytes. A script cannot catch the error of an exceeded limit.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

from msgspec import Struct

from simcloud.datastores.mongodb.shell.javascript.error_messages import ErrorMessages
from simcloud.datastores.mongodb.shell.javascript.scope import Scope
from simcloud.datastores.mongodb.shell.javascript.syntax import Source
from simcloud.datastores.mongodb.shell.javascript.values import (
    UNDEFINED,
    JsArray,
    JsError,
    JsFunction,
    JsObject,
    Thrown,
    Value,
)

MAX_CALLS: Final = 2_000
MAX_STRING_CHARACTERS: Final = 8 << 20
FREE_CHARACTERS: Final = 256
"""Shorter strings cost no bytes: the turn that makes them is paid for."""

ITEM_BYTES: Final = 16
_TURNS_AT_ONCE: Final = 50
_STACK_LINES: Final = 50
_ERROR_TURNS: Final = 5
ERRORS: Final = (
    "Error", "TypeError", "ReferenceError", "SyntaxError", "RangeError", "EvalError", "URIError",
    "InternalError",
)  # fmt: skip


class Host(Protocol):
    """The part of the process that the engine uses; ``Context`` is one."""

    @property
    def now(self) -> float:
        """Seconds since 1970."""

    def random(self, name: str) -> random.Random:
        """Return a random stream."""

    def spend_turn(self, count: int = 1) -> None:
        """Pay for turns."""

    async def pay_time(self) -> None:
        """Let the time pass that the turns took."""

    def spend_bytes(self, count: int) -> None:
        """Pay for data."""


class Frame(Struct):
    """A running function and the position in it."""

    name: str
    source: Source
    at: int


Native = Callable[["Engine", Value, list[Value]], Value]
WaitingNative = Callable[["Engine", Value, list[Value]], Awaitable[Value]]


class NativeFunction(JsFunction):
    """A built-in function. ``construct`` implements ``new``, if it is a constructor."""

    __slots__ = ("construct", "run", "waits")

    def __init__(
        self,
        prototype: JsObject | None,
        name: str,
        run: Native | WaitingNative,
        *,
        waits: bool,
        construct: Native | WaitingNative | None = None,
    ) -> None:
        super().__init__(prototype, name)
        self.run = run
        self.waits = waits
        self.construct = construct


class Engine:
    """An engine; a shell has one for its whole life."""

    def __init__(self, host: Host, messages: ErrorMessages) -> None:
        self.host = host
        self.messages = messages
        self.prototypes: dict[str, JsObject] = {}
        self.object_prototype = self.prototypes["Object"] = JsObject(None)
        self.function_prototype = self.prototypes["Function"] = JsObject(self.object_prototype)
        self.array_prototype = self.prototype("Array")
        self.global_object = JsObject(self.object_prototype)
        self.global_scope = Scope(None, self.global_object.properties)
        self.global_scope.this = self.global_object
        self.frames: list[Frame] = []
        self.describe_internal: Callable[[str, str, int, int], str] = format_frame
        """The location of the shell's library functions in stack traces, if it differs from the real one."""
        self.completion: Value = UNDEFINED
        self._turns = 0

    # -- making things -------------------------------------------------------------------------

    def prototype(self, name: str, parent: JsObject | None = None) -> JsObject:
        """Return the prototype of a built-in class, created on first use."""
        if name not in self.prototypes:
            self.prototypes[name] = JsObject(parent or self.object_prototype)
        return self.prototypes[name]

    def array(self, items: list[Value]) -> JsArray:
        """Return a new array that owns the list."""
        return JsArray(self.array_prototype, items)

    def object(self, properties: dict[str, Value] | None = None) -> JsObject:
        """Return a new plain object that owns the dictionary."""
        made = JsObject(self.object_prototype)
        if properties is not None:
            made.properties = properties
        return made

    def function(
        self,
        name: str,
        run: Native | WaitingNative,
        *,
        waits: bool = False,
        construct: Native | WaitingNative | None = None,
    ) -> NativeFunction:
        """Return a new built-in function."""
        return NativeFunction(self.function_prototype, name, run, waits=waits, construct=construct)

    def define(self, name: str, value: Value) -> None:
        """Set a global variable that belongs to the shell."""
        self.global_object.hide(name, value)

    # -- errors --------------------------------------------------------------------------------

    def make_error(self, kind: str, message: str) -> JsError:
        """Return a new error, made where the script now is."""
        self.host.spend_turn(_ERROR_TURNS)
        return JsError(self.prototypes[kind], message, self.stack())

    def error(self, kind: str, message: str) -> Thrown:
        """Return an exception that throws an error in the script."""
        return Thrown(self.make_error(kind, message))

    def type_error(self, message: str) -> Thrown:
        """Return a TypeError to raise."""
        return self.error("TypeError", message)

    def stack(self) -> str:
        """Return the functions that are running, innermost first, in SpiderMonkey's notation."""
        lines = []
        for frame in self.frames[: -_STACK_LINES - 1 : -1]:
            describe = self.describe_internal if frame.source.internal else format_frame
            lines.append(describe(frame.name, frame.source.name, *frame.source.place(frame.at)))
        return "".join(lines)

    # -- limits --------------------------------------------------------------------------------

    def step(self) -> None:
        """Pay for a statement, with the next turn."""
        self._turns += 1

    def count_turn(self) -> bool:
        """Count a turn of a loop or a call. Return whether it is time to pay for turns."""
        self._turns += 1
        return self._turns >= _TURNS_AT_ONCE

    async def pay_turns(self) -> None:
        """Pay for the turns until now."""
        turns, self._turns = self._turns, 0
        self.host.spend_turn(turns)
        await self.host.pay_time()

    def work(self, items: int) -> None:
        """Charge for a built-in that goes over ``items`` items or characters."""
        if items > FREE_CHARACTERS:
            self.host.spend_turn(items // FREE_CHARACTERS)

    def charge_text(self, text: str) -> str:
        """Charge for a new string."""
        if len(text) > FREE_CHARACTERS:
            self.check_text(len(text))
            self.host.spend_bytes(len(text))
        return text

    def concatenate(self, left: str, right: str) -> str:
        """Concatenate two strings. Adding a short string to a long one is cheap."""
        if len(left) > FREE_CHARACTERS or len(right) > FREE_CHARACTERS:
            short, long = sorted((len(left), len(right)))
            self.check_text(short + long)
            self.host.spend_bytes(short + long // 64)
        return left + right

    def check_text(self, characters: int) -> None:
        """Raise an error if a string would be too long."""
        if characters > MAX_STRING_CHARACTERS:
            kind = "RangeError" if self.messages.is_v8 else "InternalError"
            raise self.error(kind, self.messages.string_too_long())

    def charge_items(self, count: int) -> None:
        """Charge for new items of an array."""
        if count > FREE_CHARACTERS:
            self.work(count)
            self.host.spend_bytes(count * ITEM_BYTES)

    def enter(self, name: str, source: Source, at: int) -> None:
        """Push a frame for a function."""
        if len(self.frames) > MAX_CALLS:
            self.host.spend_turn(MAX_CALLS // 10)  # the way back up has to be paid for too
            kind, message = self.messages.too_much_recursion()
            raise self.error(kind, message)
        self.frames.append(Frame(name, source, at))


def format_frame(name: str, source: str, line: int, column: int) -> str:
    """Return a line of a stack trace."""
    return f"{name}@{source}:{line}:{column}\n"
