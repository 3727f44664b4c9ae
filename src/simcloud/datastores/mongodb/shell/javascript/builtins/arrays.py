"""``Array``: what changes an array or takes a part of it. What goes over its items is in ``array_visits``."""

from __future__ import annotations

import math

from simcloud.datastores.mongodb.shell.javascript.builtins.natives import (
    Natives,
    argument,
    number_argument,
    position_argument,
    text_argument,
)
from simcloud.datastores.mongodb.shell.javascript.builtins.sorting import merge_sorted
from simcloud.datastores.mongodb.shell.javascript.calls import call
from simcloud.datastores.mongodb.shell.javascript.convert import text
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.iteration import items_of
from simcloud.datastores.mongodb.shell.javascript.numbers import to_integer
from simcloud.datastores.mongodb.shell.javascript.properties import get
from simcloud.datastores.mongodb.shell.javascript.values import (
    MAX_ARRAY_LENGTH,
    UNDEFINED,
    JsArray,
    JsFunction,
    JsObject,
    Value,
    same,
)

natives = Natives("Array")
_JOIN_DEPTH = 50


def install(engine: Engine) -> None:
    """Give an engine ``Array``."""
    natives.install(engine, _array, _array)


def _array(engine: Engine, this: Value, args: list[Value]) -> Value:
    if len(args) == 1 and type(args[0]) is float:
        length = args[0]
        if not 0 <= length <= MAX_ARRAY_LENGTH or length % 1:
            raise engine.error("RangeError", engine.words.bad_length())
        engine.made_items(int(length))
        return engine.array([UNDEFINED] * int(length))
    return engine.array(list(args))


def items(engine: Engine, this: Value) -> list[Value]:
    """The items of the array a method is called on."""
    if not isinstance(this, JsArray):
        raise engine.type_error(engine.words.bad_this("Array.prototype", "Array", "object"))
    return this.items


def changed(engine: Engine, this: Value, added: int = 0) -> list[Value]:
    """The same, for a method that changes the array."""
    found = items(engine, this)
    if len(found) + added > MAX_ARRAY_LENGTH:
        raise engine.error("RangeError", engine.words.bad_length())
    engine.made_items(added)
    return found


@natives.static("isArray")
def is_array(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Whether it is an array."""
    return isinstance(argument(args, 0), JsArray)


@natives.static("from")
async def from_(engine: Engine, this: Value, args: list[Value]) -> Value:
    """An array of anything that has items or a length."""
    given, convert = argument(args, 0), argument(args, 1)
    if type(given) is JsObject:
        length = await number_argument(engine, [await get(engine, given, "length")], 0, 0.0)
        if length > MAX_ARRAY_LENGTH:
            raise engine.error("RangeError", engine.words.bad_length())
        count = int(max(0.0, to_integer(length)))
        engine.made_items(count * 8)
        found = [await get(engine, given, str(index)) for index in range(count)]
    else:
        found = list(await items_of(engine, given))
        engine.made_items(len(found))
    if isinstance(convert, JsFunction):
        found = [await call(engine, convert, UNDEFINED, [each, float(at)]) for at, each in enumerate(found)]
    return engine.array(found)


@natives.method("push")
def push(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Add at the end."""
    found = changed(engine, this, len(args))
    found.extend(args)
    return float(len(found))


@natives.method("pop")
def pop(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Take the last."""
    found = changed(engine, this)
    return found.pop() if found else UNDEFINED


@natives.method("shift")
def shift(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Take the first."""
    found = changed(engine, this)
    engine.work(len(found))
    return found.pop(0) if found else UNDEFINED


@natives.method("unshift")
def unshift(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Add at the beginning."""
    found = changed(engine, this, len(args))
    engine.work(len(found))
    found[:0] = args
    return float(len(found))


@natives.method("slice")
async def slice_(engine: Engine, this: Value, args: list[Value]) -> Value:
    """A part of it."""
    found = items(engine, this)
    start = await position_argument(engine, args, 0, len(found), 0)
    end = await position_argument(engine, args, 1, len(found), len(found))
    engine.made_items(max(0, end - start))
    return engine.array(found[start:end])


@natives.method("splice")
async def splice(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Take a part out and put others in."""
    found = changed(engine, this, max(0, len(args) - 2))
    start = await position_argument(engine, args, 0, len(found), 0)
    rest = len(found) - start if args else 0
    count = int(min(max(0.0, await number_argument(engine, args, 1, float(rest))), rest))
    engine.work(len(found))
    taken = found[start : start + count]
    found[start : start + count] = args[2:]
    return engine.array(taken)


@natives.method("concat")
def concat(engine: Engine, this: Value, args: list[Value]) -> Value:
    """One array after another."""
    found = list(items(engine, this))
    for each in args:
        found.extend(each.items if isinstance(each, JsArray) else [each])
        if len(found) > MAX_ARRAY_LENGTH:
            raise engine.error("RangeError", engine.words.bad_length())
    engine.made_items(len(found))
    return engine.array(found)


@natives.method("join")
async def join(engine: Engine, this: Value, args: list[Value]) -> Value:
    """The items as text with something between."""
    between = await text_argument(engine, args, 0, ",")
    return await _join_items(engine, items(engine, this), between)


@natives.method("toString")
async def to_string(engine: Engine, this: Value, args: list[Value]) -> Value:
    """The items with commas between."""
    return await _join_items(engine, items(engine, this), ",")


async def _join_items(engine: Engine, found: list[Value], between: str) -> str:
    depth = sum(1 for frame in engine.frames if frame.name == "join")
    if depth > _JOIN_DEPTH:
        return ""
    engine.work(len(found))
    engine.enter("join", engine.frames[-1].source, engine.frames[-1].at)
    pieces: list[str] = []
    length = 0
    try:
        for each in found:
            pieces.append("" if each is UNDEFINED or each is None else await text(engine, each))
            length += len(pieces[-1]) + len(between)
            engine.check_text(length)
    finally:
        engine.frames.pop()
    return engine.made_text(between.join(pieces))


@natives.method("reverse")
def reverse(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Turn it round."""
    found = changed(engine, this)
    engine.work(len(found))
    found.reverse()
    return this


@natives.method("indexOf")
async def index_of(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Where a value first stands."""
    found, wanted = items(engine, this), argument(args, 0)
    start = await position_argument(engine, args, 1, len(found), 0)
    engine.work(len(found))
    return float(next((at for at in range(start, len(found)) if same(found[at], wanted)), -1))


@natives.method("includes")
def includes(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Whether a value is among the items."""
    found, wanted = items(engine, this), argument(args, 0)
    engine.work(len(found))
    both_nan = type(wanted) is float and math.isnan(wanted)
    return any(same(each, wanted) or (both_nan and each != each) for each in found)


@natives.method("sort")
async def sort(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Put the items in order: by their text, or as a function says."""
    found = changed(engine, this)
    found[:] = await merge_sorted(engine, list(found), argument(args, 0))
    return this
