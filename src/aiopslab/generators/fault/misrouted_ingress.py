"""The Ingress leads to a Service that does not exist."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.ingress import PATH, IngressFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class MisroutedIngress(IngressFault):
    """A team mistypes the Service in the Ingress, so that requests lead nowhere."""

    suffix: str = draw_from("-v2", "-svc", "-web", "-blue", "-canary")
    name: ClassVar[str] = "misrouted_ingress"

    def release(self, site: Site) -> None:
        """Change the Ingress."""
        self.set(site, f"{PATH}/backend/service/name", self.target + self.suffix)
