"""A readiness probe checks a port that nothing listens on, so the Service has no endpoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Application, Component, Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault, aims_elsewhere
from aiopslab.generators.fault.drawn import SERVING, draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class FailingReadinessProbe(ReleasedFault):
    """A team adds a readiness probe for the port of an administration interface that is not switched on."""

    offset: int = draw_from(1, 10, 100, 1000)
    period_s: int = draw_from(3, 5, 10)
    name: ClassVar[str] = "failing_readiness_probe"
    roles: ClassVar[tuple[Role, ...]] = SERVING
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error", "Network/Storage Issue")

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether callers find the component by its Service, and notice."""
        return component.found_by == "Service" and super().suits(app, component)

    def release(self, site: Site) -> None:
        """Roll out the probe."""
        port = site.get_container(self.target)["ports"][0]["containerPort"] + self.offset
        site.set_container(
            self.target, readinessProbe={"tcpSocket": {"port": port}, "periodSeconds": self.period_s}
        )

    def present(self, site: Site) -> bool:
        """Return whether the probe checks a port that the container does not serve."""
        return aims_elsewhere(site, self.target, "readinessProbe")
