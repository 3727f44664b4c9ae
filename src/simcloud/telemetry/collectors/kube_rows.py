"""What an object of the API is as rows: a metric's name, labels and value; and what is alike for many kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from simcloud.kubernetes.api import times
from simcloud.kubernetes.api.objects import Object

STATUSES: Final = ("true", "false", "unknown")

Row = tuple[str, dict[str, str], float]
Teller = Callable[[Object], Iterator[Row]]


def names_of(obj: Object, kind: str) -> dict[str, str]:
    """The labels that name an object."""
    metadata = obj["metadata"]
    named = {kind: metadata["name"]}
    return named | {"namespace": metadata["namespace"]} if metadata.get("namespace") else named


def created(obj: Object, kind: str, names: dict[str, str]) -> Row:
    """When an object was made."""
    return f"kube_{kind}_created", names, times.parse(obj["metadata"]["creationTimestamp"])


def owners_of(obj: Object, kind: str, names: dict[str, str]) -> Iterator[Row]:
    """Whose an object is."""
    for owner in obj["metadata"].get("ownerReferences") or ():
        is_controller = "true" if owner.get("controller") else "false"
        about = {
            "owner_kind": owner["kind"],
            "owner_name": owner["name"],
            "owner_is_controller": is_controller,
        }
        yield f"kube_{kind}_owner", names | about, 1


def conditions_of(obj: Object, name: str, names: dict[str, str], label: str = "condition") -> Iterator[Row]:
    """An object's conditions, each with its three statuses."""
    for condition in obj.get("status", {}).get("conditions") or ():
        for status in STATUSES:
            holds = condition["status"].lower() == status
            yield name, names | {label: condition["type"], "status": status}, holds


def numbers_of(kind: str, spec: dict[str, str], status: dict[str, str]) -> Teller:
    """Tells numbers of an object's spec and status; what is not there is none."""

    def tell(obj: Object) -> Iterator[Row]:
        names = names_of(obj, kind)
        yield created(obj, kind, names)
        yield f"kube_{kind}_metadata_generation", names, obj["metadata"].get("generation", 0)
        for part, fields in (("spec", spec), ("status", status)):
            content = obj.get(part) or {}
            for name, field in fields.items():
                yield f"kube_{kind}_{name}", names, float(content.get(field) or 0)
        yield from owners_of(obj, kind, names)
        if kind == "deployment":
            yield from conditions_of(obj, "kube_deployment_status_condition", names)

    return tell
