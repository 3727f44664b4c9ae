"""A workload runs as a service account that does not exist."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class MissingServiceAccount(ReleasedFault):
    """A team gives a workload an account of its own, and forgets to create the account."""

    suffix: str = draw_from("sa", "runner", "account", "identity")
    name: ClassVar[str] = "missing_service_account"
    fault_type: ClassVar[str] = "Dependency Problem"
    also_fault_types: ClassVar[tuple[str, ...]] = (
        "Misconfiguration",
        "Authentication Issue",
        "Operation Error",
    )

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """The Deployment, and the account, which a repair may create."""
        return (*super().concerned, ("serviceaccounts", f"{self.target}-{self.suffix}"))

    def release(self, site: Site) -> None:
        """Name the account."""
        site.set_pods(self.target, serviceAccountName=f"{self.target}-{self.suffix}")

    def present(self, site: Site) -> bool:
        """Return whether the Deployment names an account that is missing."""
        deployment, account = self.concerned
        return site.is_as_injected(*deployment) and site.find(*account) is None
