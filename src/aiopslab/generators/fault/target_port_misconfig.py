"""A Service forwards to a port that nothing listens on: its pods run, but connections are refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import Fault, GroundTruth, Layer, fault
from aiopslab.generators.site import Site
from simcloud.kubernetes.api import at


@fault
@dataclass(frozen=True)
class TargetPortMisconfig(Fault):
    """An operator edits a Service and mistypes its target port."""

    service: str
    right: int = 9090
    wrong: int = 9999
    name: ClassVar[str] = "target_port_misconfig"
    layer: ClassVar[Layer] = "virtualization"
    known_as: ClassVar[str] = "misconfig_k8s"
    declared: ClassVar[bool] = True

    @property
    def truth(self) -> GroundTruth:
        """A wrong setting of the Service."""
        return GroundTruth(self.service, "Virtualization", "Misconfiguration")

    @property
    def concerned(self) -> tuple[tuple[str, str], ...]:
        """The Service."""
        return (("services", self.service),)

    def inject(self, site: Site) -> None:
        """Set the wrong port."""
        site.set_port(self.service, targetPort=self.wrong)

    def recover(self, site: Site) -> None:
        """Set the right port."""
        site.set_port(self.service, targetPort=self.right)

    def present(self, site: Site) -> bool:
        """Return whether the Service forwards to the wrong port or is missing."""
        found = site.find("services", self.service)
        return found is None or any(
            port.get("targetPort") == self.wrong for port in at(found, "spec", "ports", default=[])
        )
