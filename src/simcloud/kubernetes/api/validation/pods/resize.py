"""Changing what a running pod's containers may use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simcloud.kubernetes.api.field_errors import FieldError, forbidden, invalid
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.validation.common import Errors, amount, items, mapping, same, text
from simcloud.kubernetes.api.validation.pods.annotations import MIRROR

_ADJUSTABLE = ("cpu", "memory")
_ONLY = "only cpu and memory resources are mutable"


def check_resize(new: Object, old: Object) -> Errors:
    """What a resize of a pod breaks."""
    spec, former = mapping(new, "spec"), mapping(old, "spec")
    if MIRROR in mapping(mapping(old, "metadata"), "annotations"):
        return [_refuse("static pods cannot be resized")]
    errors: Errors = []
    if (text(mapping(old, "status"), "qosClass") or qos_class(former)) != qos_class(spec):
        message = "Pod QOS Class may not change as a result of resizing"
        errors.append(invalid("spec", text(mapping(new, "status"), "qosClass"), message))
    if not _is_supported(mapping(old, "status")):
        errors.append(forbidden("spec", "Pod running on node without support for resize"))
    out_of_order = _ordering(spec, former)
    if out_of_order:
        return errors + out_of_order
    errors += _pod_level(mapping(spec, "resources"), mapping(former, "resources"))
    errors += _check_removals(spec, former)
    kept = _with_resources_undone(spec, former)
    errors += _other_changes(kept, former)
    if not errors and not same(kept, former):
        errors.append(forbidden("spec", _ONLY))
    return errors


def _pod_level(new: Mapping[str, Any], old: Mapping[str, Any]) -> Errors:
    """What the pod asks for as a whole."""
    if old and not new:
        return [forbidden("spec.resources", "pod-level resources cannot be removed")]
    errors = [
        forbidden(f"spec.resources.{kind}", f"pod-level resource {kind} cannot be removed")
        for kind in ("requests", "limits")
        if any(name not in mapping(new, kind) for name in mapping(old, kind))
    ]
    if not same(_find_fixed_part(new), _find_fixed_part(old)):
        errors.append(forbidden("spec", f"{_ONLY} at pod-level"))
    return errors


def _find_fixed_part(resources: Mapping[str, Any]) -> dict[str, Any]:
    """What of resources no resize may change."""
    fixed: dict[str, Any] = {"claims": resources.get("claims")}
    for kind in ("limits", "requests"):
        fixed[kind] = {
            name: value for name, value in mapping(resources, kind).items() if name not in _ADJUSTABLE
        }
    return fixed


def _refuse(message: str) -> FieldError:
    return forbidden("", message)


def _is_supported(status: Mapping[str, Any]) -> bool:
    for container in items(status, "containerStatuses"):
        if mapping(container, "state").get("running") is not None:
            return container.get("resources") is not None
    return True


def _ordering(new: Mapping[str, Any], old: Mapping[str, Any]) -> Errors:
    errors: Errors = []
    for key in ("containers", "initContainers"):
        now, before = items(new, key), items(old, key)
        if len(now) != len(before):
            errors.append(forbidden(f"spec.{key}", f"{key} may not be added or removed on resize"))
            continue
        errors += [
            forbidden(f"spec.{key}[{index}].name", f"{key} may not be renamed or reordered on resize")
            for index, (container, former) in enumerate(zip(now, before, strict=True))
            if text(container, "name") != text(former, "name")
        ]
    return errors


def _stays(container: Mapping[str, Any]) -> bool:
    return text(container, "restartPolicy") == "Always"


def _check_removals(new: Mapping[str, Any], old: Mapping[str, Any]) -> Errors:
    errors: Errors = []
    for key in ("initContainers", "containers"):
        for index, (now, before) in enumerate(zip(items(new, key), items(old, key), strict=True)):
            if key == "initContainers" and not _stays(before):
                continue
            for kind in ("requests", "limits"):
                had = mapping(mapping(before, "resources"), kind)
                has = mapping(mapping(now, "resources"), kind)
                if any(name not in has for name in had):
                    at = f"spec.{key}[{index}].resources.{kind}"
                    errors.append(forbidden(at, f"resource {kind} cannot be removed"))
    return errors


def _with_resources_undone(new: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
    kept = {**new, "resources": old.get("resources")}
    for key in ("containers", "initContainers"):
        if items(new, key):
            pairs = zip(items(new, key), items(old, key), strict=True)
            kept[key] = [
                _undone(now, before) if key == "containers" or _stays(before) else now
                for now, before in pairs
            ]
    return kept


def _undone(new: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
    wanted, former = mapping(new, "resources"), mapping(old, "resources")
    resources = dict(wanted)
    for kind in ("limits", "requests"):
        fixed = {name: value for name, value in mapping(wanted, kind).items() if name not in _ADJUSTABLE}
        had = {name: value for name, value in mapping(former, kind).items() if name in _ADJUSTABLE}
        resources[kind] = {**fixed, **had}
    return {**new, "resources": resources}


def _other_changes(kept: Mapping[str, Any], old: Mapping[str, Any]) -> Errors:
    regular = zip(items(kept, "containers"), items(old, "containers"), strict=True)
    errors = [forbidden("spec", _ONLY) for container, former in regular if not same(container, former)]
    inits = zip(items(kept, "initContainers"), items(old, "initContainers"), strict=True)
    for index, (container, former) in enumerate(inits):
        if same(container, former):
            continue
        if _stays(former):
            message = "only cpu and memory resources for init or sidecar containers are mutable"
            errors.append(forbidden(f"spec.initContainers[{index}]", message))
        else:
            errors.append(forbidden("spec", "resources for non-sidecar init containers are immutable"))
    return errors


def qos_class(spec: Mapping[str, Any]) -> str:
    """The quality of service a pod's requests and limits give it."""
    pod = spec.get("resources")
    holders = [pod] if pod and (pod.get("requests") or pod.get("limits")) else []
    if not holders:
        every = [*items(spec, "containers"), *items(spec, "initContainers")]
        holders = [mapping(container, "resources") for container in every]
    asked = [
        (kind, name, amount(value))
        for holder in holders
        for kind in ("requests", "limits")
        for name, value in mapping(holder, kind).items()
        if name in _ADJUSTABLE and amount(value) > 0
    ]
    if not asked:
        return "BestEffort"
    for holder in holders:
        limits, requests = mapping(holder, "limits"), mapping(holder, "requests")
        if any(name not in limits or amount(limits[name]) <= 0 for name in _ADJUSTABLE):
            return "Burstable"
        if any(amount(requests.get(name, limits[name])) != amount(limits[name]) for name in _ADJUSTABLE):
            return "Burstable"
    return "Guaranteed"
