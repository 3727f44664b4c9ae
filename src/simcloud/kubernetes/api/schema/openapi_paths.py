"""The operations in OpenAPI documents: paths, verbs and parameters of each resource."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.schema.builtin import kinds
from simcloud.kubernetes.api.schema.openapi_schemas import HOME, META, Edition, custom_name

_TYPES = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
_PATCH_TYPES = (
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
)
_CUSTOM_PATCH_TYPES = _PATCH_TYPES[:3]  # merge keys are not known of custom kinds
_DRY_RUN = ("dryRun", "string", "All: go through every step and keep nothing.")
_MANAGER = ("fieldManager", "string", "The name that changed fields are owned by.")
_VALIDATION = (
    "fieldValidation",
    "string",
    "What to do about unknown and repeated fields: Ignore, Warn or Strict.",
)
_WRITE = (_DRY_RUN, _MANAGER, _VALIDATION)
_DELETE = (
    _DRY_RUN,
    ("gracePeriodSeconds", "integer", "Seconds until the object is deleted for good."),
    ("orphanDependents", "boolean", "Deprecated: use propagationPolicy."),
    ("propagationPolicy", "string", "What becomes of dependents: Orphan, Background or Foreground."),
)
_LIST = (
    ("allowWatchBookmarks", "boolean", "Send bookmarks during a watch."),
    ("continue", "string", "Where the previous page of the list ended."),
    ("fieldSelector", "string", "Restrict the list by fields."),
    ("labelSelector", "string", "Restrict the list by labels."),
    ("limit", "integer", "The most items to return in one page."),
    ("resourceVersion", "string", "The version to read at or to watch from."),
    ("resourceVersionMatch", "string", "How resourceVersion applies to a list."),
    ("sendInitialEvents", "boolean", "Begin a watch with what is there."),
    ("timeoutSeconds", "integer", "How long a list or a watch may take."),
    ("watch", "boolean", "Watch for changes instead of listing."),
)
_FORCE = ("force", "boolean", "Take over fields that others own; only for apply.")
_PRETTY = ("pretty", "string", "Indent the answer if 'true'.")

_VERBS: Mapping[str, tuple[str, str, tuple[tuple[str, str, str], ...], str]] = {
    # verb: method, action, parameters, word in the operation's id
    "get": ("get", "get", (), "read"),
    "list": ("get", "list", _LIST, "list"),
    "create": ("post", "post", _WRITE, "create"),
    "update": ("put", "put", _WRITE, "replace"),
    "patch": ("patch", "patch", (*_WRITE, _FORCE), "patch"),
    "delete": ("delete", "delete", _DELETE, "delete"),
    "deletecollection": ("delete", "deletecollection", (*_LIST, *_DELETE), "deleteCollection"),
}
_COLLECTION = ("list", "create", "deletecollection")
_ITEM = ("get", "update", "patch", "delete")


def paths_for(facts: Iterable[Mapping[str, Any]], edition: Edition) -> Object:
    """The paths of resources, with an operation for each verb."""
    paths: Object = {}
    for resource in facts:
        root = _root(resource)
        plural = resource["plural"]
        base = f"{root}/namespaces/{{namespace}}/{plural}" if resource["namespaced"] else f"{root}/{plural}"
        item = f"{base}/{{name}}"
        kind = (resource["group"], resource["version"], resource["kind"])
        _add(
            paths, base, [verb for verb in resource["verbs"] if verb in _COLLECTION], resource, kind, edition
        )
        if resource["namespaced"] and "list" in resource["verbs"]:
            _add(paths, f"{root}/{plural}", ["list"], resource, kind, edition)
        _add(paths, item, [verb for verb in resource["verbs"] if verb in _ITEM], resource, kind, edition)
        for name, subresource in resource["subresources"].items():
            served = (subresource["group"], subresource["version"], subresource["kind"])
            verbs = [verb for verb in subresource["verbs"] if verb in (*_ITEM, "create")]
            _add(paths, f"{item}/{name}", verbs, resource, served, edition, name)
    return {path: paths[path] for path in sorted(paths)}


def _root(resource: Mapping[str, Any]) -> str:
    group, version = resource["group"], resource["version"]
    return f"/apis/{group}/{version}" if group else f"/api/{version}"


def _add(
    paths: Object,
    path: str,
    verbs: list[str],
    resource: Mapping[str, Any],
    kind: tuple[str, str, str],
    edition: Edition,
    subresource: str = "",
) -> None:
    if not verbs:
        return
    everywhere = resource["namespaced"] and "{namespace}" not in path
    operations = {
        _VERBS[verb][0]: _operation(verb, resource, kind, edition, subresource, everywhere) for verb in verbs
    }
    named = [name for name in ("name", "namespace") if f"{{{name}}}" in path]
    shared = [_parameter((name, "string", f"The {name} of the object."), edition, "path") for name in named]
    paths[path] = {**operations, "parameters": [*shared, _parameter(_PRETTY, edition)]}


def _operation(
    verb: str,
    resource: Mapping[str, Any],
    kind: tuple[str, str, str],
    edition: Edition,
    subresource: str,
    everywhere: bool,
) -> Object:
    _, action, parameters, word = _VERBS[verb]
    group, version, name = kind
    answered = f"{name}List" if verb == "list" else name
    answer = _schema(group, version, answered, resource, edition)
    tag = f"{_title(resource['group'])}_{resource['version']}"
    operation: Object = {
        "description": f"{word} {'objects of kind' if verb in _COLLECTION else 'the specified'} {resource['kind']}",
        "operationId": _operation_id(word, resource, subresource, everywhere),
        "parameters": [_parameter(parameter, edition) for parameter in parameters],
        "tags": [tag[0].lower() + tag[1:]],
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": {"group": group, "kind": name, "version": version},
    }
    sent = _body_schema(verb, group, version, name, resource, edition)
    patch_types = _CUSTOM_PATCH_TYPES if "openapi" in resource else _PATCH_TYPES
    if edition == "v3":
        operation["responses"] = {"200": {"description": "OK", "content": _content(_TYPES, answer)}}
        if sent is not None:
            operation["requestBody"] = {"content": _content(patch_types if verb == "patch" else _TYPES, sent)}
        return operation
    operation["consumes"] = list(patch_types) if verb == "patch" else ["*/*"]
    operation["produces"] = list(_TYPES)
    operation["responses"] = {"200": {"description": "OK", "schema": answer}}
    if sent is not None:
        operation["parameters"].append({"name": "body", "in": "body", "required": True, "schema": sent})
    return operation


def _body_schema(
    verb: str, group: str, version: str, kind: str, resource: Mapping[str, Any], edition: Edition
) -> Object | None:
    if verb in ("create", "update"):
        return _schema(group, version, kind, resource, edition)
    meta = {"patch": "Patch", "delete": "DeleteOptions", "deletecollection": "DeleteOptions"}.get(verb)
    return {"$ref": f"{HOME[edition]}{META}{meta}"} if meta else None


def _schema(group: str, version: str, kind: str, resource: Mapping[str, Any], edition: Edition) -> Object:
    if name := kinds().get((group, version, kind)):
        return {"$ref": HOME[edition] + name}
    if "openapi" in resource and kind in (resource["kind"], f"{resource['kind']}List"):
        return {"$ref": HOME[edition] + custom_name(group, version, kind)}
    return {"type": "object"}


def _content(types: Iterable[str], schema: Object) -> Object:
    return {media_type: {"schema": schema} for media_type in types}


def _parameter(facts: tuple[str, str, str], edition: Edition, place: str = "query") -> Object:
    name, kind, description = facts
    parameter: Object = {"description": description, "in": place, "name": name}
    if place == "path":
        parameter["required"] = True
    if edition == "v2":
        return {**parameter, "type": kind, "uniqueItems": True}
    return {**parameter, "schema": {"type": kind, "uniqueItems": True}}


def _operation_id(word: str, resource: Mapping[str, Any], subresource: str, everywhere: bool) -> str:
    scope = "Namespaced" if resource["namespaced"] and not everywhere else ""
    part = "".join(piece.capitalize() for piece in subresource.split("/"))
    suffix = "ForAllNamespaces" if everywhere else ""
    version = resource["version"]
    return f"{word}{_title(resource['group'])}{version[0].upper()}{version[1:]}{scope}{resource['kind']}{part}{suffix}"


def _title(group: str) -> str:
    """``coordination.k8s.io`` is ``Coordination``; other groups keep all their parts."""
    if not group:
        return "Core"
    return "".join(part.capitalize() for part in group.removesuffix(".k8s.io").split("."))
