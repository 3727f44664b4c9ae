"""A burst of load is over, but retries keep a service overloaded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import ClassVar, Final, Self

from aiopslab.apps import Application, Component
from aiopslab.generators.fault.base import Capability, Course, Layer, fault
from aiopslab.generators.fault.drawn import DrawnFault, draw_from
from aiopslab.generators.site import DEPLOYMENTS, Site, at_site
from aiopslab.generators.workload.wrk import Wrk

CONNECTIONS: Final = 200
BUSY_MILLIS: Final = 850
"""The CPU of a pod that does nothing but work off its queue, whose limit is a whole one."""


@fault
@dataclass(frozen=True)
class RetryStorm(DrawnFault):
    """After a release with timeouts and retries, a short burst of users fills the queue of a service.

    Everybody who is served has given up before and asks again, so the queue stays full at the usual load.
    """

    rate: float = draw_from(40.0, 50.0, 60.0)
    seconds: float = draw_from(15.0, 20.0, 25.0)
    callers: tuple[str, ...] = ()
    """The components of the same release that call the target."""
    name: ClassVar[str] = "retry_storm"
    course: ClassVar[Course] = "cascading"
    layer: ClassVar[Layer] = "application"
    fault_type: ClassVar[str] = "Code Defect"
    also_fault_types: ClassVar[tuple[str, ...]] = (
        "Misconfiguration",
        "Dependency Problem",
        "Operation Error",
    )
    restart_repairs: ClassVar[bool] = True
    needs: ClassVar[tuple[Capability, ...]] = ("load",)

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether there is a release whose callers of the component retry."""
        return component.name in app.retrying and super().suits(app, component)

    @classmethod
    def draw(cls, app: Application, chance: Random, without: tuple[str, ...] = ()) -> Self:
        """Return the fault with the callers of its target."""
        drawn = super().draw(app, chance, without)
        return replace(drawn, callers=tuple(app.find_callers(drawn.target)))

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """The component's Deployment and those of the same release, which a repair may roll back."""
        return tuple((DEPLOYMENTS, name) for name in (self.target, *self.callers))

    def inject(self, site: Site) -> None:
        """Roll out the release, and let users come in a burst."""
        for name, image in site.app.retrying.items():
            site.set_container(name, image=image)
            site.wait_until_ready(name, timeout_s=100)
        with at_site(site):
            wrk = Wrk(self.rate, duration=self.seconds, connections=CONNECTIONS)
            wrk.start_workload(url=site.app.frontend_url)
        site.run(f"sleep {self.seconds:.0f}")

    def recover(self, site: Site) -> None:
        """Restart the service, whose queue is lost with its pods, and so are the retries."""
        if self.present(site):
            site.restart(self.target)
            site.wait_until_ready(self.target)

    def present(self, site: Site) -> bool:
        """Return whether a pod of the service is as busy as it can be; new pods have no metrics yet."""
        shown = site.kubectl(f"top pods -l {site.get_selector(self.target)} --no-headers || true")
        return any(int(line.split()[1].rstrip("m")) >= BUSY_MILLIS for line in shown.splitlines())
