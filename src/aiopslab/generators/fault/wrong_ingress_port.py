"""The Ingress names a port that its Service does not have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.ingress import PATH, IngressFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class WrongIngressPort(IngressFault):
    """A team moves the Ingress to a port that the front end's Service does not have."""

    port: int = draw_from(80, 8000, 8081, 3000, 9000)
    name: ClassVar[str] = "wrong_ingress_port"

    def release(self, site: Site) -> None:
        """Change the Ingress."""
        self.set(site, f"{PATH}/backend/service/port/number", self.port)
