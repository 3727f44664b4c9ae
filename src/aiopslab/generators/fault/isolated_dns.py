"""A network policy keeps the application away from the DNS server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import Course, fault
from aiopslab.generators.fault.cluster_dns import ClusterDnsFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import SYSTEM, Site


@fault
@dataclass(frozen=True)
class IsolatedDns(ClusterDnsFault):
    """A security team lets only the system's own pods reach each other and forgets that everybody needs names."""

    policy: str = draw_from("system-isolation", "baseline", "internal-only", "platform-perimeter")
    name: ClassVar[str] = "isolated_dns"
    course: ClassVar[Course] = "correlated"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Network/Storage Issue", "Operation Error")

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """The policy."""
        return (("networkpolicies.networking.k8s.io", self.policy, SYSTEM),)

    def change(self, site: Site) -> None:
        """Apply the policy."""
        own = {"policyTypes": ["Ingress"], "ingress": [{"from": [{"podSelector": {}}]}]}
        spec = {"podSelector": {"matchLabels": {"k8s-app": "kube-dns"}}, **own}
        site.add("networking.k8s.io/v1", "NetworkPolicy", self.policy, {"spec": spec}, SYSTEM)
