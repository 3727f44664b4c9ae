"""The DNS server answers for another zone than the cluster's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.cluster_dns import CorefileFault
from aiopslab.generators.fault.drawn import draw_from


@fault
@dataclass(frozen=True)
class WrongDnsZone(CorefileFault):
    """An operator brings a Corefile from a cluster with another domain."""

    zone: str = draw_from("cluster.internal", "k8s.local", "kube.test", "cluster.example.com")
    name: ClassVar[str] = "wrong_dns_zone"

    def edit(self, text: str, name: str) -> str:
        """Replace the zone wherever it stands."""
        return text.replace("cluster.local", self.zone)
