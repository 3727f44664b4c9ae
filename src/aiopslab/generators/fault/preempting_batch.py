"""A batch workload of high priority preempts the target, which finds no other room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.crowded_nodes import CrowdedNodes
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site

SCHEDULING = "scheduling.k8s.io"


@fault
@dataclass(frozen=True)
class PreemptingBatch(CrowdedNodes):
    """A team gives its batch workload a higher priority than everything that users need."""

    priority: int = draw_from(100000, 10000, 1000000)
    priority_class: str = draw_from("urgent", "deadline", "batch-high", "month-end")
    name: ClassVar[str] = "preempting_batch"
    fault_type: ClassVar[str] = "Misconfiguration"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error", "Dependency Problem")

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """Also the priority class."""
        return (*super().concerned, (f"priorityclasses.{SCHEDULING}", self.priority_class, ""))

    def deploy(self, site: Site, replicas: int, cpu: str, **pod: Any) -> None:
        """Deploy the batch workload with its priority."""
        site.add(f"{SCHEDULING}/v1", "PriorityClass", self.priority_class, {"value": self.priority})
        super().deploy(site, replicas, cpu, priorityClassName=self.priority_class)

    def inject(self, site: Site) -> None:
        """Deploy the batch workload, which preempts the youngest pods that make enough room."""
        self.release(site)
