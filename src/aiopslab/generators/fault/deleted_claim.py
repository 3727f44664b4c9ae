"""The claim of a database is deleted, and its volume waits for a claim that is gone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.claim_faults import ClaimFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class DeletedClaim(ClaimFault):
    """An operator tidies up claims that no pod uses, while a database is stopped for maintenance."""

    name: ClassVar[str] = "deleted_claim"

    def release(self, site: Site) -> None:
        """Delete the claim."""
        site.kubectl(f"delete pvc {self.claim}")
