"""The claim of a database asks for more storage than its volume has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.claim_faults import RecreatedClaim
from aiopslab.generators.fault.drawn import draw_from


@fault
@dataclass(frozen=True)
class OversizedClaim(RecreatedClaim):
    """An operator wants more storage for a database; its volume cannot grow, so the claim is created again."""

    size: str = draw_from("5Gi", "8Gi", "10Gi", "20Gi")
    name: ClassVar[str] = "oversized_claim"
    fault_type: ClassVar[str] = "Misconfiguration"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error", "Network/Storage Issue")

    @property
    def changes(self) -> dict[str, Any]:
        """The size."""
        return {"resources": {"requests": {"storage": self.size}}}
