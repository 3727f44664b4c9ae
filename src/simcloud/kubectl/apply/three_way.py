"""The patch of a client-side apply: deletions since the last apply, and differences from the live object.

Fields that were removed from the manifest since the last apply are deleted; fields that differ from the live object
are set; other fields of the live object are left alone. Built-in kinds get strategic merge patches, whose lists are
merged by keys and keep the manifest's order; all others get plain merge patches.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from simcloud.kubernetes.api import Object, Resource
from simcloud.kubernetes.api.patch import PatchType
from simcloud.kubernetes.api.schema import ANYTHING, Schema
from simcloud.kubernetes.api.verbs import Patch

DIRECTIVE: Final = "$patch"
ORDER: Final = "$setElementOrder/"
DELETE_FROM: Final = "$deleteFromPrimitiveList/"
RETAIN_KEYS: Final = "$retainKeys"


class _Only(Struct, frozen=True):
    """Which differences count."""

    deletions: bool
    changes: bool
    retain_keys: bool = False


_CHANGES: Final = _Only(deletions=False, changes=True)
_DELETIONS: Final = _Only(deletions=True, changes=False)


def merge_three_way(resource: Resource, original: Object | None, modified: Object, current: Object) -> Patch:
    """The patch that brings the live object where the manifest wants it."""
    if resource.custom is not None or not resource.schema.name:
        return Patch(PatchType.MERGE, _merge_three_way(original or {}, modified, current))
    schema = resource.schema
    changes = _diff_maps(current, modified, schema, _CHANGES)
    deletions = _diff_maps(original, modified, schema, _DELETIONS) if original else {}
    return Patch(PatchType.STRATEGIC, _combine(deletions, changes, schema))


def _diff_maps(before: Object, after: Object, schema: Schema, only: _Only) -> Object:
    patch: Object = {}
    for key, old in before.items():
        if key not in after:
            if only.deletions:
                patch[key] = None
            continue
        new = after[key]
        field = schema.child(key) or ANYTHING
        if isinstance(old, dict) and isinstance(new, dict):
            _diff_field(patch, key, old, new, field, only)
        elif isinstance(old, list) and isinstance(new, list) and _strategy(field) == "merge":
            _diff_list(patch, key, old, new, field, only)
        elif only.changes and not same(old, new):
            patch[key] = new
    if only.changes:
        patch.update({key: new for key, new in after.items() if key not in before})
    kept = sorted(key for key, value in after.items() if value is not None)
    if only.retain_keys and kept and (patch or any(key not in before for key in after)):
        patch[RETAIN_KEYS] = kept
    return patch


def _strategy(field: Schema) -> str:
    return next((strategy for strategy in field.patch_strategy if strategy != "retainKeys"), "")


def _diff_field(patch: Object, key: str, old: Object, new: Object, field: Schema, only: _Only) -> None:
    if _strategy(field) == "replace":
        if only.changes and not same(old, new):
            patch[key] = new
        return
    below = replace(only, retain_keys="retainKeys" in field.patch_strategy)
    found = _diff_maps(old, new, field, below)
    if found:
        patch[key] = found


def _diff_list(patch: Object, key: str, old: list[Any], new: list[Any], field: Schema, only: _Only) -> None:
    """The differences of a list that is merged item by item, with the order that its items shall have."""
    if not old:
        if new and only.changes:
            patch[key] = new
        return
    if not all(isinstance(item, dict) for item in (*old, *new)):
        _diff_values(patch, key, old, new, only)
        return
    by = field.merge_key
    if not by or not all(by in item for item in (*old, *new)):
        if only.changes and not same(old, new):
            patch[key] = new
        return
    below = replace(only, retain_keys="retainKeys" in field.patch_strategy)
    found = _diff_items(old, new, by, field.items, below)
    moved = [item[by] for item in old] != [item[by] for item in new]
    # A live list with more items counts as moved: the genuine one orders it anew at every apply.
    if new and ((only.changes and (found or moved)) or (only.deletions and found)):
        patch[ORDER + key] = [{by: item[by]} for item in new]
    if found:
        patch[key] = found


def _diff_items(old: list[Object], new: list[Object], by: str, schema: Schema, only: _Only) -> list[Object]:
    """Patches for items that differ, whole items that are new, and directives for those that are gone."""
    there = {_identity(item[by]): item for item in reversed(old)}
    found: list[Object] = []
    for item in new:
        before = there.get(_identity(item[by]))
        if before is None:
            if only.changes:
                found.append(item)
            continue
        change = _diff_maps(before, item, schema, only)
        if change:
            found.append({**change, by: item[by]})
    if only.deletions:
        left = {_identity(item[by]) for item in new}
        found.extend({by: item[by], DIRECTIVE: "delete"} for item in old if _identity(item[by]) not in left)
    return found


def _diff_values(patch: Object, key: str, old: list[Any], new: list[Any], only: _Only) -> None:
    """A list of plain values, as finalizers are."""
    added = [value for value in new if value not in old] if only.changes else []
    gone = [value for value in old if value not in new] if only.deletions else []
    if added:
        patch[key] = added
    if gone:
        patch[DELETE_FROM + key] = gone
    if new and (gone or (only.changes and not same(old, new))):
        patch[ORDER + key] = new


def _identity(value: Any) -> tuple[str, Any]:
    return type(value).__name__, value


def same(one: Any, other: Any) -> bool:
    """Equality that tells true from 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _combine(deletions: Object, changes: Object, schema: Schema) -> Object:
    """Combine both patches."""
    patch = dict(deletions)
    for key, value in changes.items():
        before = patch.get(key)
        field = schema.child(key) or ANYTHING
        if isinstance(before, dict) and isinstance(value, dict):
            patch[key] = _combine(before, value, field)
        elif isinstance(before, list) and isinstance(value, list) and _has_keys(field, before, value):
            order = changes.get(ORDER + key) or deletions.get(ORDER + key) or []
            patch[key] = _combine_items(before, value, field, order)
        else:
            patch[key] = value
    return patch


