"""All workers have a taint that the application's pods do not tolerate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.blocked_pods import ClosedNodes
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site
from simcloud.kubernetes.api import Object, at


@fault
@dataclass(frozen=True)
class TaintedNodes(ClosedNodes):
    """An operator wants to reserve one node for another team, and taints all of them."""

    key: str = draw_from("dedicated", "team", "workload", "reserved-for")
    value: str = draw_from("analytics", "batch", "ml-training", "builds")
    name: ClassVar[str] = "tainted_nodes"

    def release(self, site: Site) -> None:
        """Taint the workers."""
        site.run(f"kubectl taint nodes {' '.join(site.list_workers())} {self.key}={self.value}:NoSchedule")

    def recover(self, site: Site) -> None:
        """Remove the taint from the nodes that have it."""
        tainted = f'.items[] | select(any(.spec.taints[]?; .key == "{self.key}")) | .metadata.name'
        site.run(
            f"kubectl get nodes -o json | jq -r '{tainted}' | xargs -r -I@ kubectl taint nodes @ {self.key}-"
        )

    def is_closed(self, node: Object | None) -> bool:
        """Return whether a node is missing, or has the taint with an effect that keeps pods away."""
        taints = at(node, "spec", "taints", default=[])
        return node is None or any(
            taint["key"] == self.key and taint["effect"] != "PreferNoSchedule" for taint in taints
        )
