"""The claim of a database is recreated, and its volume still belongs to the old claim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.claim_faults import CLAIMS, ClaimFault
from aiopslab.generators.site import Site
from simcloud.kubernetes.api import at


@fault
@dataclass(frozen=True)
class UnboundClaim(ClaimFault):
    """An operator deletes a claim and applies its manifest again; the volume is released and not bound anew."""

    name: ClassVar[str] = "unbound_claim"

    def release(self, site: Site) -> None:
        """Delete the claim and create it again."""
        found = site.find(CLAIMS, self.claim)
        spec = {name: value for name, value in at(found, "spec").items() if name != "volumeName"}
        site.kubectl(f"delete pvc {self.claim}")
        site.add("v1", "PersistentVolumeClaim", self.claim, {"spec": spec})
