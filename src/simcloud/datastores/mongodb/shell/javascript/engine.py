"""The state of one running shell's JavaScript: its globals, prototypes, stack and limits.

Everything a script does is paid for: loop turns and calls as turns of the process, long strings and
arrays as bytes. What a script is not allowed to exceed it cannot catch either.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Protocol

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
from simcloud.datastores.mongodb.shell.javascript.words import Words

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
    """What the engine needs of the process it runs in; ``Context`` is one."""

    @property
    def now(self) -> float:
        """Seconds since 1970."""

    def random(self, name: str) -> random.Random:
        """A random stream."""

    def spend_turn(self, count: int = 1) -> None:
        """Pay for turns."""

    async def pay_time(self) -> None:
        """Let the time pass that the turns took."""

    def spend_bytes(self, count: int) -> None:
        """Pay for data."""


@dataclass(slots=True)
class Frame:
    """A function that is running, and where in it."""

    name: str
    source: Source
    at: int


Native = Callable[["Engine", Value, list[Value]], Value]
WaitingNative = Callable[["Engine", Value, list[Value]], Awaitable[Value]]


class NativeFunction(JsFunction):
    """A built-in function. ``construct`` is what ``new`` does, when it may be made with ``new``."""

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
    """One engine; a shell has one for its whole life."""

    def __init__(self, host: Host, words: Words) -> None:
        self.host = host
        self.words = words
        self.prototypes: dict[str, JsObject] = {}
        self.object_prototype = self.prototypes["Object"] = JsObject(None)
        self.function_prototype = self.prototypes["Function"] = JsObject(self.object_prototype)
        self.array_prototype = self.prototype("Array")
        self.global_object = JsObject(self.object_prototype)
        self.global_scope = Scope(None, self.global_object.properties)
        self.global_scope.this = self.global_object
        self.frames: list[Frame] = []
        self.places: dict[str, str] = {}
        """Where a stack says that functions of the shell's own libraries stand, if not where they do."""
        self.completion: Value = UNDEFINED
        self._turns = 0

    # -- making things -------------------------------------------------------------------------

    def prototype(self, name: str, parent: JsObject | None = None) -> JsObject:
        """The prototype of a built-in class, made when first asked for."""
        if name not in self.prototypes:
            self.prototypes[name] = JsObject(parent or self.object_prototype)
        return self.prototypes[name]

    def array(self, items: list[Value]) -> JsArray:
        """A new array that owns the list."""
        return JsArray(self.array_prototype, items)

    def object(self, properties: dict[str, Value] | None = None) -> JsObject:
        """A new plain object that owns the dictionary."""
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
        """A new built-in function."""
        return NativeFunction(self.function_prototype, name, run, waits=waits, construct=construct)

    def define(self, name: str, value: Value) -> None:
        """Set a global variable that belongs to the shell."""
        self.global_object.hide(name, value)

    # -- errors --------------------------------------------------------------------------------

    def make_error(self, kind: str, message: str) -> JsError:
        """A new error, made where the script now is."""
        self.host.spend_turn(_ERROR_TURNS)
        return JsError(self.prototypes[kind], message, self.stack())

    def error(self, kind: str, message: str) -> Thrown:
        """What to raise so that the script gets an error."""
        return Thrown(self.make_error(kind, message))

    def type_error(self, message: str) -> Thrown:
        """The most common error."""
        return self.error("TypeError", message)

    def stack(self) -> str:
        """The functions that are running, innermost first, in SpiderMonkey's notation."""
        lines = []
        for frame in self.frames[: -_STACK_LINES - 1 : -1]:
            place = self.places.get(frame.name) if frame.source.internal else None
            if place is None:
                line, column = frame.source.place(frame.at)
                place = f"{frame.source.name}:{line}:{column}"
            lines.append(f"{frame.name}@{place}\n")
        return "".join(lines)

    # -- limits --------------------------------------------------------------------------------

    def step(self) -> None:
        """Pay for a statement, with the next turn."""
        self._turns += 1

    async def turn(self) -> None:
        """Pay for a turn of a loop or a call."""
        self._turns += 1
        if self._turns >= _TURNS_AT_ONCE:
            turns, self._turns = self._turns, 0
            self.host.spend_turn(turns)
            await self.host.pay_time()

    def work(self, items: int) -> None:
        """Pay for a built-in that goes over ``items`` items or characters."""
        if items > FREE_CHARACTERS:
            self.host.spend_turn(items // FREE_CHARACTERS)

    def made_text(self, text: str) -> str:
        """Pay for a string that was made."""
        if len(text) > FREE_CHARACTERS:
            self.check_text(len(text))
            self.host.spend_bytes(len(text))
        return text

    def joined(self, left: str, right: str) -> str:
        """Two strings as one. Adding a little to a long string costs little."""
        short, long = sorted((len(left), len(right)))
        if long > FREE_CHARACTERS:
            self.check_text(short + long)
            self.host.spend_bytes(short + long // 64)
        return left + right

    def check_text(self, characters: int) -> None:
        """Complain about a string too long, before it is made."""
        if characters > MAX_STRING_CHARACTERS:
            kind = "RangeError" if self.words.is_v8 else "InternalError"
            raise self.error(kind, self.words.string_too_long())

    def made_items(self, count: int) -> None:
        """Pay for an array that grew."""
        if count > FREE_CHARACTERS:
            self.work(count)
            self.host.spend_bytes(count * ITEM_BYTES)

    def enter(self, name: str, source: Source, at: int) -> None:
        """A function begins."""
        if len(self.frames) > MAX_CALLS:
            self.host.spend_turn(MAX_CALLS // 10)  # the way back up has to be paid for too
            kind, message = self.words.too_much_recursion()
            raise self.error(kind, message)
        self.frames.append(Frame(name, source, at))
