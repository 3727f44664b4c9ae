"""A workload must not run in the same domain as another one, and all nodes are in that domain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class AntiAffinityDeadlock(ReleasedFault):
    """A team keeps a workload away from one that it calls, by a label that all nodes share instead of the node's name."""

    topology_key: str = draw_from("kubernetes.io/os", "kubernetes.io/arch")
    name: ClassVar[str] = "anti_affinity_deadlock"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Dependency Problem", "Operation Error")

    def release(self, site: Site) -> None:
        """Require the anti-affinity."""
        near = [*site.app.component(self.target).calls, *site.app.find_callers(self.target)]
        term = {
            "topologyKey": self.topology_key,
            "labelSelector": site.get_deployment(near[0])["spec"]["selector"],
        }
        required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        site.set_pods(self.target, affinity={"podAntiAffinity": required})
