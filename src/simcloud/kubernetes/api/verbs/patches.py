"""The verb patch with its four types.

JSON patch, merge patch and strategic merge patch create a new object from the current one, which is then updated. An
apply patch declares the fields that one manager wants, and creates the object if it does not exist.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from simcloud.kubernetes.api.apply.apply import server_side_apply
from simcloud.kubernetes.api.conversion import convert
from simcloud.kubernetes.api.defaults import apply_defaults
from simcloud.kubernetes.api.errors import BadRequest, Conflict, NotFound
from simcloud.kubernetes.api.objects import Object, at, copy
from simcloud.kubernetes.api.options import Caller, WriteOptions
from simcloud.kubernetes.api.patch import (
    PatchType,
    apply_json_patch,
    check_types,
    merge_patch,
    strategic_merge,
)
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.schema.decoding import CannotDecode
from simcloud.kubernetes.api.verbs.write_context import WriteContext
from simcloud.kubernetes.api.verbs.writes import accept, insert, replace, settle_namespace


class Patch(Struct, frozen=True):
    """A patch by its media type and its parsed body."""

    type: PatchType
    body: Any


def patch(
    api: WriteContext,
    resource: Resource,
    namespace: str,
    name: str,
    change: Patch,
    caller: Caller,
    options: WriteOptions,
    subresource: str = "",
) -> Object:
    """Change one object by a patch."""
    present = api.log.get(api.key(resource, namespace, name))
    if change.type is PatchType.APPLY:
        return _apply(api, resource, namespace, name, change.body, present, caller, options, subresource)
    if present is None:
        raise NotFound(resource, name)
    shown = convert(present, resource)
    patched = apply_patch(resource, shown, change)
    _refuse_other_identity(resource, patched, shown)
    try:
        obj = accept(api, resource, patched, options)
    except CannotDecode as error:
        raise BadRequest(error.why) from error
    kept = api.storage_version(resource)
    apply_defaults(kept, obj, decoded=kept is resource)
    return replace(api, resource, obj, present, caller, options, subresource)


def apply_patch(resource: Resource, shown: Object, change: Patch) -> Object:
    """An object after a patch that is not an apply; the result is not checked yet."""
    if change.type is PatchType.STRATEGIC:
        merged = strategic_merge(shown, change.body, resource.schema)
        check_types(merged, change.body, resource.schema)
        return merged
    patch_with = apply_json_patch if change.type is PatchType.JSON else merge_patch
    result = patch_with(shown, change.body)
    if not isinstance(result, dict):
        raise BadRequest("the patched object is not an object")
    return result


def _refuse_other_identity(resource: Resource, patched: Object, shown: Object) -> None:
    said = at(patched, "metadata", "resourceVersion")
    if said not in (None, "", shown["metadata"]["resourceVersion"]):
        raise Conflict(resource, shown["metadata"]["name"])
    if at(patched, "metadata", "name") != shown["metadata"]["name"]:
        raise BadRequest(
            f"the name of the object ({at(patched, 'metadata', 'name', default='')}) does not match the name on the URL "
            f"({shown['metadata']['name']})"
        )


def _apply(
    api: WriteContext,
    resource: Resource,
    namespace: str,
    name: str,
    body: Any,
    present: Object | None,
    caller: Caller,
    options: WriteOptions,
    subresource: str,
) -> Object:
    applied = accept(api, resource, body, options)
    metadata = applied["metadata"]
    if metadata.setdefault("name", name) != name:
        raise BadRequest(
            f"the name of the object ({metadata['name']}) does not match the name on the URL ({name})"
        )
    settle_namespace(resource, metadata, namespace)
    kept = api.storage_version(resource)
    if present is None and subresource:
        raise NotFound(resource, name)
    # The result shares what did not change with the present object.
    merged: Object = copy(
        server_side_apply(
            present,
            applied,
            kept,
            manager=caller.manager,
            force=options.force,
            now=api.timestamp(),
            subresource=subresource,
        )
    )
    fields = merged["metadata"].pop("managedFields", [])
    apply_defaults(kept, merged)
    if present is None:
        merged["metadata"].pop("resourceVersion", None)
        return insert(api, resource, merged, fields, caller, options)
    return replace(api, resource, merged, present, caller, options, subresource, managed_fields=fields)
