"""Patches of kustomizations: strategic merge patches and JSON patches."""

from __future__ import annotations

import re
from typing import Any, Final

from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.kustomize.resources import Res, format_id
from simcloud.kubernetes.api import ApiError, Catalogue, Object, selectors
from simcloud.kubernetes.api.patch import apply_json_patch
from simcloud.kubernetes.api.schema import ANYTHING, Schema

DIRECTIVE: Final = "$patch"


def patch_all(resources: list[Res], patch: Any, target: Object | None, catalogue: Catalogue) -> None:
    """Apply one patch to what it is meant for; a resource may vanish by it."""
    if isinstance(patch, list):
        if target is None:
            raise KubectlError("must specify a target for JSON patch")
        for resource in _targets(resources, target):
            resource.obj = _operations(resource.obj, patch)
        return
    if not isinstance(patch, dict):
        raise KubectlError("unable to parse SM or JSON patch from [" + str(patch) + "]")
    found = _targets(resources, target) if target else _by_identity(resources, patch)
    for resource in found:
        _merge_into(resources, resource, patch, catalogue)


def _operations(obj: Object, patch: list[Any]) -> Object:
    try:
        result = apply_json_patch(obj, patch)
    except ApiError as error:
        raise KubectlError(error.message) from None
    if not isinstance(result, dict):
        raise KubectlError("the patched object is not an object")
    return result


def _targets(resources: list[Res], target: Object) -> list[Res]:
    """What a target chooses; names are whole regular expressions."""

    def fits(one: Res) -> bool:
        group, _, version = str(one.obj["apiVersion"]).rpartition("/")
        exact = (("group", group), ("version", version), ("kind", one.kind))
        if any(target.get(key) and not _whole(target[key], value) for key, value in exact):
            return False
        if target.get("name") and not any(_whole(target["name"], name) for name in (one.name, *one.names)):
            return False
        if target.get("namespace") and not _whole(target["namespace"], one.namespace):
            return False
        metadata = one.obj["metadata"]
        return all(
            selectors.parse_labels(str(target.get(key) or "")).matches(metadata.get(part))
            for key, part in (("labelSelector", "labels"), ("annotationSelector", "annotations"))
        )

    return [resource for resource in resources if fits(resource)]


def _whole(form: Any, text: str) -> bool:
    try:
        return re.fullmatch(str(form), text) is not None
    except re.error as error:
        raise KubectlError(f"error parsing regexp: {error}") from None


def _by_identity(resources: list[Res], patch: Object) -> list[Res]:
    metadata = patch.get("metadata") or {}
    name, namespace = metadata.get("name"), metadata.get("namespace")
    found = [
        resource
        for resource in resources
        if resource.kind == patch.get("kind")
        and resource.obj["apiVersion"].rpartition("/")[0]
        == str(patch.get("apiVersion", "")).rpartition("/")[0]
        and resource.has_name(str(name))
        and (not namespace or not resource.namespace or namespace == resource.namespace)
    ]
    if not found:
        shown = format_id({"apiVersion": "", "kind": "", **patch})
        raise KubectlError(
            f'no resource matches strategic merge patch "{shown}": no matches for Id {shown}; failed to find unique '
            f"target for patch {shown}"
        )
    return found[:1]


def _merge_into(resources: list[Res], one: Res, patch: Object, catalogue: Catalogue) -> None:
    if patch.get(DIRECTIVE) == "delete":
        resources.remove(one)
        return
    resource = catalogue.of_kind(str(one.obj["apiVersion"]), one.kind)
    schema = resource.schema if resource is not None and resource.custom is None else ANYTHING
    name, namespace = one.name, one.obj["metadata"].get("namespace")
    merged = _merge(one.obj, patch, schema)
    one.obj = {**merged, "apiVersion": one.obj["apiVersion"], "kind": one.kind}
    one.obj["metadata"] = {**(merged.get("metadata") or {}), "name": name}
    if namespace is not None:
        one.obj["metadata"]["namespace"] = namespace


def _merge(before: Any, patch: Any, schema: Schema) -> Any:
    """Merge a patch into a map or a value."""
    if not isinstance(before, dict) or not isinstance(patch, dict):
        return _bare(patch)
    if patch.get(DIRECTIVE) == "replace":
        return _bare(patch)
    result = dict(before)
    for key, value in patch.items():
        if key == DIRECTIVE:
            continue
        field = schema.child(key) or ANYTHING
        if value is None or (isinstance(value, dict) and value.get(DIRECTIVE) == "delete"):
            result.pop(key, None)
        elif isinstance(value, list) and isinstance(result.get(key), list):
            result[key] = _merge_list(result[key], value, field)
        else:
            result[key] = _merge(result.get(key), value, field)
    return result


def _merge_list(before: list[Any], patch: list[Any], schema: Schema) -> list[Any]:
    """Lists with a key are merged by it, the patch's items first; all others are replaced."""
    key = schema.merge_key
    keyed = "merge" in schema.patch_strategy and key
    if not keyed or not all(isinstance(item, dict) for item in (*before, *patch)):
        return [_bare(item) for item in patch]
    if any(item.get(DIRECTIVE) == "replace" for item in patch):
        return [_bare(item) for item in patch if item.get(DIRECTIVE) != "replace"]
    there = {str(item.get(key)): item for item in before}
    said = [str(item.get(key)) for item in patch]
    result = [
        _merge(there.get(name), item, schema.items)
        for name, item in zip(said, patch, strict=True)
        if item.get(DIRECTIVE) != "delete"
    ]
    return [*result, *(item for item in before if str(item.get(key)) not in said)]


def _bare(value: Any) -> Any:
    """A value without directives and without nulls."""
    if isinstance(value, dict):
        return {key: _bare(item) for key, item in value.items() if key != DIRECTIVE and item is not None}
    if isinstance(value, list):
        return [_bare(item) for item in value]
    return value
