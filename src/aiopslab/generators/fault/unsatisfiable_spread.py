"""A workload must spread over zones or racks, and no node says in which it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class UnsatisfiableSpread(ReleasedFault):
    """A team makes a workload safe against the loss of a zone, in a cluster whose nodes have no labels of zones."""

    topology_key: str = draw_from(
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "example.com/power-domain",
    )
    max_skew: int = draw_from(1, 2)
    name: ClassVar[str] = "unsatisfiable_spread"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Dependency Problem", "Operation Error")

    def release(self, site: Site) -> None:
        """Add the constraint."""
        constraint = {
            "maxSkew": self.max_skew,
            "topologyKey": self.topology_key,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": site.get_deployment(self.target)["spec"]["selector"],
        }
        site.set_pods(self.target, topologySpreadConstraints=[constraint])
