"""A pod's conditions, derived from the states of its containers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.kubelet.pods.parts import Part, init_parts, main_parts

OWNED: Final = (
    "PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled", "DisruptionTarget",
    "PodResizePending", "PodResizeInProgress",
)  # fmt: skip
"""The conditions that the kubelet writes; those of others are kept as they are."""

SHARED: Final = "DisruptionTarget"
"""Written by whoever ends a pod before its time; the kubelet keeps another's word."""


def condition(kind: str, status: bool, reason: str = "", message: str = "") -> Object:
    """A condition that has no time yet."""
    made: Object = {"type": kind, "status": "True" if status else "False"}
    if reason:
        made["reason"] = reason
    if message:
        made["message"] = message
    return made


def pod_conditions(pod: Object, status: Object, sandbox_ready: bool) -> list[Object]:
    """All of them, in the order in which a kubelet writes them."""
    mains, inits = main_parts(pod), init_parts(pod)
    by_name = {each["name"]: each for each in status.get("containerStatuses") or ()}
    by_name |= {each["name"]: each for each in status.get("initContainerStatuses") or ()}
    watched = [*(part for part in inits if part.sidecar), *mains]
    containers = _containers_ready(watched, by_name, status["phase"])
    return [
        condition("PodReadyToStartContainers", sandbox_ready),
        _make_initialized(inits, mains, by_name, status["phase"]),
        _ready(pod, containers),
        containers,
        condition("PodScheduled", True),
    ]


def _containers_ready(watched: Sequence[Part], by_name: dict[str, Object], phase: str) -> Object:
    unknown = [part.name for part in watched if part.name not in by_name]
    unready = [part.name for part in watched if part.name in by_name and not by_name[part.name]["ready"]]
    if phase == "Succeeded" and not unknown:
        return condition("ContainersReady", False, "PodCompleted")
    if phase == "Failed" and not unknown:
        return condition("ContainersReady", False, "PodFailed")
    messages = []
    if unknown:
        messages.append(f"containers with unknown status: [{' '.join(unknown)}]")
    if unready:
        messages.append(f"containers with unready status: [{' '.join(unready)}]")
    if messages:
        return condition("ContainersReady", False, "ContainersNotReady", ", ".join(messages))
    return condition("ContainersReady", True)


def _ready(pod: Object, containers: Object) -> Object:
    if containers["status"] != "True":
        return {**containers, "type": "Ready"}
    present = {each["type"]: each for each in (pod.get("status") or {}).get("conditions") or ()}
    messages = []
    for gate in pod["spec"].get("readinessGates") or ():
        kind = gate["conditionType"]
        if kind not in present:
            messages.append(f'corresponding condition of pod readiness gate "{kind}" does not exist.')
        elif present[kind]["status"] != "True":
            messages.append(
                f'the status of pod readiness gate "{kind}" is not "True", but {present[kind]["status"]}'
            )
    if messages:
        return condition("Ready", False, "ReadinessGatesNotReady", ", ".join(messages))
    return condition("Ready", True)


def _make_initialized(
    inits: Sequence[Part], mains: Sequence[Part], by_name: dict[str, Object], phase: str
) -> Object:
    if phase == "Succeeded":
        return condition("Initialized", True, "PodCompleted")
    if any(_has_started(by_name.get(part.name)) for part in mains):
        return condition("Initialized", True)
    incomplete = [part.name for part in inits if not _is_complete(part, by_name.get(part.name))]
    if incomplete:
        message = f"containers with incomplete status: [{' '.join(incomplete)}]"
        return condition("Initialized", False, "ContainersNotInitialized", message)
    return condition("Initialized", True)


def _has_started(status: Object | None) -> bool:
    return status is not None and ("running" in status["state"] or "terminated" in status["state"])


def _is_complete(part: Part, status: Object | None) -> bool:
    if status is None:
        return False
    return bool(status.get("started")) if part.sidecar else bool(status["ready"])


def with_times(
    conditions: Sequence[Object], old: Sequence[Object], generation: int, now: str
) -> list[Object]:
    """Conditions with the time of their last change: now, or the old time where nothing changed."""
    before = {each["type"]: each for each in old}
    finished = []
    for each in conditions:
        known = before.get(each["type"])
        same = known is not None and known["status"] == each["status"]
        since = known["lastTransitionTime"] if known is not None and same else now
        made = {**each, "lastProbeTime": None, "lastTransitionTime": since, "observedGeneration": generation}
        finished.append({key: made[key] for key in sorted(made)})
    return finished
