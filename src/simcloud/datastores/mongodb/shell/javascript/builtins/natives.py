"""Tables of built-in functions: each is a decorated function, installed in an engine at its start."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TypeVar

from simcloud.datastores.mongodb.shell.javascript.conversions import number, text
from simcloud.datastores.mongodb.shell.javascript.engine import Engine, Native, NativeFunction, WaitingNative
from simcloud.datastores.mongodb.shell.javascript.numbers import to_integer
from simcloud.datastores.mongodb.shell.javascript.values import (
    UNDEFINED,
    Accessor,
    JsFunction,
    JsObject,
    Value,
    plain_text,
)

_Native = TypeVar("_Native", bound=Native | WaitingNative)


class Natives:
    """The built-in functions of one class, or of the global object when it has no name."""

    def __init__(self, name: str = "") -> None:
        self.name = name
        self._methods: list[tuple[str, Native | WaitingNative]] = []
        self._statics: list[tuple[str, Native | WaitingNative]] = []
        self._getters: list[tuple[str, Native | WaitingNative]] = []

    def method(self, *names: str) -> Callable[[_Native], _Native]:
        """Register a function of the prototype, under one or several names."""
        return self._into(self._methods, names)

    def static(self, *names: str) -> Callable[[_Native], _Native]:
        """Register a function of the class itself."""
        return self._into(self._statics, names)

    def getter(self, *names: str) -> Callable[[_Native], _Native]:
        """Register a property of the prototype that is computed when it is read."""
        return self._into(self._getters, names)

    def _into(
        self, table: list[tuple[str, Native | WaitingNative]], names: tuple[str, ...]
    ) -> Callable[[_Native], _Native]:
        def register(function: _Native) -> _Native:
            table.extend((name, function) for name in names)
            return function

        return register

    def install(
        self,
        engine: Engine,
        run: Native | WaitingNative | None = None,
        construct: Native | WaitingNative | None = None,
    ) -> JsFunction | None:
        """Put the functions in their places; gives the constructor, if the class has one."""
        prototype = engine.prototype(self.name) if self.name else engine.global_object
        for name, function in self._methods:
            prototype.hide(name, native(engine, name, function))
        for name, function in self._getters:
            prototype.hide(name, Accessor(native(engine, name, function)))
        if run is None:
            return None
        made = native(engine, self.name, run, construct)
        made.hide("prototype", prototype)
        prototype.hide("constructor", made)
        for name, function in self._statics:
            made.hide(name, native(engine, name, function))
        engine.define(self.name, made)
        return made

    def install_namespace(self, engine: Engine) -> JsObject:
        """Put the functions on a plain object that is a global of this name, like ``Math``."""
        holder = engine.object()
        for name, function in self._statics:
            holder.hide(name, native(engine, name, function))
        engine.define(self.name, holder)
        return holder


def native(
    engine: Engine, name: str, run: Native | WaitingNative, construct: Native | WaitingNative | None = None
) -> NativeFunction:
    """Return a built-in function."""
    return engine.function(name, run, waits=inspect.iscoroutinefunction(run), construct=construct)


def argument(args: list[Value], index: int) -> Value:
    """Return an argument, or undefined."""
    return args[index] if index < len(args) else UNDEFINED


async def number_argument(engine: Engine, args: list[Value], index: int, default: float) -> float:
    """Return an argument as a number."""
    value = argument(args, index)
    return default if value is UNDEFINED else await number(engine, value)


async def text_argument(engine: Engine, args: list[Value], index: int, default: str = "undefined") -> str:
    """Return an argument as a string."""
    value = argument(args, index)
    return default if value is UNDEFINED else await text(engine, value)


async def position_argument(engine: Engine, args: list[Value], index: int, length: int, default: int) -> int:
    """Return an argument as a place in something so long; a negative one counts from its end."""
    value = argument(args, index)
    if value is UNDEFINED:
        return default
    place = to_integer(await number(engine, value))
    return int(max(0, length + place) if place < 0 else min(place, length))


def function_argument(engine: Engine, args: list[Value], index: int = 0) -> JsFunction:
    """Return an argument that must be a function."""
    value = argument(args, index)
    if not isinstance(value, JsFunction):
        shown = "object" if isinstance(value, JsObject) else plain_text(value)
        raise engine.type_error(engine.messages.not_callable(shown))
    return value
