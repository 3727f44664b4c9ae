"""The fault example_fault: a Service selects pods that do not exist, so it has no endpoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Role
from aiopslab.generators import Site
from aiopslab.generators.fault import DrawnFault, Layer, draw_from, fault


@fault
@dataclass(frozen=True)
class ExampleFault(DrawnFault):
    """An operator edits the selector of a Service, and no pod matches it."""

    release: str = draw_from("2.0", "stable", "canary")  # The seed draws one of them, and the target.
    name: ClassVar[str] = "example_fault"
    roles: ClassVar[tuple[Role, ...]] = ("front end",)  # The components of an application that it can hit.
    layer: ClassVar[Layer] = "virtualization"  # or "hardware", "operating system", "application"
    fault_type: ClassVar[str] = "Misconfiguration"

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """The objects that a repair may change; everything else must stay as it was."""
        return (("services", self.target),)

    def inject(self, site: Site) -> None:
        """Break it as an operator, a release or hardware would. No visible text may name it."""
        self._select(site, self.release)

    def recover(self, site: Site) -> None:
        """Undo the fault, as a good engineer would. Idempotent."""
        self._select(site, None)

    def present(self, site: Site) -> bool:
        """Return whether the cause is present, judged by the state of the cluster."""
        service = site.find("services", self.target)
        return service is None or "release" in service["spec"]["selector"]

    def _select(self, site: Site, release: str | None) -> None:
        site.patch("service", self.target, {"spec": {"selector": {"release": release}}})
