"""The Ingress has another path than the one that users request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.ingress import PATH, IngressFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class WrongIngressPath(IngressFault):
    """A team puts the application below another path, and tells no user."""

    path: str = draw_from("/api", "/v2", "/app", "/web")
    name: ClassVar[str] = "wrong_ingress_path"

    def release(self, site: Site) -> None:
        """Change the Ingress."""
        self.set(site, f"{PATH}/path", self.path)
