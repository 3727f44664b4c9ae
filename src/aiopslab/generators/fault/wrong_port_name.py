"""A Service forwards to a port by a name that its pods do not have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.services import PortFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class WrongPortName(PortFault):
    """A team follows a new convention for port names in a Service, but not in the pods."""

    port_name: str = draw_from("main", "api", "tcp-main", "service")
    name: ClassVar[str] = "wrong_port_name"

    def change(self, site: Site) -> None:
        """Set the name."""
        site.set_port(self.target, targetPort=self.port_name)
