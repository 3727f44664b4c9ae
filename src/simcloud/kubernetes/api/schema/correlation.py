"""Which old value a new one stands for, when a custom object is updated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simcloud.kubernetes.api import field_errors
from simcloud.kubernetes.api.schema.structural import OpenApi

UNSAID: Any = object()
"""There is no old value to compare with."""


def child(path: str, key: str) -> str:
    """The path of a field."""
    return f"{path}.{key}" if path else key


def old_items(value: list[Any], openapi: OpenApi, old: Any) -> list[Any]:
    """Return the old value of each item, or ``UNSAID``; only items of a ``map`` list can be matched."""
    keys = openapi.get("x-kubernetes-list-map-keys")
    if openapi.get("x-kubernetes-list-type") != "map" or not keys or not isinstance(old, list):
        return [UNSAID] * len(value)
    by_key = {_key_of(item, keys): item for item in old if isinstance(item, dict)}
    return [by_key.get(_key_of(item, keys), UNSAID) if isinstance(item, dict) else UNSAID for item in value]


def _key_of(item: Mapping[str, Any], keys: list[str]) -> str:
    return field_errors.shown({key: item.get(key) for key in keys})
