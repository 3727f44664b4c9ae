"""The set of fields of a value, or of the fields in which two values differ.

Fields that no manager owns (names, versions, managedFields themselves) are omitted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from simcloud.kubernetes.api.apply.fieldset import LEAF, SELF, Fields, sort_fields, step_of_field
from simcloud.kubernetes.api.apply.shape import (
    field_schema,
    is_named,
    items_by_step,
    walks_fields,
    walks_items,
)
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.schema import Schema

UNOWNED = frozenset({"apiVersion", "kind"})
UNOWNED_METADATA = frozenset({
    "name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation", "managedFields",
    "resourceVersion",
})  # fmt: skip
_ABSENT: Any = object()
_NESTED = (dict, list)


class Comparison(NamedTuple):
    """Where two objects differ: fields that the second one changed or added, and fields it has no more."""

    changed: Fields
    removed: Fields


def compare(old: Object, new: Object, schema: Schema | None) -> Comparison:
    """Where two objects of a kind differ."""
    old, new = _ownable(old), _ownable(new)
    for obj in (old, new):
        obj.setdefault("metadata", {})
    changed: Fields = {}
    removed: Fields = {}
    _compare_fields(old, new, schema, changed, removed)
    return Comparison(sort_fields(changed), sort_fields(removed))


def field_set(obj: Object, schema: Schema | None) -> Fields:
    """What a configuration says that can be owned: its leaves, its items, and its keys of maps."""
    return every_field(_ownable(obj), schema)


def every_field(obj: Object, schema: Schema | None) -> Fields:
    """The same with the fields that no manager owns."""
    return _list_fields(obj, schema) or {}


def _ownable(obj: Object) -> Object:
    """An object without what no manager owns."""
    found = {key: value for key, value in obj.items() if key not in UNOWNED}
    metadata = found.pop("metadata", None)
    if isinstance(metadata, dict):
        ownable = {key: value for key, value in metadata.items() if key not in UNOWNED_METADATA}
        if ownable:
            found["metadata"] = ownable
    return found


def _compare(old: Any, new: Any, schema: Schema | None) -> tuple[Fields | None, Fields | None]:
    """What changed and what was removed at and below a step that both have, differently; None for nothing."""
    changed: Fields = {}
    removed: Fields = {}
    old_walked, new_walked = walks_fields(schema, old), walks_fields(schema, new)
    if (old_walked or new_walked) and (old or new):
        _compare_fields(_fields_of(old, old_walked), _fields_of(new, new_walked), schema, changed, removed)
        if old_walked != new_walked:
            changed = {SELF: {}, **changed} if changed else {}
            return changed, removed or None
    elif walks_items(schema) and schema is not None and (old or new):
        _compare_items(old, new, schema, changed, removed)
    else:
        return LEAF, None
    return sort_fields(changed) or None, sort_fields(removed) or None


def _fields_of(value: Any, walked: bool) -> Object:
    return value if walked and isinstance(value, dict) else {}


def _compare_fields(
    old: Object, new: Object, schema: Schema | None, changed: Fields, removed: Fields
) -> None:
    for name, value in new.items():
        before = old.get(name, _ABSENT)
        if before is value or before == value:
            continue
        if before is _ABSENT:
            changed[step_of_field(name)] = _whole_field(value, schema, name)
            continue
        if type(value) not in _NESTED and type(before) not in _NESTED:
            changed[step_of_field(name)] = LEAF
            continue
        above, below = _compare(before, value, field_schema(schema, name))
        if above is not None:
            changed[step_of_field(name)] = above
        if below is not None:
            removed[step_of_field(name)] = below
    for name, value in old.items():
        if name not in new:
            removed[step_of_field(name)] = _whole_field(value, schema, name)


def _compare_items(old: Any, new: Any, schema: Schema, changed: Fields, removed: Fields) -> None:
    before, after = items_by_step(schema, old), items_by_step(schema, new)
    for step in before | after:
        was, now = before.get(step, []), after.get(step, [])
        if was == now:
            continue
        if len(was) == 1 and len(now) == 1:
            above, below = _compare(was[0], now[0], schema.items)
            if above is not None:
                changed[step] = above
            if below is not None:
                removed[step] = below
        elif len(was) > 1 and len(now) > 1:
            changed[step] = {}
        else:
            if now:
                changed[step] = _whole(now[0], schema.items) if len(now) == 1 else {}
            if was:
                removed[step] = _whole(was[0], schema.items) if len(was) == 1 else {}


def _whole_field(value: Any, schema: Schema | None, name: str) -> Fields:
    """The same of a field, most of which have nothing below them."""
    return _whole(value, field_schema(schema, name)) if type(value) in _NESTED and value else LEAF


def _whole(value: Any, schema: Schema | None) -> Fields:
    """A value that the other side does not have: the step to it and every step below."""
    if not value:
        return LEAF
    below: Fields = {}
    if isinstance(value, dict) and walks_fields(schema, value):
        for name in sorted(value):
            below[step_of_field(name)] = _whole_field(value[name], schema, name)
    elif isinstance(value, list) and schema is not None and walks_items(schema):
        found = items_by_step(schema, value)
        below = sort_fields(
            {
                step: _whole(items[0], schema.items) if len(items) == 1 else LEAF
                for step, items in found.items()
            }
        )
    return {SELF: LEAF, **below} if below else LEAF


def _list_fields(value: Any, schema: Schema | None) -> Fields | None:
    """What is said at and below a step: None for nothing, as of an empty list that is merged by items."""
    if isinstance(value, dict) and walks_fields(schema, value):
        return _list_struct_fields(value, schema)
    if walks_items(schema) and schema is not None:
        steps = items_by_step(schema, value)
        return (
            sort_fields({step: _list_item_fields(items, schema.items) for step, items in steps.items()})
            or None
        )
    return {}


def _list_struct_fields(value: Object, schema: Schema | None) -> Fields | None:
    below: Fields = {}
    for name in sorted(value):
        item = value[name]
        said = _list_fields(item, field_schema(schema, name))
        if item is None or item == {} or (said is None and not is_named(schema, name)):
            below[step_of_field(name)] = {}
        elif said is not None:
            below[step_of_field(name)] = said if is_named(schema, name) else _add_self(said)
    return below or None


def _list_item_fields(items: list[Any], schema: Schema) -> Fields:
    return _add_self(_list_fields(items[0], schema) or {}) if len(items) == 1 else {}


def _add_self(below: Fields) -> Fields:
    """The same with the step itself in the set."""
    return {SELF: {}, **below} if below else below
