"""The Service of a database was opened to the outside of the cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import DeclaredFault
from aiopslab.generators.fault.drawn import STORES, Purpose, draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class ExposedService(DeclaredFault):
    """The Service of a database has a node port or a load balancer."""

    type: str = draw_from("NodePort", "LoadBalancer")
    name: ClassVar[str] = "exposed_service"
    roles: ClassVar[tuple[Role, ...]] = STORES
    purpose: ClassVar[Purpose] = "policy"

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """The Service."""
        return (("services", self.target),)

    def release(self, site: Site) -> None:
        """Open the Service."""
        site.patch("service", self.target, {"spec": {"type": self.type}})
