"""The claim of a database asks for an access mode that its volume does not offer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.claim_faults import RecreatedClaim
from aiopslab.generators.fault.drawn import draw_from


@fault
@dataclass(frozen=True)
class WrongClaimAccess(RecreatedClaim):
    """An operator prepares a second replica of a database and lets several nodes share its claim."""

    mode: str = draw_from("ReadWriteMany", "ReadOnlyMany", "ReadWriteOncePod")
    name: ClassVar[str] = "wrong_claim_access"
    fault_type: ClassVar[str] = "Misconfiguration"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error", "Network/Storage Issue")

    @property
    def changes(self) -> dict[str, Any]:
        """The access mode."""
        return {"accessModes": [self.mode]}
