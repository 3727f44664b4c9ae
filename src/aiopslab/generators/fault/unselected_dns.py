"""The Service of the DNS server selects no pods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import Course, fault
from aiopslab.generators.fault.cluster_dns import ClusterDnsFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import SYSTEM, Site


@fault
@dataclass(frozen=True)
class UnselectedDns(ClusterDnsFault):
    """An operator upgrades the DNS server's Service to the labels of another packaging than the pods have."""

    label: str = draw_from("k8s-app=coredns", "app.kubernetes.io/name=coredns", "app=kube-dns")
    name: ClassVar[str] = "unselected_dns"
    course: ClassVar[Course] = "correlated"

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """The Service."""
        return (("services", "kube-dns", SYSTEM),)

    def change(self, site: Site) -> None:
        """Select the other labels."""
        site.run(f"kubectl -n {SYSTEM} set selector service kube-dns {self.label}")
