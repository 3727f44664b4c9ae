"""Pods are pinned to a node that does not exist."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import SERVING, draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class MissingNode(ReleasedFault):
    """A team pins its pods to a node of another cluster."""

    label: str = draw_from(
        "kubernetes.io/hostname=worker-7",
        "node.kubernetes.io/pool=batch",
        "disktype=nvme",
        "topology.kubernetes.io/zone=eu-west-1d",
        "kubernetes.io/arch=arm64",
    )
    name: ClassVar[str] = "missing_node"
    roles: ClassVar[tuple[Role, ...]] = SERVING
    also_fault_types: ClassVar[tuple[str, ...]] = ("Dependency Problem", "Operation Error")

    def release(self, site: Site) -> None:
        """Roll out the node selector."""
        key, _, value = self.label.partition("=")
        site.set_pods(self.target, nodeSelector={key: value})
