"""Faults of a node on which nothing can be started any more; what runs there runs on.

They show when something has to start there. So the careless operator restarts what the fault is aimed at, in its pod: the
kubelet tries again and again, on the node that the pod is bound to. Another pod may find another node, or this one again.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import Fault
from aiopslab.generators.fault.not_ready import restart_not_ready
from aiopslab.generators.site import Site
from simcloud.machine.computer import Machine


@dataclass(frozen=True)
class BadNodeFault(Fault):
    """The node that a workload of HotelReservation runs on cannot start containers."""

    workload: str
    told: ClassVar[str]
    """What the node's kernel says of it."""

    @abstractmethod
    def break_machine(self, machine: Machine) -> None:
        """Make it bad."""

    @abstractmethod
    def is_broken(self, machine: Machine) -> bool:
        """Whether it is bad."""

    @property
    def concerned(self) -> tuple[tuple[str, str], ...]:
        """Nothing but the node."""
        return ()

    def machines_at_fault(self, site: Site) -> tuple[str, ...]:
        """The bad one."""
        return tuple(name for name, machine in site.machines.items() if self.is_broken(machine))

    def inject(self, site: Site) -> None:
        """Break the node, and stop the workload's container, as if to restart it."""
        found = f"kubectl -n {site.namespace} get pods -l io.kompose.service={self.workload} -o jsonpath="
        told = site.operate(
            found + "'{.items[0].spec.nodeName} {.items[0].status.containerStatuses[0].containerID}'"
        )
        node, _, container = told.stdout.decode().partition(" containerd://")
        self.break_machine(site.machines[node])
        site.operate(f"ssh {node} crictl stop -t 2 {container}")

    def recover(self, site: Site) -> None:
        """Take the node out of use, and let what was on it start elsewhere."""
        for node in site.operate("kubectl get nodes -o name").stdout.decode().replace("node/", "").split():
            if site.operate(f"ssh {node} dmesg | grep -c '{self.told}' || true").stdout.strip() != b"0":
                site.operate(f"kubectl cordon {node}")
                site.operate(
                    f"kubectl -n {site.namespace} delete pods --grace-period=10 --field-selector spec.nodeName={node}"
                )
        restart_not_ready(site, (self.workload,))

    def present(self, site: Site) -> bool:
        """Whether a bad node takes pods, or has some of the application's."""
        return any(
            self._in_use(site, name)
            for name in self.machines_at_fault(site)
            if self.is_broken(site.machines[name])
        )

    def _in_use(self, site: Site, node: str) -> bool:
        taints = f"kubectl get node {node} --ignore-not-found -o jsonpath='{{.metadata.name}} {{.spec.taints[*].effect}}'"
        told = site.operate(taints).stdout.decode()
        pods = f"kubectl -n {site.namespace} get pods -l io.kompose.service --field-selector spec.nodeName={node} -o name"
        return (bool(told) and "NoSchedule" not in told and "NoExecute" not in told) or bool(
            site.operate(pods).stdout
        )
