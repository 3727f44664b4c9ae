"""The allocated resources of a pod during a resize."""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.api.amounts import Amounts, amounts, largest, pod_amounts
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.tables.cells import condition, items, part, text

KINDS: Final = ("requests", "limits")


def most_held(pod: Object, kind: str, wanted: Amounts) -> Amounts:
    """What a pod wants, but for each container the most of what it wants, was promised and was given.

    A wish that cannot be granted does not count.
    """
    spec, status = part(pod, "spec"), part(pod, "status")
    pending = condition(items(status, "conditions"), "PodResizePending")
    refused = pending is not None and pending.get("reason") == "Infeasible"
    held = {
        text(item, "name"): _list_amounts(item, kind)
        for key in ("containerStatuses", "initContainerStatuses")
        for item in items(status, key)
        if item.get("resources") is not None
    }
    if not held:
        return wanted

    def resize(container: Object) -> Object:
        if text(container, "name") not in held:
            return container
        asked = {} if refused else amounts(part(container, "resources").get(kind))
        most = largest([asked, *held[text(container, "name")]])
        return {**container, "resources": {kind: {name: str(value) for name, value in most.items()}}}

    containers = {
        key: [resize(entry) for entry in items(spec, key)] for key in ("containers", "initContainers")
    }
    return pod_amounts({**spec, **containers}, kind)


def _list_amounts(status: Object, kind: str) -> list[Amounts]:
    """Return the amounts that the kubelet reports as given and as allocated."""
    given = amounts(part(status, "resources").get(kind))
    return [given, amounts(status.get("allocatedResources"))] if kind == "requests" else [given]
