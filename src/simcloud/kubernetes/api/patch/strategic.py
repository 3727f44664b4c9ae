"""Strategic merge patch: a merge patch with keyed lists and directives.

The directives are ``$patch: replace`` and ``delete``, ``$retainKeys``, ``$deleteFromPrimitiveList/x`` and
``$setElementOrder/x``. Fields that the schema does not know cannot be merged. The result may contain values of wrong
types from the patch, which ``conversion.check_types`` finds.
"""

from __future__ import annotations

from typing import Any

from simcloud.golang import sprint
from simcloud.kubernetes.api.errors import BadRequest
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.patch.element_order import (
    Identity,
    bad_type,
    identity,
    in_order,
    no_merge_key,
)
from simcloud.kubernetes.api.patch.errors import (
    DoesNotApply,
    Unclassified,
    check_depth,
    json_type,
    plain_type,
)
from simcloud.kubernetes.api.patch.merge_patch import remove_nulls
from simcloud.kubernetes.api.schema import ANYTHING, Schema

_DIRECTIVE = "$patch"
_RETAIN_KEYS = "$retainKeys"
_DELETE_FROM = "$deleteFromPrimitiveList"
_SET_ORDER = "$setElementOrder"
_BAD_RETAIN_KEYS = "invalid patch format of retainKeys"
_BAD_PRIMITIVE_LIST = "invalid patch format of primitive list"
_BAD_SET_ORDER = "invalid patch format of setElementOrder list"


def strategic_merge(original: Object, patch: Any, schema: Schema) -> Object:
    """The original with the patch merged in; neither is changed, but they share what is equal."""
    if patch is None:
        return original
    if not isinstance(patch, dict):
        raise BadRequest(
            f"json: cannot unmarshal {json_type(patch)} into Go value of type map[string]interface {{}}"
        )
    check_depth(patch)
    return _merge_map(original, patch, schema)


def _merge_map(original: Object, patch: Object, schema: Schema) -> Object:
    if _DIRECTIVE in patch:
        return _whole(patch)
    merged, patch = _retain_keys(dict(original), patch)
    merged, patch = _merge_ordered_lists(merged, patch, schema)
    for patch_key, value in patch.items():
        deletes = patch_key.startswith(_DELETE_FROM)
        key = _bare_key(patch_key, _DELETE_FROM, _BAD_PRIMITIVE_LIST) if deletes else patch_key
        if value is None:
            merged.pop(key, None)
        elif isinstance(merged.get(key), dict) and isinstance(value, dict):
            merged[key] = _merge_child(merged[key], value, _field(schema, key))
        elif isinstance(merged.get(key), list) and isinstance(value, list):
            merged[key] = _merge_list(merged[key], value, _field(schema, key), deletes)
        elif not deletes:
            _take(merged, key, value)
    return merged


def _whole(patch: Object) -> Object:
    """A map that the patch replaces or empties."""
    directive = patch[_DIRECTIVE]
    if directive == "replace":
        return {key: value for key, value in patch.items() if key != _DIRECTIVE}
    if directive == "delete":
        return {}
    raise Unclassified(f"unknown patch type: {sprint(directive)} in map: {sprint(patch)}")


def _retain_keys(original: Object, patch: Object) -> tuple[Object, Object]:
    """The original with only the keys that the patch retains, and the patch without that directive."""
    if _RETAIN_KEYS not in patch:
        return original, patch
    retained = patch[_RETAIN_KEYS]
    if not isinstance(retained, list):
        raise BadRequest(_BAD_RETAIN_KEYS)
    patch = {key: value for key, value in patch.items() if key != _RETAIN_KEYS}
    names = {name for name in retained if isinstance(name, str)}
    for key, value in patch.items():
        if value is not None and not key.startswith((_DELETE_FROM, _SET_ORDER)) and key not in names:
            raise BadRequest(_BAD_RETAIN_KEYS)
    return {key: value for key, value in original.items() if key in names}, patch


def _merge_ordered_lists(original: Object, patch: Object, schema: Schema) -> tuple[Object, Object]:
    """Merge the lists whose order the patch sets, and take them out of the patch."""
    directives = [key for key in patch if key.startswith(_SET_ORDER)]
    if not directives:
        return original, patch
    patch = dict(patch)
    for directive in directives:
        order = patch.pop(directive)
        if not isinstance(order, list):
            raise bad_type([], order)
        key = _bare_key(directive, _SET_ORDER, _BAD_SET_ORDER)
        before, patched = original.get(key, []), patch.get(key, [])
        for given in (before, patched):
            if not isinstance(given, list):
                raise bad_type([], given)
        field = _field(schema, key)
        _check_order(patched, order, field.merge_key)
        if key in original and key in patch:
            merged = _merge_list(before, patched, field, deletes=False)
            before = _places_reused(before, patched, field.merge_key)
        elif key in patch:
            merged = _without_directives(patched)
        else:
            merged = before
        if key in original or key in patch:
            _element_type(before, patched)
            original[key] = in_order(merged, order, before, field.merge_key)
            patch.pop(key, None)
    return original, patch


