"""Starts a container: image, configuration, creation, start, postStart hook.

A failed step gives the container a waiting reason, which its status shows until the next attempt.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

import msgspec

from simcloud.kubernetes.api import quantity
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.images import Published
from simcloud.kubernetes.kubelet.containerd import ContainerPlan, RuntimeFailed
from simcloud.kubernetes.kubelet.image_store import ImageError
from simcloud.kubernetes.kubelet.node import Node
from simcloud.kubernetes.kubelet.pods.cgroups import adjust_oom_score, name_cgroup
from simcloud.kubernetes.kubelet.pods.container_stop import stop_container
from simcloud.kubernetes.kubelet.pods.dns import hostname_of, hosts_file
from simcloud.kubernetes.kubelet.pods.environment import DEFAULT_PATH, ConfigError, expand
from simcloud.kubernetes.kubelet.pods.hooks import HookFailed, run_hook
from simcloud.kubernetes.kubelet.pods.parts import Part, core_limit, limits_of
from simcloud.kubernetes.kubelet.pods.security import capabilities_of, identity_of
from simcloud.kubernetes.kubelet.records import ContainerRecord, PodState, Sandbox
from simcloud.machine.files import Disk, FileError, Files, Volume
from simcloud.sim import Event

TERMINATION_LOG: Final = "/dev/termination-log"


class StartFailed(Exception):
    """A container was not started: the reason of its waiting, and the message."""

    def __init__(self, reason: str, message: str, until_s: float | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.until_s = until_s
        """When the next attempt makes sense, in virtual time, if that is known."""


async def start_container(
    node: Node,
    pod: Object,
    part: Part,
    state: PodState,
    sandbox: Sandbox,
    status: Object,
    interrupt: Event[None],
) -> None:
    """Start a container. ``StartFailed`` says why it did not."""

    def tell(kind: str, reason: str, message: str) -> None:
        node.tell(pod, part, kind, reason, message)

    try:
        asked_at = node.machine.kernel.now
        image = await node.images.ensure(pod, part.spec, tell, interrupt)
        if node.machine.kernel.now > asked_at:
            node.log.image_pulled(pod, node.machine.kernel.now - asked_at)
    except ImageError as error:
        tell("Warning", "Failed", f"Error: {error.reason}")
        raise StartFailed(error.reason, str(error)) from None
    try:
        plan = _plan(node, pod, part, state, image, status)
    except ConfigError as error:
        tell("Warning", "Failed", f"Error: {error}")
        raise StartFailed("CreateContainerConfigError", str(error)) from None
    uid = pod["metadata"]["uid"]
    try:
        record = await node.runtime.create(pod, sandbox, plan)
        try:
            _furnish(node, pod, part, record, plan, sandbox)
        except (ConfigError, FileError):
            node.runtime.remove(uid, record.id)
            raise
    except (RuntimeFailed, ConfigError, FileError) as error:
        tell("Warning", "Failed", f"Error: {error}")
        raise StartFailed("CreateContainerError", str(error)) from None
    tell("Normal", "Created", "Container created")
    try:
        await node.runtime.start(uid, record, plan)
    except RuntimeFailed as error:
        tell("Warning", "Failed", f"Error: {error}")
        raise StartFailed("RunContainerError", str(error)) from None
    tell("Normal", "Started", "Container started")
    await _after_start(node, pod, part, record, sandbox)


async def _after_start(
    node: Node, pod: Object, part: Part, record: ContainerRecord, sandbox: Sandbox
) -> None:
    hook = (part.spec.get("lifecycle") or {}).get("postStart")
    if not hook:
        return
    try:
        await run_hook(hook, part.spec, record, sandbox.namespace)
    except HookFailed:
        node.tell(pod, part, "Warning", "FailedPostStartHook", "PostStartHook failed")
        await stop_container(node, pod, part, record, "FailedPostStartHook")
        raise StartFailed("PostStartHookError", "PostStartHook failed") from None


def spec_hash(spec: Object) -> str:
    """What of a container's spec cannot change without a new container."""
    return sha256(msgspec.json.encode((spec["name"], spec.get("image")))).hexdigest()[:16]


