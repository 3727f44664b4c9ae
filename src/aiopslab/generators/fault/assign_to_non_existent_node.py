"""A workload is pinned to a node that does not exist, so its pods stay pending."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import Fault, GroundTruth, Layer, fault
from aiopslab.generators.site import Site
from simcloud.kubernetes.api import at

HOSTNAME = "kubernetes.io/hostname"


@fault
@dataclass(frozen=True)
class AssignToNonExistentNode(Fault):
    """An operator recreates a Deployment with a node selector for a node that does not exist."""

    workload: str
    node: str = "extra-node"
    name: ClassVar[str] = "assign_to_non_existent_node"
    layer: ClassVar[Layer] = "virtualization"
    declared: ClassVar[bool] = True

    @property
    def truth(self) -> GroundTruth:
        """The papers' label; what an engineer would call it is also accepted."""
        return GroundTruth(
            self.workload, "Virtualization", "Dependency Problem", also_fault_types=("Misconfiguration",)
        )

    @property
    def concerned(self) -> tuple[tuple[str, str], ...]:
        """The Deployment."""
        return (("deployments.apps", self.workload),)

    def inject(self, site: Site) -> None:
        """Recreate the Deployment with a node selector; a rollout would keep the running pods."""
        ns = f"kubectl -n {site.namespace}"
        pinned = (
            "del(.metadata.resourceVersion, .metadata.uid, .status) | "
            f'.spec.template.spec.nodeSelector = {{"{HOSTNAME}": "{self.node}"}}'
        )
        site.operate(
            f"{ns} get deployment {self.workload} -o json | jq '{pinned}' | {ns} replace --force -f -"
        )

    def recover(self, site: Site) -> None:
        """Remove the node selector."""
        patch = '{"spec": {"template": {"spec": {"nodeSelector": null}}}}'
        site.operate(f"kubectl -n {site.namespace} patch deployment {self.workload} -p '{patch}'")

    def present(self, site: Site) -> bool:
        """Return whether the Deployment is pinned to that node or missing."""
        found = site.find("deployments.apps", self.workload)
        pinned = at(found, "spec", "template", "spec", "nodeSelector", default=None) or {}
        return found is None or pinned.get(HOSTNAME) == self.node
