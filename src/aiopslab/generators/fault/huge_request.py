"""A workload requests more than any node has, so its pods are never scheduled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import SERVING, draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class HugeRequest(ReleasedFault):
    """A team mistypes the unit of a request."""

    demand: str = draw_from("cpu=120", "cpu=64", "memory=512Gi", "memory=2Ti", "memory=960Gi")
    name: ClassVar[str] = "huge_request"
    roles: ClassVar[tuple[Role, ...]] = SERVING
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error", "Dependency Problem")

    def release(self, site: Site) -> None:
        """Roll out the request, and a limit that allows it."""
        site.kubectl(
            f"set resources deployment/{self.target} --requests={self.demand} --limits={self.demand}"
        )
