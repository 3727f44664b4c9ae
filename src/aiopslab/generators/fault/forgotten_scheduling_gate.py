"""The pods of a workload wait behind a scheduling gate that nothing removes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class ForgottenSchedulingGate(ReleasedFault):
    """A team lets a controller release its pods once they are admitted; the controller was never installed."""

    gate: str = draw_from(
        "capacity.example.com/reserved", "quota.example.com/admitted", "queue.example.com/released"
    )
    name: ClassVar[str] = "forgotten_scheduling_gate"
    fault_type: ClassVar[str] = "Dependency Problem"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Misconfiguration", "Operation Error")

    def release(self, site: Site) -> None:
        """Add the gate."""
        site.set_pods(self.target, schedulingGates=[{"name": self.gate}])
