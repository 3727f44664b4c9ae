"""Kubernetes objects as plain dicts in their JSON form. Stored objects are shared and never modified.

Code that modifies an object makes a ``copy`` first. The test suite freezes the objects that the API returns, so that
a missing copy is detected.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

Object: TypeAlias = dict[str, Any]
"""A Kubernetes object: apiVersion, kind, metadata and the rest, in JSON's types."""
LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
"""The annotation in which ``kubectl apply`` stores the last applied manifest."""

_NESTED = (dict, list)


def copy(value: Any) -> Any:
    """Return a deep copy of JSON data; several times faster than ``deepcopy``."""
    if isinstance(value, dict):
        return {key: copy(item) if isinstance(item, _NESTED) else item for key, item in value.items()}
    if isinstance(value, list):
        return [copy(item) if isinstance(item, _NESTED) else item for item in value]
    return value


def meta(obj: Object) -> Object:
    """Return the object's metadata."""
    metadata: Object = obj["metadata"]
    return metadata


def name_of(obj: Object) -> str:
    """Return the object's name."""
    name: str = obj["metadata"].get("name", "")
    return name


def namespace_of(obj: Object) -> str:
    """Return the object's namespace; empty for cluster-wide objects."""
    namespace: str = obj["metadata"].get("namespace", "")
    return namespace


def at(value: Any, *path: str | int, default: Any = None) -> Any:
    """Return the value at a path, or the default if the path does not exist."""
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return default
    return value
