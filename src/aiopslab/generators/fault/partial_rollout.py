"""A bad release is half rolled out: some pods of a service serve, the others do not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Application, Component
from aiopslab.generators.fault.base import Course, fault
from aiopslab.generators.fault.declared import DeclaredFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class PartialRollout(DeclaredFault):
    """A team with several pods rolls out a wrong address of a dependency, sees errors, pauses the rollout and goes home."""

    replicas: int = draw_from(3, 4)
    address: str = draw_from("10.0.14.22", "192.168.40.7", "172.16.9.31")
    name: ClassVar[str] = "partial_rollout"
    course: ClassVar[Course] = "partial"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error", "Dependency Problem")
    also_levels: ClassVar[tuple[str, ...]] = ("Application",)

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether callers come to all pods, whether or not they serve, and a pod can lack what it needs."""
        found = component.found_by == "Service" and bool(app.find_needed(component.name))
        return found and super().suits(app, component)

    def release(self, site: Site) -> None:
        """Add pods, roll the address out to one of them, and pause; callers that restart connect to any of them."""
        one_by_one = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}}
        more = {"replicas": self.replicas, "strategy": one_by_one, "minReadySeconds": 10}
        with site.innocently():
            site.patch("deployment", self.target, {"spec": more})
            site.wait_until_ready(self.target)
        needed = site.app.find_needed(self.target)[0]
        site.set_pods(self.target, hostAliases=[{"ip": self.address, "hostnames": [needed]}])
        site.run("sleep 5")
        site.kubectl(f"rollout pause deployment/{self.target}")
        site.restart_callers(self.target)

    def present(self, site: Site) -> bool:
        """Return whether the Deployment still has the address."""
        return "hostAliases" in site.get_deployment(self.target)["spec"]["template"]["spec"]
