"""Side effects of a repair: changed objects, restarted pods and rebooted nodes that the repair did not need.

A good repair restarts the faulty component, and perhaps its neighbours, which may hold stale connections or state.
Restarting everything puts every user at risk. A faulty node is drained: all that ran there has to start elsewhere, and
its neighbours may restart too. Every other node stays on: a reboot takes down healthy pods, and destroys evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import takewhile
from typing import TYPE_CHECKING

from aiopslab.apps import Application
from aiopslab.generators.fault import Fault, Site
from simcloud.kubernetes.api import Key, Object, at, times
from simcloud.machine import Machine

if TYPE_CHECKING:
    from aiopslab.cloud import Environment


def find_unneeded_changes(changed: Mapping[Key, str], site: Site, faults: Iterable[Fault]) -> list[str]:
    """Describe the changes of objects that no fault of the application at that site concerns."""
    concerned = {resource for fault in faults for resource in _find_concerned(fault, site)}
    return [
        f"{key.plural}/{key.name} was {what}"
        for key, what in changed.items()
        if (format_resource(key), key.name) not in concerned or key.namespace not in ("", site.namespace)
    ]


def _find_concerned(fault: Fault, site: Site) -> list[tuple[str, str]]:
    """Return the resources that a fault concerns, faulty nodes included: a repair may cordon them."""
    return [*fault.concerned, *(("nodes", name) for name in fault.machines_at_fault(site))]


def format_resource(key: Key) -> str:
    """Return a resource's name as faults write it: ``deployments.apps``."""
    return f"{key.plural}.{key.group}".rstrip(".")


def find_unneeded_restarts(environment: Environment, faults: Iterable[Fault]) -> list[str]:
    """Return the components with pods younger than the baseline that a repair need not restart.

    A repair may restart the faulty components, what ran on faulty nodes, and the neighbours of both.
    """
    spared = {component.name for component in environment.app.components}
    for fault in faults:
        displaced = _find_components_on(environment, fault.machines_at_fault(environment))
        for name in (fault.truth.component, *fault.truth.also_right, *displaced):
            spared -= {name, *_get_neighbours(environment.app, name)}
    ended_s = environment.world.epoch_s + environment.baseline.end
    pods = environment.cluster.api.log.objects("", "pods", environment.namespace)
    return sorted(spared & {_get_workload(pod) for pod in pods if _get_creation_s(pod) > ended_s})


def find_unneeded_reboots(environment: Environment, faults: Iterable[Fault]) -> list[str]:
    """Return the healthy nodes that were turned off or rebooted since the baseline."""
    faulty = find_faulty_nodes(environment, faults)
    return [
        name
        for name, kubelet in sorted(environment.cluster.kubelets.items())
        if name not in faulty and not _has_stayed_on(kubelet.node.machine, environment.baseline.end)
    ]


def find_faulty_nodes(environment: Environment, faults: Iterable[Fault]) -> set[str]:
    """Return the names of the faulty nodes of all faults."""
    return {name for fault in faults for name in fault.machines_at_fault(environment)}


def _has_stayed_on(machine: Machine, since: float) -> bool:
    return machine.running and machine.booted_at <= since


def _get_neighbours(app: Application, name: str) -> list[str]:
    """Return the components that a component calls, and its callers."""
    return [*app.component(name).calls, *app.find_callers(name)]


def _find_components_on(environment: Environment, nodes: Iterable[str]) -> set[str]:
    """Return the components with pods on these nodes at the end of the baseline, from the log: pods may be gone by now."""
    node_names = frozenset(nodes)
    if not node_names:
        return set()
    pods: dict[str, Object] = {}
    writes = environment.cluster.api.log.history(
        lambda key: key.plural == "pods" and key.namespace == environment.namespace
    )
    for write in takewhile(lambda write: write.time_s <= environment.baseline.end, writes):
        pods[write.key.name] = write.object
        if write.change == "DELETED":
            del pods[write.key.name]
    known = {component.name for component in environment.app.components}
    return known & {
        _get_workload(pod) for pod in pods.values() if at(pod, "spec", "nodeName", default="") in node_names
    }


def _get_workload(pod: Object) -> str:
    """Return the Deployment of a pod, from the name of the ReplicaSet that owns it."""
    owner: str = at(pod, "metadata", "ownerReferences", 0, "name", default="")
    return owner.rpartition("-")[0]


def _get_creation_s(pod: Object) -> float:
    return times.parse(pod["metadata"]["creationTimestamp"])
