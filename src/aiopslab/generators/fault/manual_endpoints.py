"""A Service without a selector keeps the addresses of pods that are gone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.services import StaleRouteFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class ManualEndpoints(StaleRouteFault):
    """Somebody removes a Service's selector to keep its endpoints by hand; at the next restart the pods get new addresses."""

    name: ClassVar[str] = "manual_endpoints"

    def freeze(self, site: Site) -> None:
        """Remove the selector."""
        site.patch("service", self.target, [{"op": "remove", "path": "/spec/selector"}], "json")
