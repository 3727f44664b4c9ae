"""The patch that an upgrade sends: what a chart said, what it says now, and what the cluster has.

What the new manifest says is put right where the cluster differs; what only the old one said is taken away;
what others added stays. A strategic merge patch where the kind's schema is known, else a merge patch.
"""

from __future__ import annotations

from typing import Any

from aiopslab.cluster.api.objects import Object
from aiopslab.cluster.api.patch import PatchType
from aiopslab.cluster.api.patching import Patch
from aiopslab.cluster.api.resources import Resource
from aiopslab.cluster.api.schema import ANYTHING, Schema


def three_way(resource: Resource, before: Object, wanted: Object, present: Object) -> Patch:
    """The patch of an object; its body is empty if nothing is to do."""
    if resource.custom is not None:
        return Patch(PatchType.MERGE, _map(before, wanted, present, None))
    return Patch(PatchType.STRATEGIC, _map(before, wanted, present, resource.schema))


def _map(before: Object, wanted: Object, present: Object, schema: Schema | None) -> Object:
    patch: Object = {}
    for name, value in wanted.items():
        if value is None:
            continue
        child = _child(schema, name)
        held, old = present.get(name), before.get(name)
        if isinstance(value, dict) and isinstance(held, dict) and not _replaces(child):
            inner = _map(old if isinstance(old, dict) else {}, value, held, child)
            if inner:
                patch[name] = _retaining(inner, value, child)
        elif isinstance(value, list) and isinstance(held, list) and child is not None and _merges(child):
            _list(patch, name, old if isinstance(old, list) else [], value, held, child)
        elif value != held:
            patch[name] = value
    patch.update((name, None) for name in before if wanted.get(name) is None and name in present)
    return patch


def _list(
    patch: Object, name: str, before: list[Any], wanted: list[Any], present: list[Any], schema: Schema
) -> None:
    key = schema.merge_key
    if not key or not all(isinstance(one, dict) and key in one for one in [*before, *wanted, *present]):
        _plain_list(patch, name, before, wanted, present, keyed=bool(key))
        return
    held, old = _by_key(present, key), _by_key(before, key)
    changes: list[Any] = []
    for item in wanted:
        there = held.get(item[key])
        if there is None:
            changes.append(item)
            continue
        inner = _map(old.get(item[key], {}), item, there, schema.items)
        if inner:
            changes.append({**_retaining(inner, item, schema), key: item[key]})
    kept = _by_key(wanted, key)
    gone = [{"$patch": "delete", key: value} for value in old if value not in kept and value in held]
    if changes or gone:
        patch[name] = changes + gone
        patch[f"$setElementOrder/{name}"] = [{key: item[key]} for item in wanted]


def _plain_list(
    patch: Object, name: str, before: list[Any], wanted: list[Any], present: list[Any], *, keyed: bool
) -> None:
    if keyed:
        if wanted != present:
            patch[name] = wanted
        return
    added = [one for one in wanted if one not in present]
    gone = [one for one in before if one not in wanted and one in present]
    if added:
        patch[name] = added
    if gone:
        patch[f"$deleteFromPrimitiveList/{name}"] = gone
    if added or gone:
        patch[f"$setElementOrder/{name}"] = wanted


def _by_key(items: list[Any], key: str) -> dict[Any, Any]:
    return {item[key]: item for item in items}


def _child(schema: Schema | None, name: str) -> Schema | None:
    return (schema.child(name) or ANYTHING) if schema is not None else None


def _merges(schema: Schema) -> bool:
    return "merge" in schema.patch_strategy


def _replaces(schema: Schema | None) -> bool:
    return schema is not None and "replace" in schema.patch_strategy


def _retaining(inner: Object, wanted: Object, schema: Schema | None) -> Object:
    if schema is None or "retainKeys" not in schema.patch_strategy:
        return inner
    return {**inner, "$retainKeys": sorted(wanted)}
