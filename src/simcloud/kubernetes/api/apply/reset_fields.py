"""Fields that a write cannot change, and that its manager therefore never owns.

A write to an object does not change its status, a write to its status changes nothing else; some kinds are stricter.
The server resets those fields to their old values.
"""

from __future__ import annotations

from simcloud.kubernetes.api.apply.fieldset import SELF, Fields, recursive_difference
from simcloud.kubernetes.api.resources import Resource

_STATUS: Fields = {"f:status": {}}
_SPEC: Fields = {"f:spec": {}}
_SPEC_AND_METADATA: Fields = {"f:metadata": {}, "f:spec": {}}

_BY_SUBRESOURCE: dict[tuple[str, str], Fields] = {
    ("pods", "status"): {"f:metadata": {"f:deletionTimestamp": {}, "f:ownerReferences": {}}, "f:spec": {}},
    ("deployments", "status"): {"f:metadata": {"f:labels": {}}, "f:spec": {}},
    ("customresourcedefinitions", "status"): _SPEC_AND_METADATA,
    ("apiservices", "status"): _SPEC_AND_METADATA,
    ("validatingadmissionpolicies", "status"): _SPEC_AND_METADATA,
}

_CONTAINER_SIZES: Fields = {"*": {"f:resizePolicy": {}, "f:resources": {}}}
_ONLY: dict[tuple[str, str], Fields] = {
    ("pods", "ephemeralcontainers"): {"f:spec": {"f:ephemeralContainers": {}}},
    ("pods", "resize"): {"f:spec": {"f:containers": _CONTAINER_SIZES, "f:initContainers": _CONTAINER_SIZES}},
}
"""The other way round: all that these writes can change, with all below it; a star is any step."""


def without_reset(fields: Fields, resource: Resource, subresource: str) -> Fields:
    """The fields of a set that a write to the object, or to a subresource of it, can change."""
    if not subresource:
        return recursive_difference(fields, _STATUS) if "status" in resource.subresources else fields
    if subresource == "status" and resource.custom is not None:
        return {step: below for step, below in fields.items() if step == "f:status"}
    only = _ONLY.get((resource.plural, subresource))
    if only is not None and resource.custom is None:
        return _matching(fields, only)
    reset = _BY_SUBRESOURCE.get((resource.plural, subresource))
    if reset is None and subresource == "status":
        reset = _SPEC
    return recursive_difference(fields, reset) if reset else fields


def _matching(fields: Fields, only: Fields) -> Fields:
    """The paths that lead to, or through, what a pattern names."""
    if not only:
        return fields
    kept: Fields = {}
    for step, below in fields.items():
        pattern = only.get(step, only.get("*"))
        if step == SELF or (pattern is not None and not below):
            kept[step] = below
        elif pattern is not None:
            inner = _matching(below, pattern)
            if inner:
                kept[step] = {} if inner.keys() == {SELF} else inner
    return kept
