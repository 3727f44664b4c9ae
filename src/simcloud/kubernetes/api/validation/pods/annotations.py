"""Annotations that pods give a meaning to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simcloud.kubernetes.api.field_errors import forbidden, invalid
from simcloud.kubernetes.api.validation.common import Errors, text

MIRROR = "kubernetes.io/config.mirror"
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"


def annotations_of_pod(path: str, given: Mapping[str, str] | None, spec: Mapping[str, Any]) -> Errors:
    """The values of a pod's or template's special annotations."""
    have = given or {}
    errors: Errors = []
    if MIRROR in have and not text(spec, "nodeName"):
        message = "must set spec.nodeName if mirror pod annotation is set"
        errors.append(invalid(f"{path}[{MIRROR}]", have[MIRROR], message))
    if DELETION_COST in have and not _is_cost(have[DELETION_COST]):
        errors.append(invalid(f"{path}[{DELETION_COST}]", have[DELETION_COST], "must be a 32bit integer"))
    return errors


def _is_cost(value: str) -> bool:
    digits = value.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > 10:
        return False
    starts_well = value == "0" or value.startswith("-") or value[0] != "0"
    return starts_well and -(2**31) <= int(value) < 2**31


def check_annotations_update(
    path: str, new: Mapping[str, str] | None, old: Mapping[str, str] | None
) -> Errors:
    """What of a pod's annotations must stay."""
    after, before = new or {}, old or {}
    if after.get(MIRROR) == before.get(MIRROR):
        return []
    verb = "may not remove or update" if MIRROR in before else "may not add"
    return [forbidden(f"{path}[{MIRROR}]", f"{verb} mirror pod annotation")]
