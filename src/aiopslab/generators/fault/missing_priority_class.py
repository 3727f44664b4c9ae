"""A workload has a priority class that does not exist."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class MissingPriorityClass(ReleasedFault):
    """A team marks a workload as important by a priority class that only its other cluster has."""

    priority_class: str = draw_from("business-critical", "gold", "tier-1", "customer-facing")
    name: ClassVar[str] = "missing_priority_class"
    fault_type: ClassVar[str] = "Dependency Problem"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Misconfiguration", "Operation Error")

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """The Deployment, and the class, which a repair may create."""
        return (*super().concerned, ("priorityclasses.scheduling.k8s.io", self.priority_class, ""))

    def release(self, site: Site) -> None:
        """Name the class."""
        site.set_pods(self.target, priorityClassName=self.priority_class)

    def present(self, site: Site) -> bool:
        """Return whether the Deployment names a class that is missing."""
        deployment, wanted = self.concerned
        return site.is_as_injected(*deployment) and site.find(*wanted) is None
