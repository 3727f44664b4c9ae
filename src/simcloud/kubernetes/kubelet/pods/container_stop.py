"""Stops containers: preStop hook, SIGTERM, grace period, SIGKILL."""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.kubelet.node import Node
from simcloud.kubernetes.kubelet.pods.hooks import HookFailed, run_hook
from simcloud.kubernetes.kubelet.pods.parts import Part, find_part, init_parts
from simcloud.kubernetes.kubelet.records import ContainerRecord
from simcloud.sim import TimedOut, gather

SHORTEST_S: Final = 1.0
DEFAULT_GRACE_S: Final = 30.0


def grace_of(pod: Object, part: Part, probe: str = "") -> float:
    """The seconds a container of this pod may take to end."""
    metadata, spec = pod["metadata"], pod["spec"]
    grace = metadata.get("deletionGracePeriodSeconds")
    if grace is None:
        grace = spec.get("terminationGracePeriodSeconds", DEFAULT_GRACE_S)
        if probe:
            own = (part.spec.get(probe) or {}).get("terminationGracePeriodSeconds")
            grace = grace if own is None else own
    return max(SHORTEST_S, float(grace))


async def stop_container(
    node: Node,
    pod: Object,
    part: Part,
    record: ContainerRecord,
    message: str = "",
    grace_s: float | None = None,
) -> None:
    """End one container; ``message`` is the event's, unless it is the usual one."""
    node.tell(pod, part, "Normal", "Killing", message or f"Stopping container {part.name}")
    left_s = grace_of(pod, part) if grace_s is None else grace_s
    node.log.container_killed(pod, part.name, record.full_id, left_s)
    begun_at = node.machine.kernel.now
    hook = (part.spec.get("lifecycle") or {}).get("preStop")
    if hook and left_s > 0:
        await _before_stop(node, pod, part, record, hook, left_s)
        left_s -= node.machine.kernel.now - begun_at
    await node.runtime.stop(record, max(2.0, left_s))


async def _before_stop(
    node: Node, pod: Object, part: Part, record: ContainerRecord, hook: Object, limit_s: float
) -> None:
    live = node.runtime.pods.get(pod["metadata"]["uid"])
    if live is None or live.sandbox is None:
        return
    try:
        with node.machine.kernel.timeout(limit_s):
            await run_hook(hook, part.spec, record, live.sandbox.namespace)
    except TimedOut:
        return
    except HookFailed:
        node.tell(pod, part, "Warning", "FailedPreStopHook", "PreStopHook failed")


async def stop_pod(node: Node, pod: Object, grace_s: float | None = None) -> None:
    """End all containers of a pod: the main ones together, then the sidecars from the last to the first."""
    live = node.runtime.pods.get(pod["metadata"]["uid"])
    if live is None:
        return
    running = [(find_part(pod, each.name), each) for each in live.containers if each.running]
    order = [part.name for part in init_parts(pod) if part.sidecar]
    first = [(part, each) for part, each in running if part is not None and part.name not in order]
    kernel = node.machine.kernel
    begun_at = kernel.now
    works = [stop_container(node, pod, part, each, grace_s=grace_s) for part, each in first]
    await gather(kernel, works, "stopping")
    for name in reversed(order):
        for part, each in running:
            if part is not None and part.name == name:
                whole = grace_of(pod, part) if grace_s is None else grace_s
                left_s = max(0.0, whole - (kernel.now - begun_at))
                await stop_container(node, pod, part, each, grace_s=left_s)
