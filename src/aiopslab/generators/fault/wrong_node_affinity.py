"""A workload requires a kind of node that the cluster does not have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class WrongNodeAffinity(ReleasedFault):
    """A team copies the node affinity of another cluster, whose nodes have other labels."""

    label: str = draw_from(
        "topology.kubernetes.io/zone=eu-central-1c",
        "node.kubernetes.io/instance-type=m7i.2xlarge",
        "disktype=nvme",
        "node-pool=general",
    )
    name: ClassVar[str] = "wrong_node_affinity"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Dependency Problem", "Operation Error")

    def release(self, site: Site) -> None:
        """Require the label."""
        key, _, value = self.label.partition("=")
        term = {"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
        site.set_pods(self.target, affinity={"nodeAffinity": required})
