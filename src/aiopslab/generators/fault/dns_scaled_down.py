"""The DNS server has no pods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import Course, fault
from aiopslab.generators.fault.cluster_dns import DNS, ClusterDnsFault
from aiopslab.generators.site import DEPLOYMENTS, SYSTEM, Site


@fault
@dataclass(frozen=True)
class DnsScaledDown(ClusterDnsFault):
    """An operator scales the DNS server to zero for a maintenance and forgets it."""

    name: ClassVar[str] = "dns_scaled_down"
    course: ClassVar[Course] = "correlated"
    fault_type: ClassVar[str] = "Operation Error"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Misconfiguration", "Dependency Problem")

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """The DNS server's Deployment."""
        return ((DEPLOYMENTS, DNS, SYSTEM),)

    def change(self, site: Site) -> None:
        """Scale it."""
        site.run(f"kubectl -n {SYSTEM} scale deployment/{DNS} --replicas=0")
