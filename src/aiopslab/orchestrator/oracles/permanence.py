"""Whether a repair lasts: time passes in a copy of the world without users, and the fault must not return.

An hour would take about 15 s of CPU, so a quarter of an hour passes. It is longer than any back-off, sync period or
eviction of the cluster; a delay that somebody chose to be longer is the business of the fault's own ``present``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from aiopslab.cloud import CopyFailed, call_in_copy
from aiopslab.generators import OperationFailed
from aiopslab.generators.fault import Fault
from aiopslab.generators.workload import MIN_SHARE
from aiopslab.orchestrator.oracles.workloads import find_unready
from simcloud.kubernetes.api import at

if TYPE_CHECKING:
    from aiopslab.cloud import IncidentSite

LASTS_S: Final = 900.0
STEP_S: Final = 60.0


def check_permanence(environment: IncidentSite, faults: Sequence[Fault]) -> str:
    """Return why a repair does not last, or an empty text. The world itself does not get older, unless it is a real cluster."""
    if environment.is_live:
        return _await_return(environment, faults)
    try:
        return call_in_copy(_await_return, environment, faults)
    except CopyFailed:  # the host could not make a copy; the session is over, so its world may be used
        return _await_return(environment, faults)


def _await_return(environment: IncidentSite, faults: Sequence[Fault]) -> str:
    environment.load.share = MIN_SHARE
    began_s, before = environment.now, _count_restarts(environment)
    while environment.now < began_s + LASTS_S:
        environment.run_for(STEP_S)
        minutes = f"{(environment.now - began_s) / 60:.0f} min later"
        now = _count_restarts(environment)
        for pod in before:
            if pod not in now:
                return f"{minutes} the pod {pod} had been replaced"
            if now[pod] > before[pod]:
                return f"{minutes} a container of the pod {pod} had restarted"
    for name, why in find_unready(environment).items():
        return f"{minutes}, of {name} {why}"
    try:
        returned = [fault.truth.component for fault in faults if fault.present(environment)]
    except OperationFailed as error:
        return f"{minutes} the system did not answer ({error})"
    return f"{minutes} the cause was back at {returned[0]}" if returned else ""


def _count_restarts(environment: IncidentSite) -> dict[str, int]:
    """Return the number of restarts of each pod of the application that a controller started."""
    pods = environment.cluster.api.log.objects("", "pods", environment.namespace)
    return {
        pod["metadata"]["name"]: sum(
            status["restartCount"] for status in at(pod, "status", "containerStatuses", default=[])
        )
        for pod in pods
        if "deletionTimestamp" not in pod["metadata"]
        and at(pod, "metadata", "ownerReferences", 0, "kind") in ("ReplicaSet", "StatefulSet", "DaemonSet")
    }
