"""The front door listens on another port of the nodes than the one users know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.services import FrontDoorFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class WrongNodePort(FrontDoorFault):
    """An operator gives the front door another node port."""

    node_port: int = draw_from(30081, 31080, 32500, 30443, 31500)
    name: ClassVar[str] = "wrong_node_port"

    def change(self, site: Site) -> None:
        """Set the port."""
        site.set_port(self.target, nodePort=self.node_port)
