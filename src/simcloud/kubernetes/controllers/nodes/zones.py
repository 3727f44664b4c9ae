"""The rate at which failed nodes get their NoExecute taint, by zone.

A zone is healthy, partially disrupted (at least 55 % and more than two nodes fail) or fully disrupted. In a partially
disrupted zone the cause is probably elsewhere: a small zone is then not tainted at all, one of more than 50 nodes ten
times slower. A fully disrupted zone is treated like a healthy one; the recorded cluster of one node got its taint
that way.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct, field

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.controllers.nodes.conditions import condition_of

RATE: Final = 0.1
SLOW_RATE: Final = 0.01
LARGE_ZONE: Final = 50
UNHEALTHY_SHARE: Final = 0.55
_REGION: Final = "topology.kubernetes.io/region"
_ZONE: Final = "topology.kubernetes.io/zone"


class _Zone(Struct):
    """Nodes that wait for their taint, and from when on the next may have it."""

    waiting: dict[str, None] = field(default_factory=dict)
    rate: float = RATE
    free_s: float = 0.0


class Tainter:
    """Queues of nodes to taint, one for each zone."""

    def __init__(self) -> None:
        self._zones: dict[tuple[str, str], _Zone] = {}

    def add(self, node: Object) -> None:
        """A node is to be tainted."""
        self._zones.setdefault(zone_of(node), _Zone()).waiting[node["metadata"]["name"]] = None

    def remove(self, name: str) -> None:
        """A node is well again, or gone."""
        for zone in self._zones.values():
            zone.waiting.pop(name, None)

    def judge(self, nodes: list[Object]) -> None:
        """Set each zone's rate by the state of its nodes."""
        members: dict[tuple[str, str], list[bool]] = {}
        for node in nodes:
            ready = condition_of(node, "Ready")
            members.setdefault(zone_of(node), []).append(ready is not None and ready["status"] == "True")
        for place, well in members.items():
            zone = self._zones.setdefault(place, _Zone())
            failed = well.count(False)
            zone.rate = RATE
            if any(well) and failed > 2 and failed / len(well) >= UNHEALTHY_SHARE:
                zone.rate = SLOW_RATE if len(well) > LARGE_ZONE else 0.0

    def due(self, now_s: float) -> list[str]:
        """The nodes whose turn it is; they wait no longer."""
        found = []
        for zone in self._zones.values():
            if zone.waiting and zone.rate and zone.free_s <= now_s:
                name = next(iter(zone.waiting))
                del zone.waiting[name]
                zone.free_s = now_s + 1 / zone.rate
                found.append(name)
        return found

    def next_s(self, now_s: float) -> float | None:
        """In how many seconds the next turn comes; None if nobody waits for one."""
        waits = [zone.free_s - now_s for zone in self._zones.values() if zone.waiting and zone.rate]
        return min(waits, default=None)


def zone_of(node: Object) -> tuple[str, str]:
    """A node's region and zone, empty where they are not labelled."""
    labels = node["metadata"].get("labels") or {}
    return labels.get(_REGION, ""), labels.get(_ZONE, "")
