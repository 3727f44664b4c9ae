"""The claim of a database asks for a storage class that has no volume."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.claim_faults import RecreatedClaim
from aiopslab.generators.fault.drawn import draw_from


@fault
@dataclass(frozen=True)
class WrongStorageClass(RecreatedClaim):
    """An operator moves a claim to the storage class of another cluster."""

    storage_class: str = draw_from("fast-ssd", "premium-rwo", "gp3", "ceph-block")
    name: ClassVar[str] = "wrong_storage_class"
    fault_type: ClassVar[str] = "Misconfiguration"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error", "Network/Storage Issue")

    @property
    def changes(self) -> dict[str, Any]:
        """The storage class."""
        return {"storageClassName": self.storage_class}
