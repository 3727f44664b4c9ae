"""Attaches to a pod of ``kubectl run``: waits for it, attaches or reads its log, and removes it on request."""

from __future__ import annotations

from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.input.files import Failures, fail
from simcloud.kubectl.object_creation import build_object, write_options
from simcloud.kubectl.pods.streams import read_log
from simcloud.kubectl.selection import Info, info_of
from simcloud.kubectl.session import Kubectl
from simcloud.kubectl.verbs.attach import attach_to
from simcloud.kubectl.verbs.delete import delete_all, manner_of
from simcloud.kubectl.wait_loop import NotInTime, until
from simcloud.kubernetes.api import LogOptions, Object, at

ENDED = ("Succeeded", "Failed")


async def run_attached(kubectl: Kubectl, obj: Object) -> int:
    """Create a pod, stay attached until it ends, and return its exit code."""
    connection = await kubectl.connect()
    resource = connection.resource("pods")
    stored = await connection.create(
        resource, kubectl.namespace, build_object(kubectl, resource, obj), write_options(kubectl)
    )
    info = info_of(resource, stored)
    try:
        return await _stay(kubectl, info)
    finally:
        if kubectl.flags["rm"]:
            failures: Failures = []
            await delete_all(kubectl, [info], await manner_of(kubectl), failures)
            fail(kubectl, failures)


async def _stay(kubectl: Kubectl, info: Info) -> int:
    try:
        pod = await until(kubectl, info, _running_or_ended, kubectl.flags["pod-running-timeout"])
    except NotInTime:
        raise KubectlError("timed out waiting for the condition") from None
    if pod is None:
        raise KubectlError(f'pods "{info.name}" not found')
    if at(pod, "status", "phase") in ENDED:
        await _print_log(kubectl, info)
    else:
        await _attach(kubectl, info, pod)
    if kubectl.flags["restart"] == "Always" or kubectl.flags["leave-stdin-open"]:
        return 0
    return await _exit_code(kubectl, info)


def _running_or_ended(pod: Object | None) -> bool:
    if pod is None:
        return True
    phase = at(pod, "status", "phase")
    return phase in ENDED or (phase == "Running" and _is_ready(pod))


def _is_ready(pod: Object) -> bool:
    conditions = at(pod, "status", "conditions") or ()
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


async def _attach(kubectl: Kubectl, info: Info, pod: Object) -> None:
    """Join the pod's process; if it is over already, its log tells what it said."""
    try:
        await attach_to(kubectl, pod, at(pod, "spec", "containers", 0, "name"))
    except KubectlError as error:
        await kubectl.err(
            f"warning: couldn't attach to pod/{info.name}, falling back to streaming logs: {error.message}\n"
        )
        for _ in ("by the attempt that failed", "instead of it"):  # the genuine one prints it twice
            await _print_log(kubectl, info)


async def _print_log(kubectl: Kubectl, info: Info) -> None:
    connection = await kubectl.connect()
    async for line in read_log(kubectl.ctx, connection, info.namespace, info.name, LogOptions()):
        await kubectl.ctx.stdout.write(line)


async def _exit_code(kubectl: Kubectl, info: Info) -> int:
    pod = await until(kubectl, info, _over, kubectl.flags["pod-running-timeout"])
    phase = at(pod, "status", "phase") if pod is not None else ""
    if phase == "Succeeded":
        return 0
    if phase == "Failed":
        ended = at(pod, "status", "containerStatuses", 0, "state", "terminated") or {}
        code = int(ended.get("exitCode", 0))
        where = f"{info.namespace}/{info.name}"
        if code == 0:
            raise KubectlError(f"pod {where} failed with unknown exit code")
        await kubectl.err(f"pod {where} terminated ({ended.get('reason', '')})\n{ended.get('message', '')}")
        return code
    raise KubectlError("pod was deleted before it ended")


def _over(pod: Object | None) -> bool:
    return pod is None or at(pod, "status", "phase") in ENDED
