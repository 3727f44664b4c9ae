"""Faults of a node that can no longer start containers; running containers continue.

They show only when a container has to start there. So the target's container is restarted inside its pod: the kubelet retries
on the node that the pod is bound to. A new pod may be scheduled on another node, or on this one again.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import Capability, Fault
from aiopslab.generators.fault.node import vacate
from aiopslab.generators.hardware import Defect
from aiopslab.generators.site import Site, restart_unready_pods


@dataclass(frozen=True)
class BadNodeFault(Fault):
    """The node that a workload of HotelReservation runs on cannot start containers."""

    workload: str
    needs: ClassVar[tuple[Capability, ...]] = ("hardware",)
    defect: ClassVar[Defect]
    kernel_message: ClassVar[str]
    """Text in the node's kernel log."""

    @abstractmethod
    def break_node(self, site: Site, node: str) -> None:
        """Inject the defect into the node."""

    @property
    def concerned(self) -> tuple[tuple[str, str], ...]:
        """No declared objects; only the node."""
        return ()

    def machines_at_fault(self, site: Site) -> tuple[str, ...]:
        """Return the broken nodes, including those that were repaired since."""
        return site.struck_nodes.get(self.workload, ())

    def inject(self, site: Site) -> None:
        """Break the node and stop the workload's container, which the kubelet then tries to restart."""
        get_pods = f"kubectl -n {site.namespace} get pods -l io.kompose.service={self.workload} -o jsonpath="
        result = site.operate(
            get_pods + "'{.items[0].spec.nodeName} {.items[0].status.containerStatuses[0].containerID}'"
        )
        node, _, container = result.stdout.decode().partition(" containerd://")
        site.struck_nodes[self.workload] = (node,)
        self.break_node(site, node)
        site.operate(f"ssh {node} crictl stop -t 2 {container}")

    def recover(self, site: Site) -> None:
        """Take the nodes whose kernel reports the defect out of use."""
        reports = f"dmesg | grep -c '{self.kernel_message}' || true"
        vacate(site, [node for node in site.list_nodes() if site.node_shell(node, reports).strip() != "0"])
        restart_unready_pods(site, (self.workload,))

    def present(self, site: Site) -> bool:
        """Return whether a broken node accepts pods or still runs pods of the application."""
        return any(
            self._is_in_use(site, name)
            for name in self.machines_at_fault(site)
            if self.defect in site.hardware(name).defects
        )

    def _is_in_use(self, site: Site, node: str) -> bool:
        get_taints = f"kubectl get node {node} --ignore-not-found -o jsonpath='{{.metadata.name}} {{.spec.taints[*].effect}}'"
        words = site.operate(get_taints).stdout.decode().split()
        get_pods = f"kubectl -n {site.namespace} get pods -l io.kompose.service --field-selector spec.nodeName={node} -o name"
        # PreferNoSchedule keeps no pod away when the other nodes are full.
        is_schedulable = bool(words) and not {"NoSchedule", "NoExecute"} & set(words[1:])
        return is_schedulable or bool(site.operate(get_pods).stdout)
