"""A workload asks for a port of its node that is in use on every node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.site import Site

HOST_PORTS: Final = "jsonpath='{.items[*].spec.template.spec.containers[*].ports[*].hostPort}'"


@fault
@dataclass(frozen=True)
class TakenHostPort(ReleasedFault):
    """A team exposes a workload on its node, at a port that an agent on every node has."""

    name: ClassVar[str] = "taken_host_port"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Network/Storage Issue", "Operation Error")

    def release(self, site: Site) -> None:
        """Ask for a port of a DaemonSet."""
        taken = site.run(f"kubectl get daemonsets -A -o {HOST_PORTS}").split()
        port = {"containerPort": site.get_port(self.target), "hostPort": int(taken[0])}
        site.set_container(self.target, ports=[port])
