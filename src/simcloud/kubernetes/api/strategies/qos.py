"""The quality-of-service class of a pod."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from simcloud.kubernetes.api import quantity
from simcloud.kubernetes.api.objects import Object

_COUNTED = ("cpu", "memory")


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
