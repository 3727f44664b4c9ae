"""Who was started anew without need: pods, where starting them anew is a repair, and nodes.

An engineer who has understood restarts what is at fault, and perhaps its neighbours, which may hold on to connections or have
told it something that it forgot. Who restarts everything has not looked, and has put every user at risk. A node that is at fault
is emptied: all that ran there has to start elsewhere, and has neighbours, too. Any other node is left on: whoever starts it anew
takes down what is well on it, and wipes away what nobody has looked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import TYPE_CHECKING

from aiopslab.apps.base import Application
from aiopslab.generators.fault.base import Fault
from simcloud.kubernetes.api import times
from simcloud.kubernetes.api.objects import Object, at
from simcloud.machine.computer import Machine

if TYPE_CHECKING:
    from aiopslab.cloud.environment import Environment


def restarted_needlessly(environment: Environment, faults: Iterable[Fault]) -> list[str]:
    """The components that have pods which are younger than the baseline, beyond those that a repair restarts.

    A repair restarts what is at fault, what ran on nodes that are at fault, and the neighbours of both.
    """
    spared = {component.name for component in environment.app.components}
    for fault in faults:
        displaced = _ran_on(environment, fault.machines_at_fault(environment))
        for name in (fault.truth.component, *fault.truth.also_right, *displaced):
            spared -= {name, *_neighbours(environment.app, name)}
    ended_s = environment.world.epoch_s + environment.baseline.end
    pods = environment.cluster.api.log.objects("", "pods", environment.namespace)
    return sorted(spared & {_workload(pod) for pod in pods if _born_s(pod) > ended_s})


def rebooted_needlessly(environment: Environment, faults: Iterable[Fault]) -> list[str]:
    """The nodes that were turned off, or off and on again, since the baseline, and are not at fault."""
    blamed = nodes_at_fault(environment, faults)
    return [
        name
        for name, kubelet in sorted(environment.cluster.kubelets.items())
        if name not in blamed and not _stayed_on(kubelet.node.machine, environment.baseline.end)
    ]


def nodes_at_fault(environment: Environment, faults: Iterable[Fault]) -> set[str]:
    """Their names, of all faults."""
    return {name for fault in faults for name in fault.machines_at_fault(environment)}


def _stayed_on(machine: Machine, since: float) -> bool:
    return machine.running and machine.booted_at <= since


def _neighbours(app: Application, name: str) -> list[str]:
    """Whom a component asks, and who asks it."""
    return [*app.component(name).calls, *app.find_callers(name)]


def _ran_on(environment: Environment, nodes: Iterable[str]) -> set[str]:
    """The components that had pods on these nodes at the end of the baseline. Pods may be gone by now; the log knows them."""
    named = frozenset(nodes)
    if not named:
        return set()
    there: dict[str, Object] = {}
    writes = environment.cluster.api.log.history(
        lambda key: key.plural == "pods" and key.namespace == environment.namespace
    )
    for write in takewhile(lambda write: write.time_s <= environment.baseline.end, writes):
        there[write.key.name] = write.object
        if write.change == "DELETED":
            del there[write.key.name]
    known = {component.name for component in environment.app.components}
    return known & {
        _workload(pod) for pod in there.values() if at(pod, "spec", "nodeName", default="") in named
    }


def _workload(pod: Object) -> str:
    """The Deployment of a pod, by the name of the ReplicaSet that owns it."""
    owner: str = at(pod, "metadata", "ownerReferences", 0, "name", default="")
    return owner.rpartition("-")[0]


def _born_s(pod: Object) -> float:
    return times.parse(pod["metadata"]["creationTimestamp"])
