"""The workloads of the baseline: whether they are rolled out and ready, and whether anything is still moving."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from aiopslab.cloud import KINDS, find_differences
from aiopslab.orchestrator.oracles.side_effects import format_resource, is_new
from simcloud.kubernetes.api import Key, Object, Revision, at

if TYPE_CHECKING:
    from aiopslab.cloud import IncidentSite


def list_workloads(environment: IncidentSite) -> Iterator[tuple[Key, int]]:
    """Yield the workloads of the baseline with their numbers of pods."""
    for key, before in environment.wanted.items():
        if key.namespace == environment.namespace and key.plural in ("deployments", "statefulsets"):
            yield key, at(before, "spec", "replicas", default=1)


def is_rolled_out(environment: IncidentSite) -> bool:
    """Whether every workload of the baseline has its pods, all ready and none from before the last change."""
    for key, wanted in list_workloads(environment):
        now = environment.find(format_resource(key), key.name)
        if now is None or at(now, "status", "observedGeneration") != at(now, "metadata", "generation"):
            return False
        counts = ("replicas", "updatedReplicas", "readyReplicas")
        replicas, updated, ready = (at(now, "status", name, default=0) for name in counts)
        if ready < wanted or updated < replicas:
            return False
    return True


def find_unready(environment: IncidentSite) -> dict[str, str]:
    """Return the workloads of the baseline that lack ready pods, each with what was seen of its pods."""
    found: dict[str, str] = {}
    for name, wanted, now in _list_unready(environment):
        found[name] = f"{at(now, 'status', 'readyReplicas', default=0)} of {wanted} pods are ready"
        if now is None:
            found[name] += ", because it was deleted"
        elif at(now, "spec", "replicas", default=1) < wanted:
            found[name] += f", because it is scaled to {now['spec']['replicas']}"
        elif reasons := dict.fromkeys(filter(None, map(_explain_pod, _list_pods(environment, now)))):
            found[name] += f" ({', '.join(reasons)})"
    return found


def can_become_ready(environment: IncidentSite) -> bool:
    """Whether a workload of the baseline lacks ready pods that it declares; one that was deleted or scaled down gets none."""
    return any(
        now is not None and at(now, "spec", "replicas", default=1) >= wanted
        for _, wanted, now in _list_unready(environment)
    )


def _list_unready(environment: IncidentSite) -> Iterator[tuple[str, int, Object | None]]:
    """Yield name, wanted number of pods and object of each workload of the baseline that lacks ready pods."""
    for key, wanted in list_workloads(environment):
        now = environment.find(format_resource(key), key.name)
        if at(now, "status", "readyReplicas", default=0) < wanted:
            yield key.name, wanted, now


def is_at_rest(environment: IncidentSite, since_s: float) -> bool:
    """Whether nothing is under way that may change the system, and nothing was in the last ``since_s`` seconds.

    Under way are programs that the agent left running, pods that somebody started by hand or as a Job, pods that are
    terminating, and nodes that boot or restart a service. A container that crashes and restarts is no sign that something will change.
    """
    began_s = environment.now - since_s
    log = environment.cluster.api.log
    pods = [pod for pod in log.objects("", "pods") if not _is_scheduled(environment, pod)]
    return not (
        environment.has_jobs
        or environment.is_node_starting(began_s)
        or any(_is_task(environment, pod) for pod in pods)
        or (since_s > 0.0 and any("deletionTimestamp" in pod["metadata"] for pod in pods))
        or any(
            _is_change(write) and not _is_scheduled(environment, write.object)
            for write in log.history(_is_declared_or_pod, since_s=began_s)
        )
    )


def _is_declared_or_pod(key: Key) -> bool:
    return key.plural == "pods" or (key.group, key.plural) in KINDS


def _is_change(write: Revision) -> bool:
    """Whether a write added or removed an object, or changed what is declared."""
    if write.before is None or write.change != "MODIFIED":
        return True
    return write.key.plural != "pods" and bool(find_differences(write.before, write.object))


def _is_scheduled(environment: IncidentSite, obj: Object) -> bool:
    """Whether a pod belongs to a CronJob that is wanted: such pods come and go, and change nothing."""
    owner = at(obj, "metadata", "ownerReferences", 0, default={})
    if owner.get("kind") != "Job":
        return False
    namespace = obj["metadata"]["namespace"]
    job = environment.cluster.api.log.get(Key("batch", "jobs", namespace, owner["name"]))
    name = at(job, "metadata", "ownerReferences", 0, "name", default="")
    return Key("batch", "cronjobs", namespace, name) in environment.wanted


def _is_task(environment: IncidentSite, pod: Object) -> bool:
    """Whether a pod was started by hand or by a Job during the session, to do something once, and is not done."""
    owner: str | None = at(pod, "metadata", "ownerReferences", 0, "kind", default=None)
    is_running = at(pod, "status", "phase") in ("Pending", "Running")
    return is_running and owner in (None, "Job") and is_new(environment, pod)


def _list_pods(environment: IncidentSite, workload: Object) -> list[Object]:
    wanted: dict[str, str] = at(workload, "spec", "selector", "matchLabels", default={})
    pods = environment.cluster.api.log.objects("", "pods", environment.namespace)
    return [pod for pod in pods if wanted.items() <= at(pod, "metadata", "labels", default={}).items()]


def _explain_pod(pod: Object) -> str:
    """Return why a pod is not ready, in Kubernetes' own word; empty if it gives none."""
    for status in at(pod, "status", "containerStatuses", default=[]):
        reason: str = at(status, "state", "waiting", "reason", default="")
        if reason:
            return reason
    for condition in at(pod, "status", "conditions", default=[]):
        if condition["status"] == "False" and condition.get("reason"):
            return str(condition["reason"])
    return ""