def _places_reused(before: list[Any], patched: list[Any], merge_key: str) -> list[Any]:
    """The live list as its order is asked for: Go puts new items into the places of deleted ones."""
    gone = {
        identity(item, merge_key) for item in patched if _is_directive(item) and item[_DIRECTIVE] == "delete"
    }
    if not gone:
        return before
    left = [item for item in before if identity(item, merge_key) not in gone]
    there = {identity(item, merge_key) for item in left}
    new = [item for item in patched if not _is_directive(item) and identity(item, merge_key) not in there]
    return left + new[: len(before) - len(left)]


def _check_order(patched: list[Any], order: list[Any], merge_key: str) -> None:
    """The patch's items must be among the ordered ones, in that order; items to delete need not."""
    if not order or not patched:
        return
    waiting = [
        item for item in patched if not (merge_key and _is_directive(item) and item[_DIRECTIVE] == "delete")
    ]
    at = 0
    for item in order:
        while at < len(waiting) and _is_directive(waiting[at]):
            at += 1
        if at < len(waiting) and identity(waiting[at], merge_key) == identity(item, merge_key):
            at += 1
    if at < len(waiting):
        raise Unclassified(
            f"The order in patch list:\n{sprint(patched)}\n doesn't match {_SET_ORDER} list:\n{sprint(order)}\n"
        )


def _bare_key(directive: str, prefix: str, complaint: str) -> str:
    """``ports`` of ``$setElementOrder/ports``."""
    head, slash, key = directive.partition("/")
    if not slash or head != prefix:
        raise BadRequest(complaint)
    return key


def _field(schema: Schema, key: str) -> Schema:
    found = schema.child(key)
    if found is None:
        struct = schema.name.rpartition(".")[2]
        raise Unclassified(f'unable to find api field in struct {struct} for the json field "{key}"')
    return found


def _strategy(schema: Schema) -> str:
    """What to do besides retaining keys: ``merge``, ``replace`` or nothing special."""
    return next((strategy for strategy in schema.patch_strategy if strategy != "retainKeys"), "")


def _merge_child(original: Object, patch: Object, schema: Schema) -> Object:
    return patch if _strategy(schema) == "replace" else _merge_map(original, patch, schema)


def _take(merged: Object, key: str, value: Any) -> None:
    """Set what was not there, or was of another type: there is nothing to merge with."""
    if isinstance(value, dict) and _DIRECTIVE in value:
        merged.pop(key, None)
    else:
        merged[key] = _without_directives(remove_nulls(value))


def _without_directives(value: Any) -> Any:
    """A new value, without the parts that only say how to merge."""
    if isinstance(value, dict):
        return {key: _without_directives(item) for key, item in value.items() if not _is_directive(item)}
    if isinstance(value, list):
        return [_without_directives(item) for item in value if not _is_directive(item)]
    return value


def _is_directive(value: Any) -> bool:
    return isinstance(value, dict) and _DIRECTIVE in value


def _merge_list(original: list[Any], patch: list[Any], schema: Schema, deletes: bool) -> list[Any]:
    if _strategy(schema) != "merge":
        return patch
    if not original and not patch:
        return original
    if _element_type(original, patch) is not dict:
        if deletes:
            gone = {identity(item, "") for item in patch}
            return [item for item in original if identity(item, "") not in gone]
        both = {identity(item, ""): item for item in original + patch}
        return in_order(list(both.values()), patch, original, "")
    key = schema.merge_key
    if not key:
        raise Unclassified("cannot merge lists without merge key for type struct")
    original, patch = _special_items(original, patch, key)
    merged = _merge_items(original, patch, schema.items if schema.shape == "list" else ANYTHING, key)
    return in_order(merged, patch, original, key)


def _element_type(*lists: list[Any]) -> type:
    """The one type of all items."""
    found: type | None = None
    for item in (item for items in lists for item in items):
        if isinstance(item, list) and found is None:
            raise DoesNotApply
        if found is not None and plain_type(item) is not found:
            raise Unclassified(f"list element types are not identical: {sprint(list(lists))}")
        found = plain_type(item)
    if found is None:
        raise Unclassified("no elements in any of the given slices")
    return found


def _special_items(original: list[Any], patch: list[Any], key: str) -> tuple[list[Any], list[Any]]:
    """Obey the items that are directives: what is left of the original, and of the patch."""
    plain = [item for item in patch if _DIRECTIVE not in item]
    gone: set[Identity] = set()
    replace = False
    for item in patch:
        directive = item.get(_DIRECTIVE)
        if _DIRECTIVE not in item:
            continue
        if directive == "delete":
            gone.add(identity(item, key))
        elif directive == "replace":
            replace = True
        elif directive == "merge":
            raise Unclassified("merging lists cannot yet be specified in the patch")
        else:
            raise Unclassified(f"unknown patch type: {sprint(directive)} in map: {sprint(item)}")
    if replace:
        return plain, []
    if gone:
        original = [item for item in original if key not in item or identity(item, key) not in gone]
    return original, plain


def _merge_items(original: list[Any], patch: list[Any], schema: Schema, key: str) -> list[Any]:
    """Merge each item of the patch into the first of the same key, or append it."""
    merged = list(original)
    places: dict[Identity, int] = {}
    for place, item in enumerate(merged):
        if key in item:
            places.setdefault(identity(item, key), place)
    for item in patch:
        if key not in item:
            raise no_merge_key(item, key)
        place = places.setdefault(identity(item, key), len(merged))
        if place < len(merged):
            merged[place] = _merge_map(merged[place], item, schema)
        else:
            merged.append(item)
    return merged
