"""A Service forwards UDP, and its callers speak TCP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.services import PortFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class WrongProtocol(PortFault):
    """An operator edits a Service's port and gives it another transport protocol than its pods have."""

    protocol: str = draw_from("UDP", "SCTP")
    name: ClassVar[str] = "wrong_protocol"

    def change(self, site: Site) -> None:
        """Set the protocol."""
        site.set_port(self.target, protocol=self.protocol)
