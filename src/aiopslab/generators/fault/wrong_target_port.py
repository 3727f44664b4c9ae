"""A Service forwards to a port that its pods do not listen on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.services import PortFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class WrongTargetPort(PortFault):
    """An operator edits a Service and mistypes its target port."""

    shift: int = draw_from(1, -1, 9, 10, 100, -100)
    name: ClassVar[str] = "wrong_target_port"

    def change(self, site: Site) -> None:
        """Set the wrong port."""
        site.set_port(self.target, targetPort=site.get_port(self.target) + self.shift)
