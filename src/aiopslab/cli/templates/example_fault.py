"""The fault example_fault: a Service selects pods that do not exist, so it has no endpoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators import Site
from aiopslab.generators.fault import Fault, GroundTruth, Layer, fault


@fault
@dataclass(frozen=True)
class ExampleFault(Fault):
    """An operator edits the selector of a Service, and no pod matches it."""

    service: str  # The first parameter is the target. Further parameters need defaults.
    name: ClassVar[str] = "example_fault"
    layer: ClassVar[Layer] = "virtualization"  # or "hardware", "operating system", "application"

    @property
    def truth(self) -> GroundTruth:
        """The right answers: faulty component, system level and fault type."""
        return GroundTruth(self.service, "Virtualization", "Misconfiguration")

    @property
    def concerned(self) -> tuple[tuple[str, str], ...]:
        """The objects that a repair may change; everything else must stay as it was."""
        return (("services", self.service),)

    def inject(self, site: Site) -> None:
        """Break it as an operator, a release or hardware would. No visible text may name it."""
        self._patch_selector(site, '"2.0"')

    def recover(self, site: Site) -> None:
        """Undo the fault, as a good engineer would. Idempotent."""
        self._patch_selector(site, "null")

    def present(self, site: Site) -> bool:
        """Return whether the cause is present, judged by the state of the cluster."""
        service = site.find("services", self.service)
        return service is None or "release" in service["spec"]["selector"]

    def _patch_selector(self, site: Site, release: str) -> None:
        patch = f'{{"spec": {{"selector": {{"release": {release}}}}}}}'
        site.operate(f"kubectl -n {site.namespace} patch service {self.service} -p '{patch}'")
