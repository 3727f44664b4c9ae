"""A CPU limit is lower than what the program needs, so it is throttled and slow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Application, Component, Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site
from simcloud.kubernetes.api import at, quantity


@fault
@dataclass(frozen=True)
class CpuLimit(ReleasedFault):
    """A team saves CPU, and limits the wrong workload."""

    limit: str = draw_from("3m", "4m", "5m")
    name: ClassVar[str] = "cpu_limit"
    roles: ClassVar[tuple[Role, ...]] = ("front end", "service")
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error",)
    also_levels: ClassVar[tuple[str, ...]] = ("Operating System",)

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether the component is busy: only then users notice that it is slow."""
        return component.busy and super().suits(app, component)

    def release(self, site: Site) -> None:
        """Roll out the limit, and a request that fits it."""
        site.kubectl(
            f"set resources deployment/{self.target} --limits=cpu={self.limit} --requests=cpu={self.limit}"
        )

    def present(self, site: Site) -> bool:
        """Return whether the limit is still as low, or lower."""
        limit = at(site.get_container(self.target), "resources", "limits", "cpu", default=None)
        return limit is not None and quantity.parse(limit) <= quantity.parse(self.limit)
