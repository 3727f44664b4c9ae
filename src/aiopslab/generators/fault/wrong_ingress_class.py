"""The Ingress has a class that no controller serves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.ingress import IngressFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class WrongIngressClass(IngressFault):
    """A team writes the name of an ingress class that no controller serves."""

    kind: str = draw_from("ngnix", "nginx-internal", "public", "traefik")
    name: ClassVar[str] = "wrong_ingress_class"

    def release(self, site: Site) -> None:
        """Change the Ingress."""
        self.set(site, "/spec/ingressClassName", self.kind)