def _has_keys(field: Schema, *lists: list[Any]) -> bool:
    items = [item for listed in lists for item in listed]
    return _strategy(field) == "merge" and all(
        isinstance(item, dict) and field.merge_key in item for item in items
    )


def _combine_items(
    deletions: list[Object], changes: list[Object], field: Schema, order: list[Object]
) -> list[Object]:
    """Items of both, in the order that is set; those to delete come last."""
    by = field.merge_key
    merged = {_identity(item[by]): item for item in deletions}
    for item in changes:
        key = _identity(item[by])
        merged[key] = _combine(merged[key], item, field.items) if key in merged else item
    places = {_identity(item[by]): place for place, item in enumerate(order)}
    return sorted(
        merged.values(), key=lambda item: (DIRECTIVE in item, places.get(_identity(item[by]), len(places)))
    )


def _merge_three_way(original: Object, modified: Object, current: Object) -> Object:
    """A plain merge patch: deletions since the last time, and what the live object lacks."""
    patch = _merge_diff(original, modified, deletions=True)
    changes = _merge_diff(current, modified, deletions=False)
    return _merge_combined(patch, changes)


def _merge_diff(before: Object, after: Object, *, deletions: bool) -> Object:
    patch: Object = {}
    for key, old in before.items():
        if key not in after:
            if deletions:
                patch[key] = None
        elif isinstance(old, dict) and isinstance(after[key], dict):
            if found := _merge_diff(old, after[key], deletions=deletions):
                patch[key] = found
        elif not deletions and not same(old, after[key]):
            patch[key] = after[key]
    if not deletions:
        patch.update({key: new for key, new in after.items() if key not in before})
    return patch


def _merge_combined(one: Object, other: Object) -> Object:
    merged = dict(one)
    for key, value in other.items():
        before = merged.get(key)
        if isinstance(before, dict) and isinstance(value, dict):
            value = _merge_combined(before, value)
        merged[key] = value
    return merged
