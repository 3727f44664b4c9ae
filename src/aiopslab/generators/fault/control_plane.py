"""Faults of the control plane: a component that runs as a static pod of the control plane's node is down."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Final

from aiopslab.apps import Application, Component, Role
from aiopslab.generators.fault.base import Capability, GroundTruth, Layer
from aiopslab.generators.fault.declared import keeps_data
from aiopslab.generators.fault.drawn import STORES, DrawnFault
from aiopslab.generators.site import Site

MANIFESTS: Final = "/etc/kubernetes/manifests"
NODE: Final = "node-role.kubernetes.io/control-plane"
"""The label of the control plane's node."""


@dataclass(frozen=True)
class ControlPlaneFault(DrawnFault):
    """A component of the control plane is down when the target loses its pods, which then do not come back."""

    layer: ClassVar[Layer] = "virtualization"
    roles: ClassVar[tuple[Role, ...]] = ("front end", "service", *STORES)
    fault_type: ClassVar[str] = "Operation Error"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Misconfiguration", "Dependency Problem")
    needs: ClassVar[tuple[Capability, ...]] = ("node access",)
    component: ClassVar[str]

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether users notice, and no data is lost with the target's pods."""
        return keeps_data(component) and super().suits(app, component)

    @abstractmethod
    def stop(self, site: Site, node: str) -> None:
        """Stop the component on the control plane's node."""

    @property
    def truth(self) -> GroundTruth:
        """The target, or the component by its name."""
        names = (self.component, f"{self.component}-kind-control-plane")
        return GroundTruth(
            self.target,
            self.layer.title(),
            self.fault_type,
            also_right=names,
            also_fault_types=self.also_fault_types,
        )

    def machines_at_fault(self, site: Site) -> tuple[str, ...]:
        """Return the control plane's node."""
        return (find_control_plane(site),)

    def inject(self, site: Site) -> None:
        """Stop the component, then restart the target."""
        node = find_control_plane(site)
        self.stop(site, node)
        self.wait_until(site, False)
        site.restart(self.target)

    def present(self, site: Site) -> bool:
        """Return whether the component does not run."""
        return not site.node_shell(find_control_plane(site), f"crictl ps -q --name {self.component}").strip()

    def wait_until(self, site: Site, is_running: bool) -> None:
        """Wait until the component runs, or does not; raises ``OperationFailed``."""
        test = "until [ -n" if is_running else "while [ -n"
        line = f'{test} "$(crictl ps -q --name {self.component})" ]; do sleep 1; done'
        site.node_shell(find_control_plane(site), line)


def find_control_plane(site: Site) -> str:
    """Return the name of the control plane's node."""
    return site.run(f"kubectl get nodes -l {NODE} -o name").strip().removeprefix("node/")
