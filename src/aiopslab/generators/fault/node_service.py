"""Faults of a service of the nodes, such as the kubelet: while it does nothing, a container that crashes stays down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import Capability
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.node import (
    READY_S,
    NodeFault,
    find_components_on,
    restart_callers_when_ready,
)
from aiopslab.generators.site import Site


@dataclass(frozen=True)
class NodeServiceFault(NodeFault):
    """A service of the target's nodes does nothing; the target's program crashes meanwhile, and nothing restarts it."""

    needs: ClassVar[tuple[Capability, ...]] = ("node login",)
    unit: ClassVar[str]
    fault_type: ClassVar[str] = "Operation Error"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Misconfiguration", "Dependency Problem")
    also_levels: ClassVar[tuple[str, ...]] = ("Virtualization",)

    def inject(self, site: Site) -> None:
        """Strike the service, then let the target's program crash."""
        processes = site.find_processes(self.target)
        super().inject(site)
        for node, pid in processes:
            site.node_shell(node, f"kill -9 {pid}")

    def await_pods(self, site: Site) -> None:
        """Wait for the pods of the nodes, which become ready by themselves, and restart the target's callers.

        A pod that is deleted while its program is down cannot leave a registry.
        """
        for node in self.machines_at_fault(site):
            for name in find_components_on(site, node):
                site.wait_until_ready(name, READY_S)
        restart_callers_when_ready(site, (self.target,))

    def is_broken(self, site: Site, node: str) -> bool:
        """Return whether the service does not run, or its process is suspended."""
        state = site.node_shell(
            node, f"systemctl is-active {self.unit}; ps -o stat= -p $(pgrep -x {self.unit} | head -1) || true"
        ).split()
        return state[0] != "active" or state[-1].startswith("T")


@dataclass(frozen=True)
class StoppedServiceFault(NodeServiceFault):
    """The service was stopped, and perhaps kept from starting."""

    manner: str = draw_from("stop", "disable --now", "mask --now")

    def strike(self, site: Site, node: str) -> None:
        """Stop the service."""
        site.node_shell(node, f"systemctl {self.manner} {self.unit}")

    def recover(self, site: Site) -> None:
        """Start the service."""
        for node in self.machines_at_fault(site):
            site.node_shell(node, f"systemctl unmask {self.unit}; systemctl enable --now {self.unit}")
        self.await_pods(site)


@dataclass(frozen=True)
class HungServiceFault(NodeServiceFault):
    """The process of the service was suspended."""

    def strike(self, site: Site, node: str) -> None:
        """Suspend the process."""
        site.node_shell(node, f"pkill -STOP -x {self.unit}")

    def recover(self, site: Site) -> None:
        """Let the process go on."""
        for node in self.machines_at_fault(site):
            site.node_shell(node, f"pkill -CONT -x {self.unit}")
        self.await_pods(site)
