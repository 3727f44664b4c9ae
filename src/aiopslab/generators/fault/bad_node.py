"""Faults of a node that can no longer start containers; running containers continue.

They show only when a container has to start there. So the target's container is restarted inside its pod: the kubelet retries
on the node that the pod is bound to. A new pod may be scheduled on another node, or on this one again.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import Fault
from aiopslab.generators.site import Site, restart_unready_pods
from simcloud.machine import Machine


@dataclass(frozen=True)
class BadNodeFault(Fault):
    """The node that a workload of HotelReservation runs on cannot start containers."""

    workload: str
    kernel_message: ClassVar[str]
    """Text in the node's kernel log."""

    @abstractmethod
    def break_machine(self, machine: Machine) -> None:
        """Inject the defect into the machine."""

    @abstractmethod
    def is_broken(self, machine: Machine) -> bool:
        """Return whether the machine has the defect."""

    @property
    def concerned(self) -> tuple[tuple[str, str], ...]:
        """No declared objects; only the node."""
        return ()

    def machines_at_fault(self, site: Site) -> tuple[str, ...]:
        """Return the broken nodes."""
        return tuple(name for name, machine in site.machines.items() if self.is_broken(machine))

    def inject(self, site: Site) -> None:
        """Break the node and stop the workload's container, which the kubelet then tries to restart."""
        get_pods = f"kubectl -n {site.namespace} get pods -l io.kompose.service={self.workload} -o jsonpath="
        result = site.operate(
            get_pods + "'{.items[0].spec.nodeName} {.items[0].status.containerStatuses[0].containerID}'"
        )
        node, _, container = result.stdout.decode().partition(" containerd://")
        self.break_machine(site.machines[node])
        site.operate(f"ssh {node} crictl stop -t 2 {container}")

    def recover(self, site: Site) -> None:
        """Cordon the node and delete its pods, so that they start elsewhere."""
        for node in site.operate("kubectl get nodes -o name").stdout.decode().replace("node/", "").split():
            count = site.operate(f"ssh {node} dmesg | grep -c '{self.kernel_message}' || true")
            if count.stdout.strip() != b"0":
                site.operate(f"kubectl cordon {node}")
                site.operate(
                    f"kubectl -n {site.namespace} delete pods --grace-period=10 --field-selector spec.nodeName={node}"
                )
        restart_unready_pods(site, (self.workload,))

    def present(self, site: Site) -> bool:
        """Return whether a broken node accepts pods or still runs pods of the application."""
        return any(
            self._is_in_use(site, name)
            for name in self.machines_at_fault(site)
            if self.is_broken(site.machines[name])
        )

    def _is_in_use(self, site: Site, node: str) -> bool:
        get_taints = f"kubectl get node {node} --ignore-not-found -o jsonpath='{{.metadata.name}} {{.spec.taints[*].effect}}'"
        taints = site.operate(get_taints).stdout.decode()
        get_pods = f"kubectl -n {site.namespace} get pods -l io.kompose.service --field-selector spec.nodeName={node} -o name"
        is_schedulable = bool(taints) and "NoSchedule" not in taints and "NoExecute" not in taints
        return is_schedulable or bool(site.operate(get_pods).stdout)
