"""Merges an applied configuration into an object, and removes fields from one."""

from __future__ import annotations

from collections import deque
from typing import Any

from simcloud.kubernetes.api.apply.fieldset import SELF, Fields, is_member
from simcloud.kubernetes.api.apply.shape import (
    field_schema,
    is_named,
    items_by_step,
    step_of,
    walks_fields,
    walks_items,
)
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.schema import Schema

_ABSENT: Any = object()


def merge(live: Any, applied: Any, schema: Schema | None) -> Any:
    """The live value with what is applied in it.

    An applied null replaces a plain value, and stays a null; to what is merged in parts it adds nothing.
    """
    if walks_fields(schema, live) and live and applied is None:
        return live
    if walks_fields(schema, applied) and isinstance(applied, dict) and isinstance(live, dict | None):
        if not applied and not live:
            return applied
        merged: Object = dict(live or {})
        for name, value in applied.items():
            merged[name] = merge(merged.get(name), value, field_schema(schema, name))
        return merged
    if walks_items(schema) and schema is not None and (live or applied):
        return _merge_items(live or [], applied or [], schema)
    return applied


def _merge_items(live: list[Any], applied: list[Any], schema: Schema) -> list[Any]:
    """Applied items come in the order applied; live ones that are not applied keep their neighbours."""
    there, wanted = items_by_step(schema, live), items_by_step(schema, applied)
    live_steps = [step_of(schema, item) for item in live]
    wanted_steps = list(wanted)
    shared = deque(step for step in wanted_steps if step in there)
    merged: list[Any] = []
    done: set[str] = set()
    left = right = 0

    def put(step: str) -> None:
        done.add(step)
        before = there.get(step, [])
        merged.append(merge(before[0] if len(before) == 1 else None, wanted[step][0], schema.items))
        if shared and shared[0] == step:
            shared.popleft()

    while left < len(live_steps) or right < len(wanted_steps):
        step = live_steps[left] if left < len(live_steps) else ""
        if step and right < len(wanted_steps):
            if step == wanted_steps[right]:
                put(step)
                left, right = left + 1, right + 1
                continue
            if step in wanted and shared and shared[0] != step:
                left += 1
                continue
        if step and step not in wanted:
            merged.append(live[left])
            left += 1
            continue
        if step in done:
            left += 1
        if right < len(wanted_steps):
            put(wanted_steps[right])
            right += 1
    return merged


def remove_fields(value: Any, fields: Fields, schema: Schema | None) -> Any:
    """The value without the fields of a set; what is left empty stays, as an empty object or list."""
    if isinstance(value, dict) and walks_fields(schema, value):
        kept: Object = {}
        for name, item in value.items():
            below = fields.get(f"f:{name}")
            if below is None:
                kept[name] = item
            elif not is_member(below):
                kept[name] = remove_fields(item, below, field_schema(schema, name))
        return kept
    if isinstance(value, list) and schema is not None and walks_items(schema):
        items = []
        for item in value:
            below = fields.get(step_of(schema, item))
            if below is None:
                items.append(item)
            elif not is_member(below):
                items.append(remove_fields(item, below, schema.items))
        return items
    return type(value)() if isinstance(value, dict | list) else value


def with_named_parents(fields: Fields, schema: Schema | None) -> Fields:
    """The set with every named field in it that some path leads through."""
    found: Fields = {}
    for step, below in fields.items():
        if step == SELF or not below:
            found[step] = below
            continue
        if step.startswith("f:"):
            name = step[2:]
            inner = with_named_parents(below, field_schema(schema, name))
            named = is_named(schema, name)
        else:
            inner = with_named_parents(below, schema.items if schema is not None else None)
            named = False
        found[step] = {SELF: {}, **inner} if named and SELF not in inner else inner
    return found


def without_nulls(value: Any, live: Any, schema: Schema | None) -> Any:
    """The value without the nulls that the live one does not have: an applied null clears a field."""
    if value is live:
        return value
    if isinstance(value, dict) and walks_fields(schema, value):
        before = live if isinstance(live, dict) else {}
        return {
            name: without_nulls(item, before.get(name), field_schema(schema, name))
            for name, item in value.items()
            if item is not None or before.get(name, _ABSENT) is None
        }
    if isinstance(value, list) and schema is not None and walks_items(schema):
        there = items_by_step(schema, live)
        return [
            without_nulls(item, there.get(step_of(schema, item), [None])[0], schema.items) for item in value
        ]
    return value
