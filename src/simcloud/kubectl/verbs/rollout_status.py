"""``kubectl rollout status``: follow a rollout until it is done."""

from __future__ import annotations

from typing import Final

from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.object_changes import each
from simcloud.kubectl.revisions import KINDS, REVISION
from simcloud.kubectl.selection import Info
from simcloud.kubectl.session import Kubectl
from simcloud.kubectl.verbs.rollout import choose_objects
from simcloud.kubernetes.api import Object, at, meta
from simcloud.kubernetes.api.verbs import WatchOptions
from simcloud.sim import TimedOut

EXAMPLES: Final = ("kubectl rollout status deploy/web --timeout=60s",)
ROLLING: Final = "RollingUpdate"


@command("rollout status", "Follow a rollout until it is done", examples=EXAMPLES)
async def status(kubectl: Kubectl) -> None:
    """Tell how far each rollout is, and what changes."""
    revision = kubectl.flags["revision"]
    if revision < 0:
        raise KubectlError(f"revision must be a positive integer: {revision}")
    infos = await choose_objects(kubectl)
    if not infos and not kubectl.postponed:
        await kubectl.err(f"No resources found in {kubectl.namespace} namespace.\n")

    async def one(info: Info) -> None:
        if info.resource.kind not in KINDS:
            raise KubectlError(f"no status viewer has been implemented for {info.resource.kind}")
        connection = await kubectl.connect()
        limit_s = kubectl.flags["timeout"]
        if limit_s <= 0:
            await _follow(kubectl, info)
            return
        try:
            with connection.api.kernel.timeout(limit_s):
                await _follow(kubectl, info)
        except TimedOut:
            raise KubectlError("timed out waiting for the condition") from None

    await each(kubectl, infos, one)


async def _follow(kubectl: Kubectl, info: Info) -> None:
    flags = kubectl.flags
    connection = await kubectl.connect()
    listed = await connection.list(info.resource, info.namespace, fields=f"metadata.name={info.name}")
    options = WatchOptions(
        fields=f"metadata.name={info.name}", resource_version=str(connection.api.log.revision)
    )
    watch = await connection.watch(info.resource, info.namespace, options, info.name)
    try:
        if not listed:
            raise KubectlError("object has been deleted")
        obj = listed[0]
        while True:
            message, done = progress(obj, flags["revision"])
            await kubectl.out(message)
            if done or not flags["watch"]:
                return
            event = await watch.next()
            if event is None:
                raise KubectlError("watch closed before UntilWithoutRetry timeout")
            if event.type == "DELETED":
                raise KubectlError("object has been deleted")
            obj = event.object
    finally:
        watch.stop()


def progress(obj: Object, revision: int = 0) -> tuple[str, bool]:
    """How far a rollout is, and whether it is done; ``KubectlError`` if it has failed."""
    match obj["kind"]:
        case "Deployment":
            return _deployment(obj, revision)
        case "DaemonSet":
            return _daemon_set(obj)
        case _:
            return _stateful_set(obj)


def _deployment(obj: Object, revision: int) -> tuple[str, bool]:
    name, status = meta(obj)["name"], obj.get("status") or {}
    running = at(meta(obj), "annotations", REVISION, default="")
    if revision > 0:
        if not running.isdigit():
            raise KubectlError(
                f'cannot get the revision of deployment "{name}": strconv.ParseInt: parsing "{running}": invalid syntax'
            )
        if int(running) != revision:
            raise KubectlError(
                f"desired revision ({revision}) is different from the running revision ({running})"
            )
    if meta(obj).get("generation", 0) > status.get("observedGeneration", 0):
        return "Waiting for deployment spec update to be observed...\n", False
    for condition in status.get("conditions") or ():
        if condition["type"] == "Progressing" and condition.get("reason") == "ProgressDeadlineExceeded":
            raise KubectlError(f'deployment "{name}" exceeded its progress deadline')
    waiting = f'Waiting for deployment "{name}" rollout to finish:'
    wanted = obj["spec"].get("replicas", 1)
    replicas, updated, available = (
        status.get(key, 0) for key in ("replicas", "updatedReplicas", "availableReplicas")
    )
    if updated < wanted:
        return f"{waiting} {updated} out of {wanted} new replicas have been updated...\n", False
    if replicas > updated:
        return f"{waiting} {replicas - updated} old replicas are pending termination...\n", False
    if available < updated:
        return f"{waiting} {available} of {updated} updated replicas are available...\n", False
    return f'deployment "{name}" successfully rolled out\n', True


def _daemon_set(obj: Object) -> tuple[str, bool]:
    name, status = meta(obj)["name"], obj.get("status") or {}
    _check_rolling(obj)
    if meta(obj).get("generation", 0) > status.get("observedGeneration", 0):
        return "Waiting for daemon set spec update to be observed...\n", False
    waiting = f'Waiting for daemon set "{name}" rollout to finish:'
    wanted, updated, available = (
        status.get(key, 0) for key in ("desiredNumberScheduled", "updatedNumberScheduled", "numberAvailable")
    )
    if updated < wanted:
        return f"{waiting} {updated} out of {wanted} new pods have been updated...\n", False
    if available < wanted:
        return f"{waiting} {available} of {wanted} updated pods are available...\n", False
    return f'daemon set "{name}" successfully rolled out\n', True


def _stateful_set(obj: Object) -> tuple[str, bool]:
    status, spec = obj.get("status") or {}, obj["spec"]
    _check_rolling(obj)
    observed = status.get("observedGeneration", 0)
    if not observed or meta(obj).get("generation", 0) > observed:
        return "Waiting for statefulset spec update to be observed...\n", False
    wanted, ready = spec.get("replicas", 1), status.get("readyReplicas", 0)
    if ready < wanted:
        return f"Waiting for {wanted - ready} pods to be ready...\n", False
    updated = status.get("updatedReplicas", 0)
    partition = at(spec, "updateStrategy", "rollingUpdate", "partition")
    if partition is not None:
        if updated < wanted - partition:
            counted = f"{updated} out of {wanted - partition} new pods have been updated..."
            return f"Waiting for partitioned roll out to finish: {counted}\n", False
        return f"partitioned roll out complete: {updated} new pods have been updated...\n", True
    if status.get("updateRevision", "") != status.get("currentRevision", ""):
        at_revision = f"{updated} pods at revision {status.get('updateRevision', '')}..."
        return f"waiting for statefulset rolling update to complete {at_revision}\n", False
    at_revision = (
        f"{status.get('currentReplicas', 0)} pods at revision {status.get('currentRevision', '')}..."
    )
    return f"statefulset rolling update complete {at_revision}\n", True


def _check_rolling(obj: Object) -> None:
    if at(obj, "spec", "updateStrategy", "type") != ROLLING:
        raise KubectlError(f"rollout status is only available for {ROLLING} strategy type")
