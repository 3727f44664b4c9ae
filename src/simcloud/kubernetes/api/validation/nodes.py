"""The rules of a Node."""

from __future__ import annotations

from simcloud.kubernetes.api.field_errors import (
    FieldError,
    duplicate,
    forbidden,
    format_value,
    invalid,
    not_supported,
    required,
)
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.validation.common import Errors
from simcloud.kubernetes.api.validation.labels import label_name_errors
from simcloud.kubernetes.api.validation.names import label_value
from simcloud.kubernetes.api.validation.pods.resources import resource_amount
from simcloud.kubernetes.api.validation.registry import validates

_EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"]
_ONCE_CIDR = 'node updates may not change podCIDR except from "" to valid'
_ONCE_PROVIDER = 'node updates may not change providerID except from "" to valid'


@validates("", "Node")
def node(new: Object, old: Object | None) -> Errors:
    """The rules of a Node."""
    if old is not None:
        return _node_update(new, old)
    return node_taints(at(new, "spec", "taints", default=None)) + _resources(new)


def node_taints(taints: list[Object] | None) -> Errors:
    """The rules of a Node's taints. The genuine server tells of them below ``metadata``."""
    errors: Errors = []
    seen: list[tuple[str, str]] = []
    for index, taint in enumerate(taints or []):
        path = f"metadata.taints[{index}]"
        key, value, effect = (taint.get(field, "") for field in ("key", "value", "effect"))
        errors += label_name_errors(f"{path}.key", key)
        wrong = label_value(value)
        if wrong:
            errors.append(invalid(f"{path}.value", value, ";".join(wrong)))
        if not effect:
            errors.append(required(f"{path}.effect"))
        elif effect not in _EFFECTS:
            errors.append(not_supported(f"{path}.effect", effect, _EFFECTS))
        if (key, effect) in seen:
            errors.append(_same_taint(path, taint))
        seen.append((key, effect))
    return errors


def _same_taint(path: str, taint: Object) -> FieldError:
    fields = {
        "Key": taint.get("key", ""),
        "Value": taint.get("value", ""),
        "Effect": taint.get("effect", ""),
        "TimeAdded": taint.get("timeAdded"),
    }
    sentence = f"Duplicate value: {format_value(fields)}: taints must be unique by key and effect pair"
    return FieldError(path, "FieldValueDuplicate", sentence)


def _node_update(new: Object, old: Object) -> Errors:
    spec: Object = new.get("spec") or {}
    before: Object = old.get("spec") or {}
    errors = _resources(new) + _addresses(new)
    had, now = before.get("podCIDRs") or [], spec.get("podCIDRs") or []
    if had and len(had) != len(now):
        errors.append(forbidden("spec.podCIDRs", _ONCE_CIDR))
    elif had:
        changes = sum(former != other for former, other in zip(had, now, strict=True))
        errors += [forbidden("spec.podCIDRs", _ONCE_CIDR)] * changes
    if before.get("providerID") and before["providerID"] != spec.get("providerID", ""):
        errors.append(forbidden("spec.providerID", _ONCE_PROVIDER))
    errors += node_taints(spec.get("taints"))
    if spec.get("externalID", "") != before.get("externalID", ""):
        errors.append(forbidden("spec.externalID", "may not be updated"))
    return errors


def _addresses(new: Object) -> Errors:
    errors = []
    seen: list[tuple[str, str]] = []
    for index, address in enumerate(at(new, "status", "addresses", default=None) or []):
        key = (address.get("type", ""), address.get("address", ""))
        if key in seen:
            fields = {"Type": key[0], "Address": key[1]}
            errors.append(duplicate(f"status.addresses[{index}]", fields))
        seen.append(key)
    return errors


def _resources(new: Object) -> Errors:
    errors: Errors = []
    for field in ("capacity", "allocatable"):
        for name, text in (at(new, "status", field, default=None) or {}).items():
            errors += resource_amount(f"status.{field}.{name}", name, text)
    return errors
