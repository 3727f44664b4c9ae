"""The Ingress names a TLS Secret that does not exist."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.ingress import IngressFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class WrongIngressSecret(IngressFault):
    """A team points the Ingress to a TLS Secret that does not exist, so that the controller uses its own certificate."""

    suffix: str = draw_from("-2026", "-new", "-wildcard", "-letsencrypt")
    name: ClassVar[str] = "wrong_ingress_secret"

    def release(self, site: Site) -> None:
        """Change the Ingress."""
        self.set(site, "/spec/tls/0/secretName", f"{self.target}-tls{self.suffix}")
