"""Shared cells: ages, labels, containers, shortened lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from simcloud.kubernetes.api import quantity, times
from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.selectors import from_label_selector

Cells = list[Any]


def part(obj: Any, *path: str) -> Object:
    """The object at a path, empty where there is none."""
    for step in path:
        obj = obj.get(step)
        if not isinstance(obj, dict):
            return {}
    found: Object = obj
    return found


def items(obj: Object, key: str) -> list[Any]:
    """The list at a key, empty where there is none."""
    return obj.get(key) or []


def text(obj: Object, key: str) -> str:
    """The text at a key, empty where there is none."""
    return obj.get(key) or ""


def count(obj: Object, key: str) -> int:
    """The whole number at a key, zero where there is none."""
    return obj.get(key) or 0


def name(obj: Object) -> str:
    """The object's name."""
    found: str = text(part(obj, "metadata"), "name")
    return found


def seconds(text: str | None) -> float | None:
    """The seconds of a time, None where it is not set."""
    try:
        return times.parse(text) if text else None
    except ValueError:
        return None


def since(text: str | None, now_s: float) -> str:
    """How long ago a time was."""
    moment = seconds(text)
    return "<unknown>" if moment is None else times.human_duration(now_s - moment)


def age(obj: Object, now_s: float) -> str:
    """How long ago the object was created."""
    return since(part(obj, "metadata").get("creationTimestamp"), now_s)


def labels(pairs: Object | None) -> str:
    """Labels, or any pairs, in the order of their names."""
    return ",".join(f"{key}={value}" for key, value in sorted(pairs.items())) if pairs else "<none>"


def selector(obj: Object | None) -> str:
    """A LabelSelector as text."""
    try:
        return str(from_label_selector(obj)) or "<none>"
    except ApiError:
        return "<error>"


def containers(template: Object) -> tuple[str, str]:
    """The names and the images of a template's containers."""
    found = items(part(template, "spec"), "containers")
    return (
        ",".join(text(container, "name") for container in found),
        ",".join(text(container, "image") for container in found),
    )


def shorten(found: Sequence[str], limit: int = 3, comma: str = ",") -> str:
    """The first few, and how many more there are."""
    shown = comma.join(found[:limit])
    return f"{shown} + {len(found) - limit} more..." if len(found) > limit else shown


def truth(value: bool | None) -> str:
    """``True``, ``False`` or ``<unset>``."""
    return "<unset>" if value is None else str(bool(value))


def amount(value: Any) -> str:
    """A quantity as Go prints it; what is not set is zero."""
    try:
        return quantity.canonical(value) if value is not None else "0"
    except ValueError:
        return str(value)


def condition(found: Iterable[Object], kind: str) -> Object | None:
    """The condition of a type."""
    return next((condition for condition in found if condition.get("type") == kind), None)
