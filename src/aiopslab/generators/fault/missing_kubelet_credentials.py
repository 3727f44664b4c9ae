"""The kubelet's credentials are missing, so it does not start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.node_service import NodeServiceFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class MissingKubeletCredentials(NodeServiceFault):
    """An operator wants the kubelet to renew its credentials, moves the old ones away and restarts it."""

    path: str = draw_from("/etc/kubernetes/kubelet.conf", "/var/lib/kubelet/pki/kubelet-client-current.pem")
    ending: str = draw_from("old", "bak", "orig")
    name: ClassVar[str] = "missing_kubelet_credentials"
    unit: ClassVar[str] = "kubelet"
    fault_type: ClassVar[str] = "Authentication Issue"
    also_fault_types: ClassVar[tuple[str, ...]] = (
        "Operation Error",
        "Misconfiguration",
        "Dependency Problem",
    )

    def strike(self, site: Site, node: str) -> None:
        """Rename the file, and restart the kubelet."""
        site.node_shell(node, f"mv {self.path} {self.path}.{self.ending} && systemctl restart kubelet")

    def recover(self, site: Site) -> None:
        """Give the file its name back, and restart the kubelet."""
        for node in self.machines_at_fault(site):
            kept = f"{self.path}.{self.ending}"
            site.node_shell(node, f"[ ! -e {kept} ] || mv {kept} {self.path}; systemctl restart kubelet")
