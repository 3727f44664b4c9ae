"""Lists of objects and their items, and ``-o name``: ``pod/web-1``, ``deployment.apps/web``."""

from __future__ import annotations

from collections.abc import Sequence

from simcloud.kubernetes.api import Object


def as_list(objects: Sequence[Object]) -> Object:
    """The List that ``kubectl get`` prints for several objects or for a whole kind."""
    return {"apiVersion": "v1", "items": list(objects), "kind": "List", "metadata": {"resourceVersion": ""}}


def is_list(obj: Object) -> bool:
    """Whether an object is a list of others."""
    return isinstance(obj.get("items"), list)


def items_of(obj: Object) -> list[Object]:
    """The objects of a list, or the object itself."""
    return list(obj["items"]) if is_list(obj) else [obj]


def without_managed_fields(obj: Object) -> Object:
    """An object, or a list, without the notes of who manages which field; what is given is not changed."""
    if is_list(obj):
        return {**obj, "items": [without_managed_fields(item) for item in obj["items"]]}
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict) or "managedFields" not in metadata:
        return obj
    return {**obj, "metadata": {key: held for key, held in metadata.items() if key != "managedFields"}}


def name_form(obj: Object) -> str:
    """Kind, group and name of an object."""
    group, slash, _ = str(obj.get("apiVersion", "")).partition("/")
    kind = str(obj.get("kind", "")).lower() + (f".{group}" if slash else "")
    name = (obj.get("metadata") or {}).get("name") or "<unknown>"
    return f"{kind}/{name}"


def as_names(obj: Object, done: str = "") -> str:
    """A line for an object or for each of a list. ``done`` is what a verb has done to it: ``created``."""
    after = f" {done}" if done else ""
    return "".join(f"{name_form(item)}{after}\n" for item in items_of(obj))
