"""Lists of objects, as kubectl makes and takes them apart."""

from __future__ import annotations

from collections.abc import Sequence

from simcloud.kubernetes.api.objects import Object


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
