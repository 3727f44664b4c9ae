"""The allocated resources of a pod during a resize."""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.api import Amounts, Object, amounts, parse_amounts, pod_amounts
from simcloud.kubernetes.api.tables import cells

KINDS: Final = ("requests", "limits")


def most_held(pod: Object, kind: str, wanted: Amounts) -> Amounts:
    """What a pod wants, but for each container the most of what it wants, was promised and was given.

    A wish that cannot be granted does not count.
    """
    spec, status = cells.part(pod, "spec"), cells.part(pod, "status")
    pending = cells.condition(cells.items(status, "conditions"), "PodResizePending")
    refused = pending is not None and pending.get("reason") == "Infeasible"
    held = {
        cells.text(item, "name"): _list_amounts(item, kind)
        for key in ("containerStatuses", "initContainerStatuses")
        for item in cells.items(status, key)
        if item.get("resources") is not None
    }
    if not held:
        return wanted

    def resize(container: Object) -> Object:
        if cells.text(container, "name") not in held:
            return container
        asked = {} if refused else parse_amounts(cells.part(container, "resources").get(kind))
        most = amounts.largest([asked, *held[cells.text(container, "name")]])
        return {**container, "resources": {kind: {name: str(value) for name, value in most.items()}}}

    containers = {
        key: [resize(entry) for entry in cells.items(spec, key)] for key in ("containers", "initContainers")
    }
    return pod_amounts({**spec, **containers}, kind)


def _list_amounts(status: Object, kind: str) -> list[Amounts]:
    """Return the amounts that the kubelet reports as given and as allocated."""
    given = parse_amounts(cells.part(status, "resources").get(kind))
    return [given, parse_amounts(status.get("allocatedResources"))] if kind == "requests" else [given]
