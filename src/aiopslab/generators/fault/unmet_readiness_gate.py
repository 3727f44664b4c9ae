"""The pods of a workload never become ready, because nothing sets the condition of their readiness gate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Application, Component
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class UnmetReadinessGate(ReleasedFault):
    """A team prepares for a load balancer whose controller is not installed; Services leave the pods out."""

    condition: str = draw_from(
        "target-health.example.com/attached", "mesh.example.com/ready", "dns.example.com/registered"
    )
    name: ClassVar[str] = "unmet_readiness_gate"
    fault_type: ClassVar[str] = "Dependency Problem"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Misconfiguration", "Operation Error")

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether callers find the component by its Service, and notice."""
        return component.found_by == "Service" and super().suits(app, component)

    def release(self, site: Site) -> None:
        """Add the gate."""
        site.set_pods(self.target, readinessGates=[{"conditionType": self.condition}])
