"""What of a pod may change: images, deadlines, tolerations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simcloud.kubernetes.api.field_errors import FieldError, forbidden, invalid, required
from simcloud.kubernetes.api.validation.common import INT32_MAX, Errors, items, mapping, same, text
from simcloud.kubernetes.api.validation.go_types import changes
from simcloud.kubernetes.api.validation.names import between
from simcloud.kubernetes.api.validation.pods.affinity import tolerations
from simcloud.kubernetes.api.validation.pods.annotations import MIRROR
from simcloud.kubernetes.api.validation.pods.containers import only_in_pods

_MAY_CHANGE = (
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def check_spec_update(new: Mapping[str, Any], old: Mapping[str, Any]) -> Errors:
    """What a change of a pod's spec breaks."""
    errors: Errors = []
    for key in ("containers", "initContainers"):
        if len(items(new, key)) != len(items(old, key)):
            message = "pod updates may not add or remove containers"
            return [*errors, forbidden(f"spec.{key}", message)]
        errors += _images(f"spec.{key}", items(new, key))
    late = _deadline(new.get("activeDeadlineSeconds"), old.get("activeDeadlineSeconds"))
    errors += late
    if late and new.get("activeDeadlineSeconds") is not None:
        return errors
    errors += _tolerations(items(new, "tolerations"), items(old, "tolerations"))
    errors += _scheduling_gates(items(new, "schedulingGates"), items(old, "schedulingGates"))
    return errors + _the_rest(new, old)


def _images(path: str, containers: list[Any]) -> Errors:
    errors: Errors = []
    for index, container in enumerate(containers):
        at = f"{path}[{index}]"
        if not text(container, "image"):
            errors.append(required(f"{at}.image"))
        errors += only_in_pods(at, container)
    return errors


def _deadline(new: int | None, old: int | None) -> Errors:
    path = "spec.activeDeadlineSeconds"
    if new is None:
        message = "must not update from a positive integer to nil value"
        return [] if old is None else [invalid(path, None, message)]
    if not 0 <= new <= INT32_MAX:
        return [invalid(path, new, between(0, INT32_MAX))]
    if old is not None and old < new:
        return [invalid(path, new, "must be less than or equal to previous value")]
    return []


def _tolerations(new: list[Any], old: list[Any]) -> Errors:
    path = "spec.tolerations"
    kept = {_toleration_key(toleration) for toleration in new}
    if any(_toleration_key(toleration) not in kept for toleration in old):
        return [forbidden(path, "existing toleration can not be modified except its tolerationSeconds")]
    return tolerations(path, new)


def _toleration_key(toleration: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(text(toleration, key) for key in ("key", "operator", "value", "effect"))


def _scheduling_gates(new: list[Any], old: list[Any]) -> Errors:
    known = {text(gate, "name") for gate in old}
    return [
        forbidden(
            f"spec.schedulingGates[{index}].name",
            f"only deletion is allowed, but found new scheduling gate '{text(gate, 'name')}'",
        )
        for index, gate in enumerate(new)
        if text(gate, "name") not in known
    ]


def _the_rest(new: Mapping[str, Any], old: Mapping[str, Any]) -> Errors:
    """Everything else must be as it was."""
    if same(new, old):
        return []
    kept = _with_allowed_changes_undone(new, old)
    if same(kept, old):
        return []
    message = f"pod updates may not change fields other than {_MAY_CHANGE}\n{changes('PodSpec', old, kept)}"
    return [forbidden("spec", message)]


def _with_allowed_changes_undone(new: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
    kept = dict(new)
    for key in ("containers", "initContainers"):
        if items(new, key):
            kept[key] = [
                {**container, "image": text(former, "image")}
                for container, former in zip(items(new, key), items(old, key), strict=True)
            ]
    for key in ("activeDeadlineSeconds", "schedulingGates", "tolerations"):
        kept[key] = old.get(key)
    grace = old.get("terminationGracePeriodSeconds")
    if grace is not None and grace < 0 and new.get("terminationGracePeriodSeconds") == 1:
        kept["terminationGracePeriodSeconds"] = grace
    return kept


def check_ephemeral_containers_update(new: Mapping[str, Any], old: Mapping[str, Any]) -> Errors:
    """Ephemeral containers are added; they neither change nor go."""
    if MIRROR in mapping(mapping(old, "metadata"), "annotations"):
        return [
            FieldError(
                "", "FieldValueForbidden", "Forbidden: static pods do not support ephemeral containers"
            )
        ]
    path = "spec.ephemeralContainers"
    by_name = {
        text(container, "name"): container for container in items(mapping(new, "spec"), "ephemeralContainers")
    }
    errors: Errors = []
    for former in items(mapping(old, "spec"), "ephemeralContainers"):
        name = text(former, "name")
        if name not in by_name:
            errors.append(forbidden(path, f'existing ephemeral containers "{name}" may not be removed\n'))
        elif not same(by_name[name], former):
            shown = changes("EphemeralContainer", former, by_name[name])
            message = f'existing ephemeral containers "{name}" may not be changed\n{shown}'
            errors.append(forbidden(path, message))
    return errors
