"""A stable sort whose comparison may be a script's function, which may wait."""

from __future__ import annotations

from simcloud.datastores.mongodb.shell.javascript.calls import call
from simcloud.datastores.mongodb.shell.javascript.convert import number, text
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.values import UNDEFINED, JsFunction, Value


async def merge_sorted(engine: Engine, items: list[Value], compare: Value) -> list[Value]:
    """The items in order; undefined ones come last."""
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
