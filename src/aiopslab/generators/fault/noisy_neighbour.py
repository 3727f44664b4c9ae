"""Pods of another team take the CPU of a node."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

from aiopslab.apps import Role
from aiopslab.generators.fault.base import Capability, Layer, fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.node import NodeFault
from aiopslab.generators.site import DEPLOYMENTS, Site
from simcloud.kubernetes.api import at, quantity


@fault
@dataclass(frozen=True)
class NoisyNeighbour(NodeFault):
    """Another team runs CPU-bound pods without limits, all on the node of a component."""

    team: str = draw_from("media", "research", "simulation")
    job: str = draw_from("transcode", "render", "montecarlo")
    count: int = draw_from(24, 20, 28)
    name: ClassVar[str] = "noisy_neighbour"
    roles: ClassVar[tuple[Role, ...]] = ("front end", "service")
    layer: ClassVar[Layer] = "virtualization"
    fault_type: ClassVar[str] = "Misconfiguration"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error", "Dependency Problem")
    also_levels: ClassVar[tuple[str, ...]] = ("Operating System",)
    needs: ClassVar[tuple[Capability, ...]] = ()

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """The other team's Deployment and its namespace, which may get a quota or default limits."""
        space = (("namespaces", self.team, ""), (DEPLOYMENTS, self.job, self.team))
        return (*space, ("resourcequotas", self.job, self.team), ("limitranges", self.job, self.team))

    def strike(self, site: Site, node: str) -> None:
        """Run the pods on the node."""
        work = "for i in 1 2 3 4; do yes > /dev/null & done; wait"
        container = {"name": self.job, "image": "busybox:1.36", "command": ["sh", "-c", work]}
        spec = {"nodeSelector": {"kubernetes.io/hostname": node}, "containers": [container]}
        labels = {"app": self.job}
        document: dict[str, Any] = {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": self.job, "labels": labels},
            "spec": {
                "replicas": self.count,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": spec},
            },
        }
        site.run(f"kubectl create namespace {self.team}")
        site.run(f"kubectl -n {self.team} apply -f - <<'EOF'\n{json.dumps(document)}\nEOF")

    def recover(self, site: Site) -> None:
        """Scale the other team's Deployment to zero."""
        site.run(f"kubectl -n {self.team} scale deployment/{self.job} --replicas=0")

    def is_broken(self, site: Site, node: str) -> bool:
        """Return whether the pods on a node may together take all of its CPU time."""
        found = site.find(DEPLOYMENTS, self.job, self.team)
        if not at(found, "spec", "replicas", default=0):
            return False
        limit = at(
            found, "spec", "template", "spec", "containers", 0, "resources", "limits", "cpu", default=None
        )
        chosen = f"spec.nodeName={node},status.phase=Running"
        listed = site.run(f"kubectl -n {self.team} get pods --field-selector {chosen} -o name")
        cores = quantity.parse(at(site.find("nodes", node, ""), "status", "allocatable", "cpu"))
        return limit is None or len(listed.split()) * quantity.parse(limit) >= cores
