"""Strategies of pods: first status, QoS class, and the subresources that change a part of a running pod."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

from simcloud.kubernetes.api import quantity
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.strategies.metadata import keep_system_metadata, keep_user_metadata
from simcloud.kubernetes.api.strategies.registry import on_create, on_status_update, share, take

_GATED = "Scheduling is blocked due to non-empty scheduling gates"

_COUNTED = ("cpu", "memory")


@on_create("", "Pod")
def create_pod(pod: Object) -> None:
    """A new pod is pending; its own labels go into the selectors that ask for them."""
    spec = pod.setdefault("spec", {})
    pod["status"] = {"phase": "Pending", "qosClass": qos_class(spec)}
    if spec.get("schedulingGates"):
        pod["status"]["conditions"] = [
            {
                "type": "PodScheduled",
                "status": "False",
                "lastProbeTime": None,
                "lastTransitionTime": pod["metadata"].get("creationTimestamp"),
                "reason": "SchedulingGated",
                "message": _GATED,
            }
        ]
    labels = pod["metadata"].get("labels", {})
    for term in (*_affinity_terms(spec), *spec.get("topologySpreadConstraints", ())):
        _merge_label_keys(term, labels)


@on_status_update("", "Pod")
def update_pod_status(new: Object, old: Object) -> None:
    """Keep the owners and the QoS class, which a kubelet cannot change."""
    share(new["metadata"], old["metadata"], "ownerReferences")
    status, before = new.setdefault("status", {}), old.get("status", {})
    for field in ("qosClass", "observedGeneration"):
        if not status.get(field):
            take(status, before, field)
    generations: dict[str, list[int]] = {}
    for condition in before.get("conditions", ()):
        generations.setdefault(condition.get("type", ""), []).append(condition.get("observedGeneration", 0))
    for condition in status.get("conditions", ()):
        remembered = generations.get(condition.get("type", ""))
        generation = remembered.pop(0) if remembered else 0
        if generation and not condition.get("observedGeneration"):
            condition["observedGeneration"] = generation


def prepare_ephemeral_containers(new: Object, old: Object) -> None:
    """Keep all of a pod but its ephemeral containers."""
    wanted = new.get("spec", {}).get("ephemeralContainers")
    _keep_all_but_spec(new, old)
    new["spec"] = copy(old["spec"])
    _put(new["spec"], "ephemeralContainers", wanted)
    _count(new, old)


def prepare_resize(new: Object, old: Object) -> None:
    """Keep all of a pod but the resources of its containers; other containers are left for validation to refuse."""
    spec, before = new.setdefault("spec", {}), old["spec"]
    kinds = ("containers", "initContainers")
    if any(len(spec.get(kind, ())) != len(before.get(kind, ())) for kind in kinds):
        keep_system_metadata(new, old)
        _count(new, old)
        return
    _keep_all_but_spec(new, old)
    resized = {kind: _resize(spec.get(kind, []), before.get(kind, [])) for kind in kinds}
    new["spec"] = {**copy(before), **{kind: wanted for kind, wanted in resized.items() if wanted}}
    _put(new["spec"], "resources", spec.get("resources"))
    _count(new, old)


def _resize(wanted: list[Object], before: list[Object]) -> list[Object]:
    if any(
        desired.get("name") != existing.get("name") for desired, existing in zip(wanted, before, strict=True)
    ):
        return wanted
    resized = []
    for desired, existing in zip(wanted, before, strict=True):
        container = copy(existing)
        for field in ("resources", "resizePolicy"):
            _put(container, field, desired.get(field))
        resized.append(container)
    return resized


def _put(target: Object, field: str, value: Any) -> None:
    if value is None:
        target.pop(field, None)
    else:
        target[field] = value


def _keep_all_but_spec(new: Object, old: Object) -> None:
    keep_system_metadata(new, old)
    keep_user_metadata(new, old)
    take(new, old, "status")


def _count(new: Object, old: Object) -> None:
    if new["spec"] != old["spec"]:
        new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


def _affinity_terms(spec: Object) -> Iterator[Object]:
    affinity = spec.get("affinity", {})
    for side in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(side, {})
        for weighted in rules.get("preferredDuringSchedulingIgnoredDuringExecution", ()):
            yield weighted.get("podAffinityTerm", {})
        yield from rules.get("requiredDuringSchedulingIgnoredDuringExecution", ())


def _merge_label_keys(term: Object, labels: Object) -> None:
    selector = term.get("labelSelector")
    if selector is None:
        return
    for field, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")):
        for key in term.get(field, ()):
            if key in labels:
                expressions = selector.setdefault("matchExpressions", [])
                expressions.append({"key": key, "operator": operator, "values": [labels[key]]})


def qos_class(spec: Object) -> str:
    """``Guaranteed`` if all of CPU and memory is limited and asked for, ``BestEffort`` if nothing is said."""
    if "resources" in spec:
        sharers = [spec["resources"]]
    else:
        containers = [*spec.get("initContainers", ()), *spec.get("containers", ())]
        sharers = [container.get("resources", {}) for container in containers]
    requests = _sum(resources.get("requests", {}) for resources in sharers)
    limits = _sum(resources.get("limits", {}) for resources in sharers)
    if not requests and not limits:
        return "BestEffort"
    bounded = all(len(_sum([resources.get("limits", {})])) == len(_COUNTED) for resources in sharers)
    return "Guaranteed" if bounded and requests == limits else "Burstable"


def _sum(amounts: Iterable[Object]) -> dict[str, Fraction]:
    total: dict[str, Fraction] = {}
    for amount in amounts:
        for name in _COUNTED:
            value = quantity.parse(amount.get(name, "0"))
            if value > 0:
                total[name] = total.get(name, Fraction(0)) + value
    return total
