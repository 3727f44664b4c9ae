"""``Array``."""

from __future__ import annotations

import math

from simcloud.datastores.mongodb.shell.javascript.builtins.natives import (
    Natives,
    argument,
    function_argument,
    number_argument,
    position_argument,
    text_argument,
)
from simcloud.datastores.mongodb.shell.javascript.calls import call
from simcloud.datastores.mongodb.shell.javascript.conversions import number, text
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.numbers import to_integer
from simcloud.datastores.mongodb.shell.javascript.properties import get, items_of
from simcloud.datastores.mongodb.shell.javascript.values import (
    MAX_ARRAY_LENGTH,
    UNDEFINED,
    JsArray,
    JsFunction,
    JsObject,
    Value,
    same,
    truthy,
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
            raise engine.error("RangeError", engine.messages.bad_length())
        engine.charge_items(int(length))
        return engine.array([UNDEFINED] * int(length))
    return engine.array(list(args))


def items(engine: Engine, this: Value) -> list[Value]:
    """The items of the array a method is called on."""
    if not isinstance(this, JsArray):
        raise engine.type_error(engine.messages.bad_this("Array.prototype", "Array", "object"))
    return this.items


def items_to_change(engine: Engine, this: Value, added: int = 0) -> list[Value]:
    """Return the items for a method that changes the array."""
    found = items(engine, this)
    if len(found) + added > MAX_ARRAY_LENGTH:
        raise engine.error("RangeError", engine.messages.bad_length())
    engine.charge_items(added)
    return found


@natives.static("isArray")
def is_array(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return whether it is an array."""
    return isinstance(argument(args, 0), JsArray)


@natives.static("from")
async def from_(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return an array of anything that has items or a length."""
    given, convert = argument(args, 0), argument(args, 1)
    if type(given) is JsObject:
        length = await number_argument(engine, [await get(engine, given, "length")], 0, 0.0)
        if length > MAX_ARRAY_LENGTH:
            raise engine.error("RangeError", engine.messages.bad_length())
        count = int(max(0.0, to_integer(length)))
        engine.charge_items(count * 8)
        found = [await get(engine, given, str(index)) for index in range(count)]
    else:
        found = list(await items_of(engine, given))
        engine.charge_items(len(found))
    if isinstance(convert, JsFunction):
        found = [await call(engine, convert, UNDEFINED, [each, float(at)]) for at, each in enumerate(found)]
    return engine.array(found)


@natives.method("push")
def push(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Add at the end."""
    found = items_to_change(engine, this, len(args))
    found.extend(args)
    return float(len(found))


@natives.method("pop")
def pop(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Take the last."""
    found = items_to_change(engine, this)
    return found.pop() if found else UNDEFINED


@natives.method("shift")
def shift(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Take the first."""
    found = items_to_change(engine, this)
    engine.work(len(found))
    return found.pop(0) if found else UNDEFINED


@natives.method("unshift")
def unshift(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Add at the beginning."""
    found = items_to_change(engine, this, len(args))
    engine.work(len(found))
    found[:0] = args
    return float(len(found))


@natives.method("slice")
async def slice_(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return a part of it."""
    found = items(engine, this)
    start = await position_argument(engine, args, 0, len(found), 0)
    end = await position_argument(engine, args, 1, len(found), len(found))
    engine.charge_items(max(0, end - start))
    return engine.array(found[start:end])


@natives.method("splice")
async def splice(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Take a part out and put others in."""
    found = items_to_change(engine, this, max(0, len(args) - 2))
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
            raise engine.error("RangeError", engine.messages.bad_length())
    engine.charge_items(len(found))
    return engine.array(found)


@natives.method("join")
async def join(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the items as text with something between."""
    between = await text_argument(engine, args, 0, ",")
    return await _join_items(engine, items(engine, this), between)


@natives.method("toString")
async def to_string(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Join the items with commas."""
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
    return engine.charge_text(between.join(pieces))


@natives.method("reverse")
def reverse(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Turn it round."""
    found = items_to_change(engine, this)
    engine.work(len(found))
    found.reverse()
    return this


@natives.method("indexOf")
async def index_of(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the first index of a value."""
    found, wanted = items(engine, this), argument(args, 0)
    start = await position_argument(engine, args, 1, len(found), 0)
    engine.work(len(found))
    return float(next((at for at in range(start, len(found)) if same(found[at], wanted)), -1))


@natives.method("includes")
def includes(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return whether a value is among the items."""
    found, wanted = items(engine, this), argument(args, 0)
    engine.work(len(found))
    both_nan = type(wanted) is float and math.isnan(wanted)
    return any(same(each, wanted) or (both_nan and each != each) for each in found)


@natives.method("sort")
async def sort(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Sort the items by their text, or with a comparison function."""
    found = items_to_change(engine, this)
    found[:] = await merge_sorted(engine, list(found), argument(args, 0))
    return this


async def _visit(engine: Engine, this: Value, args: list[Value], at: int) -> Value:
    return await call(engine, args[0], argument(args, 1), [this.items[at], float(at), this])


@natives.method("forEach")
async def for_each(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Call a function for each item."""
    found = items(engine, this)
    function_argument(engine, args)
    at = 0
    while at < len(found):
        await _visit(engine, this, args, at)
        at += 1
    return UNDEFINED


@natives.method("map")
async def map_(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Map each item with a function."""
    found, made = items(engine, this), []
    function_argument(engine, args)
    for at in range(len(found)):
        if at < len(found):
            made.append(await _visit(engine, this, args, at))
    return engine.array(made)


@natives.method("filter")
async def filter_(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the items a function approves of."""
    found, kept = items(engine, this), []
    function_argument(engine, args)
    for at in range(len(found)):
        if at < len(found):
            each = found[at]
            if truthy(await _visit(engine, this, args, at)):
                kept.append(each)
    return engine.array(kept)


async def _first(engine: Engine, this: Value, args: list[Value], wanted: bool) -> int:
    found = items(engine, this)
    function_argument(engine, args)
    for at in range(len(found)):
        if at < len(found) and truthy(await _visit(engine, this, args, at)) is wanted:
            return at
    return -1


@natives.method("find")
async def find(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the first item a function approves of."""
    at = await _first(engine, this, args, True)
    return this.items[at] if at >= 0 else UNDEFINED


@natives.method("findIndex")
async def find_index(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the index of that item."""
    return float(await _first(engine, this, args, True))


@natives.method("some")
async def some(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return whether a function approves of one at least."""
    return await _first(engine, this, args, True) >= 0


@natives.method("every")
async def every(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return whether a function approves of all."""
    return await _first(engine, this, args, False) < 0


@natives.method("reduce")
async def reduce(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return all items combined, from the first."""
    found = items(engine, this)
    function = function_argument(engine, args)
    places = list(range(len(found)))
    if len(args) > 1:
        result = args[1]
    elif places:
        result = found[places.pop(0)]
    else:
        raise engine.type_error(engine.messages.reduce_empty())
    for at in places:
        if at < len(found):
            result = await call(engine, function, UNDEFINED, [result, found[at], float(at), this])
    return result


async def merge_sorted(engine: Engine, items: list[Value], compare: Value) -> list[Value]:
    """Sort items stably; undefined ones come last. A script's comparison function may wait."""
    missing = [each for each in items if each is UNDEFINED]
    present = [each for each in items if each is not UNDEFINED]
    engine.work(len(items) * 4)
    if not isinstance(compare, JsFunction):
        keyed = [(await text(engine, each), each) for each in present]
        keyed.sort(key=lambda pair: pair[0])
        return [each for _, each in keyed] + missing
    runs = [[each] for each in present]
    while len(runs) > 1:
        merged = [await _merge(engine, runs[at], runs[at + 1], compare) for at in range(0, len(runs) - 1, 2)]
        runs = merged + ([runs[-1]] if len(runs) % 2 else [])
    return (runs[0] if runs else []) + missing


async def _merge(engine: Engine, left: list[Value], right: list[Value], compare: JsFunction) -> list[Value]:
    merged: list[Value] = []
    first = second = 0
    while first < len(left) and second < len(right):
        verdict = await number(engine, await call(engine, compare, UNDEFINED, [left[first], right[second]]))
        if verdict > 0:
            merged.append(right[second])
            second += 1
        else:
            merged.append(left[first])
            first += 1
    return merged + left[first:] + right[second:]
