"""Waits, in virtual time, until objects are ready or gone, or a hook is done."""

from __future__ import annotations

from typing import Any, Final

from simcloud.helm.errors import HelmError
from simcloud.helm.kube import Item, format_faults, present
from simcloud.kubernetes import ApiClient
from simcloud.kubernetes.api import Object, at
from simcloud.machine.process import Context

EVERY_S: Final = 2.0
HOOK_EVERY_S: Final = 0.25
TOO_LATE: Final = "context deadline exceeded"
TIMED_OUT: Final = "timed out waiting for the condition"


async def until_ready(
    ctx: Context, connection: ApiClient, items: list[Item], timeout_s: float, *, jobs: bool
) -> None:
    """Wait for objects to be ready; raises ``HelmError`` when the time is over."""
    end_s = connection.now_s + timeout_s
    while not await _all_ready(connection, items, jobs):
        if connection.now_s + EVERY_S > end_s:
            await ctx.sleep(max(0.0, end_s - connection.now_s))
            raise HelmError(TOO_LATE)
        await ctx.sleep(EVERY_S)


async def until_gone(ctx: Context, connection: ApiClient, items: list[Item], timeout_s: float) -> None:
    """Wait for objects to be gone."""
    end_s = connection.now_s + timeout_s
    while any([await present(connection, item) is not None for item in items]):
        if connection.now_s + EVERY_S > end_s:
            await ctx.sleep(max(0.0, end_s - connection.now_s))
            raise HelmError(TOO_LATE)
        await ctx.sleep(EVERY_S)


async def until_done(ctx: Context, connection: ApiClient, item: Item, timeout_s: float) -> None:
    """Wait for the work of a hook: a Job to complete, a Pod to end well. Other kinds have none."""
    if item.resource.kind not in ("Job", "Pod"):
        return
    end_s = connection.now_s + timeout_s
    while True:
        obj = await present(connection, item)
        if obj is None:
            raise HelmError(format_faults([f"{item.resource.kind} {item.name} was deleted"]))
        if _is_done(obj):
            return
        if connection.now_s + HOOK_EVERY_S > end_s:
            await ctx.sleep(max(0.0, end_s - connection.now_s))
            raise HelmError(format_faults([TIMED_OUT]))
        await ctx.sleep(HOOK_EVERY_S)


def _is_done(obj: Object) -> bool:
    if obj["kind"] == "Pod":
        phase = at(obj, "status", "phase")
        if phase == "Failed":
            raise HelmError(format_faults([f"pod {obj['metadata']['name']} failed"]))
        return bool(phase == "Succeeded")
    if _condition(obj, "Complete"):
        return True
    failed = _condition(obj, "Failed")
    if failed:
        raise HelmError(format_faults([f"job {obj['metadata']['name']} failed: {failed.get('reason', '')}"]))
    return False


def _condition(obj: Object, kind: str) -> dict[str, Any]:
    conditions = at(obj, "status", "conditions", default=None) or ()
    return next(
        (
            condition
            for condition in conditions
            if condition["type"] == kind and condition["status"] == "True"
        ),
        {},
    )


async def _all_ready(connection: ApiClient, items: list[Item], jobs: bool) -> bool:
    for item in items:
        obj = await present(connection, item)
        if obj is None or not await _ready(connection, obj, jobs):
            return False
    return True


async def _ready(connection: ApiClient, obj: Object, jobs: bool) -> bool:
    status, spec = obj.get("status") or {}, obj.get("spec") or {}
    match obj["kind"]:
        case "Pod":
            return bool(_condition(obj, "Ready")) or status.get("phase") == "Succeeded"
        case "Job":
            return not jobs or bool(int(status.get("succeeded", 0)) >= int(spec.get("completions") or 1))
        case "Deployment":
            return spec.get("paused") is True or await _deployment_ready(connection, obj)
        case "PersistentVolumeClaim":
            return bool(status.get("phase") == "Bound")
        case "Service":
            return _service_ready(spec, status)
        case "DaemonSet":
            return _daemon_set_ready(obj, spec, status)
        case "StatefulSet":
            return _stateful_set_ready(obj, spec, status)
        case "ReplicaSet" | "ReplicationController":
            return int(status.get("readyReplicas", 0)) >= int(spec.get("replicas", 1)) and _is_observed(obj)
        case "CustomResourceDefinition":
            return bool(_condition(obj, "Established"))
    return True


def _is_observed(obj: Object) -> bool:
    seen, made = at(obj, "status", "observedGeneration"), at(obj, "metadata", "generation")
    return bool(seen == made)


async def _deployment_ready(connection: ApiClient, obj: Object) -> bool:
    sets = connection.resource("replicasets.apps")
    namespace, uid = obj["metadata"]["namespace"], obj["metadata"]["uid"]
    wanted = _without_hash(obj["spec"]["template"])
    newest = [
        replica_set
        for replica_set in await connection.list(sets, namespace)
        if any(
            owner["uid"] == uid
            for owner in at(replica_set, "metadata", "ownerReferences", default=None) or ()
        )
        and _without_hash(replica_set["spec"]["template"]) == wanted
    ]
    if not newest or not _is_observed(obj):
        return False
    replicas = int(obj["spec"].get("replicas", 1))
    allowed = _share(at(obj, "spec", "strategy", "rollingUpdate", "maxUnavailable"), replicas)
    surge = _share(at(obj, "spec", "strategy", "rollingUpdate", "maxSurge"), replicas, up=True)
    allowed = 1 if not allowed and not surge and at(obj, "spec", "strategy", "rollingUpdate") else allowed
    return int(at(newest[0], "status", "readyReplicas", default=0)) >= replicas - min(allowed, replicas)


def _without_hash(template: Object) -> Object:
    labels = dict(at(template, "metadata", "labels", default=None) or {})
    labels.pop("pod-template-hash", None)
    return {**template, "metadata": {**template.get("metadata", {}), "labels": labels}}


def _share(value: Any, of: int, *, up: bool = False) -> int:
    if isinstance(value, str) and value.endswith("%") and value[:-1].isdigit():
        return -(-of * int(value[:-1]) // 100) if up else of * int(value[:-1]) // 100
    return int(value or 0) if not isinstance(value, str) else 0


def _service_ready(spec: Object, status: Object) -> bool:
    if spec.get("type") == "ExternalName":
        return True
    if not spec.get("clusterIP"):
        return False
    if spec.get("type") == "LoadBalancer" and not spec.get("externalIPs"):
        return bool(at(status, "loadBalancer", "ingress", default=None))
    return True


def _daemon_set_ready(obj: Object, spec: Object, status: Object) -> bool:
    if at(spec, "updateStrategy", "type") != "RollingUpdate":
        return True
    wanted = int(status.get("desiredNumberScheduled", 0))
    if not _is_observed(obj) or int(status.get("updatedNumberScheduled", 0)) != wanted:
        return False
    allowed = _share(at(spec, "updateStrategy", "rollingUpdate", "maxUnavailable"), wanted, up=True)
    return int(status.get("numberReady", 0)) >= wanted - allowed


def _stateful_set_ready(obj: Object, spec: Object, status: Object) -> bool:
    if not _is_observed(obj):
        return False
    if at(spec, "updateStrategy", "type") != "RollingUpdate":
        return True
    replicas = int(spec.get("replicas", 1))
    partition = int(at(spec, "updateStrategy", "rollingUpdate", "partition", default=0) or 0)
    if int(status.get("updatedReplicas", 0)) < replicas - partition:
        return False
    if int(status.get("readyReplicas", 0)) != replicas:
        return False
    return partition != 0 or status.get("currentRevision") == status.get("updateRevision")
