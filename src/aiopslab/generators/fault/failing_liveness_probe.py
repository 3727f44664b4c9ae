"""A liveness probe checks a port that nothing listens on, so the program is killed again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import SERVING, draw_from
from aiopslab.generators.fault.probes import has_failing_probe
from aiopslab.generators.site import DEPLOYMENTS, Site


@fault
@dataclass(frozen=True)
class FailingLivenessProbe(ReleasedFault):
    """A team adds a liveness probe for the port of an administration interface that is not switched on."""

    offset: int = draw_from(1, 10, 100, 1000)
    period_s: int = draw_from(2, 3, 5)
    name: ClassVar[str] = "failing_liveness_probe"
    roles: ClassVar[tuple[Role, ...]] = SERVING
    declared: ClassVar[bool] = False
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error", "Network/Storage Issue")

    def release(self, site: Site) -> None:
        """Roll out the probe."""
        port = site.get_container(self.target)["ports"][0]["containerPort"] + self.offset
        probe = {"tcpSocket": {"port": port}, "periodSeconds": self.period_s, "failureThreshold": 1}
        site.set_container(self.target, livenessProbe=probe)

    def present(self, site: Site) -> bool:
        """Return whether a probe that restarts the container fails when it is tried now, whatever its delay is."""
        return site.find(DEPLOYMENTS, self.target) is None or has_failing_probe(site, self.target)
