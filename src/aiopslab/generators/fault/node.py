"""Faults of nodes: something is wrong with the machines that the target's pods run on, or with what runs there beside them.

An engineer repairs the node, or takes it out of use: cordons it and lets its pods start elsewhere.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from shlex import quote
from typing import ClassVar, Final

from aiopslab.apps import Application, Component, Role
from aiopslab.generators.fault.base import Capability, Layer
from aiopslab.generators.fault.declared import keeps_data
from aiopslab.generators.fault.drawn import STORES, DrawnFault
from aiopslab.generators.hardware import Defect
from aiopslab.generators.site import Site, restart_unready_pods
from simcloud.kubernetes.api import at

READY_S: Final = 150
"""Time in which a pod gets ready on a node that has just recovered."""


@dataclass(frozen=True)
class NodeFault(DrawnFault):
    """Something is wrong with the nodes that the target's pods run on."""

    roles: ClassVar[tuple[Role, ...]] = ("front end", "service", *STORES)
    layer: ClassVar[Layer] = "operating system"
    needs: ClassVar[tuple[Capability, ...]] = ("node access",)
    follows_target: ClassVar[bool] = False

    @abstractmethod
    def strike(self, site: Site, node: str) -> None:
        """Do it to a node."""

    @abstractmethod
    def is_broken(self, site: Site, node: str) -> bool:
        """Return whether a node is still broken."""

    def inject(self, site: Site) -> None:
        """Strike the nodes of the target's pods."""
        site.struck_nodes[self.target] = tuple(site.nodes_of(self.target))
        for node in self.machines_at_fault(site):
            self.strike(site, node)

    def present(self, site: Site) -> bool:
        """Return whether a broken node is in use."""
        return any(
            is_in_use(site, node) and self.is_broken(site, node) for node in self.machines_at_fault(site)
        )

    def remains(self, site: Site) -> bool:
        """Return whether a node is still broken, in use or not."""
        return any(self.is_broken(site, node) for node in self.machines_at_fault(site))


@dataclass(frozen=True)
class PodLossFault(NodeFault):
    """The nodes lose their pods, by the fault or by its repair."""

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether users notice, and no database loses its data when its pod moves."""
        return all(map(keeps_data, app.components)) and super().suits(app, component)


@dataclass(frozen=True)
class HardwareFault(PodLossFault):
    """The hardware of the nodes is defective."""

    layer: ClassVar[Layer] = "hardware"
    needs: ClassVar[tuple[Capability, ...]] = ("hardware",)
    defect: ClassVar[Defect]

    def is_broken(self, site: Site, node: str) -> bool:
        """Return whether the hardware has the defect."""
        return self.defect in site.hardware(node).defects

    def recover(self, site: Site) -> None:
        """Take the nodes out of use."""
        vacate(site, self.machines_at_fault(site))
        restart_unready_pods(site, (self.target,))


def is_in_use(site: Site, node: str) -> bool:
    """Return whether pods of the application are on a node, or could be scheduled there.

    A node that an operator has cordoned, tainted or deleted accepts none; taints that the cluster adds go by themselves.
    """
    found = site.find("nodes", node, "")
    taints = at(found, "spec", "taints", default=[]) if found is not None else []
    is_closed = found is None or any(
        taint["effect"] in ("NoSchedule", "NoExecute")
        and (not taint["key"].startswith("node.kubernetes.io/") or taint["key"].endswith("/unschedulable"))
        for taint in taints
    )
    return not is_closed or bool(list_pods_on(site, node))


def list_pods_on(site: Site, node: str) -> list[str]:
    """Return the names of the application's pods on a node that have not ended."""
    each = '{range .items[*]}{.metadata.name} {.status.phase}{"\\n"}{end}'
    listed = site.kubectl(f"get pods --field-selector spec.nodeName={node} -o jsonpath={quote(each)}")
    pods = (line.split() for line in listed.splitlines())
    return [name for name, phase in pods if phase not in ("Succeeded", "Failed")]


def vacate(site: Site, nodes: Iterable[str]) -> None:
    """Drain nodes, whether or not they answer, and restart the callers of what has moved."""
    for node in nodes:
        moved = find_components_on(site, node)
        site.run(
            f"kubectl drain {node} --ignore-daemonsets --delete-emptydir-data --disable-eviction --force --grace-period=0"
        )
        restart_callers_when_ready(site, moved)


def find_components_on(site: Site, node: str) -> list[str]:
    """Return the components with pods on a node."""
    return [known.name for known in site.app.components if node in site.nodes_of(known.name)]


def restart_callers_when_ready(site: Site, components: Iterable[str]) -> None:
    """Wait for components that were down, then restart their callers.

    Their connections may hang, and a registry that was down has forgotten who had registered.
    """
    names = list(components)
    for name in names:
        site.wait_until_ready(name, READY_S)
    callers = dict.fromkeys(caller for name in names for caller in site.app.find_callers(name))
    for caller in callers:
        site.restart(caller)
    for caller in callers:
        site.wait_until_ready(caller, READY_S)
