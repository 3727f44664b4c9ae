"""Conditions of pods that the API server and the scheduler set."""

from __future__ import annotations

from typing import Any

from simcloud.kubernetes.api.objects import Object


def set_condition(pod: Object, condition: Object, timestamp: str, observed: bool = True) -> None:
    """Put a condition in its place; its time changes only with its status, its first place is the last.

    ``observed`` notes the pod's generation in it, as all do but the API server when it binds a pod.
    """
    conditions: list[Any] = pod.setdefault("status", {}).setdefault("conditions", [])
    made = {**condition, "lastProbeTime": None, "lastTransitionTime": timestamp}
    if observed:
        made["observedGeneration"] = pod["metadata"].get("generation", 1)
    for number, existing in enumerate(conditions):
        if existing["type"] == made["type"]:
            if existing["status"] == made["status"]:
                made["lastTransitionTime"] = existing.get("lastTransitionTime")
            conditions[number] = made
            return
    conditions.append(made)
