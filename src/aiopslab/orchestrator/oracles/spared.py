"""Who was started anew without need, where starting pods anew is a repair.

An engineer who has understood restarts what is at fault, and perhaps its neighbours, which may hold on to connections. Who
restarts everything has not looked, and has put every user at risk.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from aiopslab.cluster.api import times
from aiopslab.cluster.api.objects import Object, at
from aiopslab.generators.fault.base import Fault
from aiopslab.service.apps.base import Application

if TYPE_CHECKING:
    from aiopslab.cloud.environment import Environment


def restarted_needlessly(environment: Environment, faults: Iterable[Fault]) -> list[str]:
    """The components, beyond those at fault and their neighbours, that have pods which are younger than the baseline."""
    spared = {component.name for component in environment.app.components}
    for fault in faults:
        for name in (fault.truth.component, *fault.truth.also_right):
            spared -= {name, *_neighbours(environment.app, name)}
    ended_s = environment.world.epoch_s + environment.baseline.end
    pods = environment.cluster.api.log.objects("", "pods")
    young = {
        _workload(pod)
        for pod in pods
        if pod["metadata"].get("namespace") == environment.namespace and _born_s(pod) > ended_s
    }
    return sorted(spared & young)


def _neighbours(app: Application, name: str) -> list[str]:
    """Whom a component asks, and who asks it."""
    return [*app.component(name).calls, *app.callers_of(name)]


def _workload(pod: Object) -> str:
    """The Deployment of a pod, by the name of the ReplicaSet that owns it."""
    owner: str = at(pod, "metadata", "ownerReferences", 0, "name", default="")
    return owner.rpartition("-")[0]


def _born_s(pod: Object) -> float:
    return times.parse(pod["metadata"]["creationTimestamp"])