def _plan(
    node: Node, pod: Object, part: Part, state: PodState, image: Published, status: Object
) -> ContainerPlan:
    spec = part.spec
    who = identity_of(pod, spec, image)
    own = node.environments.make(pod, spec, status, node.allocatable())
    env = {"PATH": DEFAULT_PATH, "HOSTNAME": hostname_of(pod), **image.image.env, **own}
    env.setdefault("HOME", "/root" if who.uid == 0 else "/")
    command = [expand(each, env) for each in spec.get("command") or ()]
    args = [expand(each, env) for each in spec.get("args") or ()]
    if not command:
        command, args = list(image.command), args or list(image.args)
    limits = limits_of(spec)
    target = state.newest(spec.get("targetContainerName", ""))
    return ContainerPlan(
        name=part.name,
        attempt=_attempt(part, state, status),
        image=image,
        argv=command + args,
        env=env,
        hostname=node.name if pod["spec"].get("hostNetwork") else hostname_of(pod),
        workdir=spec.get("workingDir") or image.workdir,
        uid=who.uid,
        gid=who.gid,
        groups=who.groups,
        spec_hash=spec_hash(spec),
        resources={
            kind: dict(amounts)
            for kind, amounts in (spec.get("resources") or {}).items()
            if kind in ("limits", "requests") and amounts
        },
        cpu_limit=core_limit(limits),
        memory_limit_bytes=quantity.whole(limits["memory"]) if "memory" in limits else None,
        capabilities=capabilities_of(spec),
        host_pids=bool(pod["spec"].get("hostPID")),
        process_target=target.container if target is not None else None,
        cgroup_parent=name_cgroup(pod),
        oom_score_adj=adjust_oom_score(pod, spec, node.machine.memory_bytes),
        stdin=bool(spec.get("stdin")),
        stdin_once=bool(spec.get("stdinOnce")),
        tty=bool(spec.get("tty")),
    )


def _attempt(part: Part, state: PodState, status: Object) -> int:
    newest = state.newest(part.name)
    if newest is not None:
        return newest.attempt + 1
    for field in ("containerStatuses", "initContainerStatuses"):
        for each in status.get(field) or ():
            if each["name"] == part.name and each.get("lastState"):
                return (
                    int(each["restartCount"]) + 1
                )  # the runtime lost what it had: the machine was restarted
    return 0


def _furnish(
    node: Node, pod: Object, part: Part, record: ContainerRecord, plan: ContainerPlan, sandbox: Sandbox
) -> None:
    """Put into a new container what the kubelet brings: volumes, hosts, resolver, a place for last words."""
    container = record.container
    if container is None:
        return
    files = container.files
    files.put("/etc/hosts", hosts_file(pod, sandbox.namespace.address, node.dns.domain).encode())
    if sandbox.dns is not None:
        files.put("/etc/resolv.conf", sandbox.dns.resolv_conf().encode())
    node.volumes.show(pod, part.spec, container, plan.env)
    path = part.spec.get("terminationMessagePath") or TERMINATION_LOG
    read_only = bool((part.spec.get("securityContext") or {}).get("readOnlyRootFilesystem"))
    try:
        _place_for_last_words(files, path, read_only)
    except FileError as error:
        raise ConfigError(f"failed to mount {path}: {error.strerror.lower()}") from None
    files.sync()
    if read_only:
        files.mounts()[0].read_only = True


def _place_for_last_words(files: Files, path: str, read_only: bool) -> None:
    parent = path.rpartition("/")[0]
    if parent:
        files.mkdir(parent, 0o755, parents=True)
    files.put(path, b"", 0o666)
    if read_only and not path.startswith("/dev/"):
        volume = Volume(Disk("termination-log", 1 << 20), files.mounts()[0].volume.clock, "termination-log")
        Files(volume, umask=0).put("/log", b"", 0o666)
        files.mount(path, volume, subpath="log")
