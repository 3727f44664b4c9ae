"""JSON merge patch (RFC 7386): objects are merged, null removes, everything else replaces."""

from __future__ import annotations

from typing import Any

from simcloud.kubernetes.api.errors import BadRequest
from simcloud.kubernetes.api.patch.errors import check_depth, json_type

_WANTED = "Go value of type map[string]interface {}"


def merge_patch(document: Any, patch: Any) -> Any:
    """The document with the patch merged in; neither is changed, but they share what is equal."""
    if patch is not None and not isinstance(patch, dict):
        raise BadRequest(f"error decoding patch: json: cannot unmarshal {json_type(patch)} into {_WANTED}")
    if patch is None:
        raise BadRequest("Invalid JSON Patch")
    check_depth(patch)
    return _merge(document, patch)


def _merge(document: Any, patch: Any) -> Any:
    if not isinstance(document, dict):
        return remove_nulls(patch)
    if not isinstance(patch, dict):
        return patch
    merged = dict(document)
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merge(merged.get(key), value)
    return merged


def remove_nulls(value: Any) -> Any:
    """What a patch says of something that was not there: its nulls have nothing to remove."""
    if isinstance(value, dict):
        return {key: remove_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [remove_nulls(item) for item in value]
    return value
