"""Pods ask a name server that does not exist."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class WrongNameserver(ReleasedFault):
    """A team copies DNS settings from a cluster whose name server has another address."""

    server: str = draw_from("10.100.0.10", "169.254.20.10", "10.96.0.100", "172.20.0.10", "10.43.0.10")
    name: ClassVar[str] = "wrong_nameserver"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Dependency Problem", "Network/Storage Issue")

    def release(self, site: Site) -> None:
        """Roll out the settings."""
        searches = [f"{site.namespace}.svc.cluster.local", "svc.cluster.local", "cluster.local"]
        settings = {
            "nameservers": [self.server],
            "searches": searches,
            "options": [{"name": "ndots", "value": "5"}],
        }
        site.set_pods(self.target, dnsPolicy="None", dnsConfig=settings)
