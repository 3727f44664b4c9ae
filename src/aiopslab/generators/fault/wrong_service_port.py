"""A Service has another port than its callers dial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import STORES, draw_from
from aiopslab.generators.fault.services import PortFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class WrongServicePort(PortFault):
    """A team moves a Service to the port of a new convention and forgets its callers."""

    port: int = draw_from(80, 8080, 8000, 50051, 9000)
    name: ClassVar[str] = "wrong_service_port"
    roles: ClassVar[tuple[Role, ...]] = ("service", *STORES)

    def change(self, site: Site) -> None:
        """Set the port, and keep the target port."""
        site.set_port(self.target, port=self.port)
