"""The Ingress has another host than the one that users request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.ingress import IngressFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class WrongIngressHost(IngressFault):
    """A team renames the host in the Ingress, while users still use the old name."""

    prefix: str = draw_from("www.", "new-", "shop.", "eu.")
    name: ClassVar[str] = "wrong_ingress_host"

    def release(self, site: Site) -> None:
        """Change the Ingress."""
        self.set(site, "/spec/rules/0/host", self.prefix + site.app.host)
