"""A service requests many times the CPU and memory that it uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import DeclaredFault
from aiopslab.generators.fault.drawn import Purpose, draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class OversizedRequests(DeclaredFault):
    """The requests and limits of a service were raised without need."""

    cpu: str = draw_from("2500m", "2250m", "2")
    memory: str = draw_from("5Gi", "4500Mi", "4Gi")
    name: ClassVar[str] = "oversized_requests"
    purpose: ClassVar[Purpose] = "cost"

    def release(self, site: Site) -> None:
        """Raise the requests, and the limits with them."""
        amounts = {"cpu": self.cpu, "memory": self.memory}
        site.set_container(self.target, resources={"requests": amounts, "limits": amounts})
