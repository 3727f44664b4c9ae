"""The container runtime of a node: creates, stops and removes sandboxes and containers on its machine.

It survives the kubelet's process, as containerd does, and loses everything with the machine. It reports changes of a
pod by ``on_change``; the end of a process is reported a moment late, as by containerd's shim. Errors have the
messages of containerd and runc.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.images import Published
from simcloud.kubernetes.images.standard import pause
from simcloud.kubernetes.kubelet.cpu_cost import work
from simcloud.kubernetes.kubelet.logs.files import FollowedLog
from simcloud.kubernetes.kubelet.records import ContainerRecord, PodRecord, PodState, Sandbox, State, state_of
from simcloud.kubernetes.kubelet.streams.console import Console
from simcloud.kubernetes.network.pod_network import PodNetwork
from simcloud.machine import Machine
from simcloud.machine.files import FileError
from simcloud.machine.process import (
    CommandNotFound,
    ForkFailed,
    NotExecutable,
    Signal,
    capabilities as process_capabilities,
)
from simcloud.sim import TimedOut

SANDBOX_S: Final = 0.05
SANDBOX_CPU_S: Final = 0.22
CREATE_CPU_S: Final = 0.02
START_CPU_S: Final = 0.083
EXIT_NOTICE_S: Final = 0.5
"""From a process's end to the runtime's knowing it."""

PAUSE_BYTES: Final = 256 * 1024
STOPPED_SANDBOX_S: Final = 0.05
SMALLEST_POD_BYTES: Final = 4 * 1024 * 1024
"""With less memory than this not even the pause process starts."""

TASK_FAILED: Final = (
    "failed to create containerd task: failed to create shim task: OCI runtime create failed: "
    "runc create failed: unable to start container process: "
)

_PROC: Final = "mount src=proc, dst=/proc, dstFd=/proc/thread-self/fd/8, flags=MS_NOSUID|MS_NODEV|MS_NOEXEC"


class RuntimeFailed(Exception):
    """The runtime cannot do it; the text says why."""


@dataclass(slots=True)
class ContainerPlan:
    """All that is needed to make a container."""

    name: str
    attempt: int
    image: Published
    argv: list[str]
    env: dict[str, str]
    hostname: str
    workdir: str
    uid: int
    gid: int
    groups: tuple[int, ...]
    spec_hash: str
    resources: Object
    cpu_limit: float | None = None
    memory_limit_bytes: int | None = None
    capabilities: tuple[str, ...] = process_capabilities.DEFAULT
    host_pids: bool = False
    stdin: bool = False
    stdin_once: bool = False


@dataclass(slots=True)
class ContainerRuntime:
    """containerd on one machine."""

    machine: Machine
    network: PodNetwork
    on_change: Callable[[str], None] = lambda uid: None
    pods: dict[str, PodRecord] = field(default_factory=dict)

    def state(self, uid: str) -> PodState:
        """What there is of a pod now."""
        return state_of(self.pods.get(uid))

    def record(self, uid: str) -> PodRecord:
        """The live records of a pod, made when there are none."""
        found = self.pods.get(uid)
        if found is None:
            found = self.pods[uid] = PodRecord(uid)
        return found

    def find(self, uid: str, container_id: str) -> ContainerRecord | None:
        """A container by its id."""
        pod = self.pods.get(uid)
        return next((each for each in pod.containers if each.id == container_id), None) if pod else None

    def new_id(self) -> str:
        """64 hex digits that nothing on this machine has."""
        return f"{self.machine.kernel.random(f'{self.machine.name}/containerd').getrandbits(256):064x}"

    # -- sandboxes -----------------------------------------------------------------------------

    async def run_sandbox(self, pod: Object, memory_limit_bytes: int | None) -> Sandbox:
        """A network namespace and a process that holds it. ``RuntimeFailed``, or the network's own error."""
        metadata = pod["metadata"]
        record = self.record(metadata["uid"])
        attempt = record.sandbox.attempt + 1 if record.sandbox is not None else 0
        await self.machine.kernel.sleep(SANDBOX_S)
        await work(self.machine, SANDBOX_CPU_S)
        sandbox_id = self.new_id()
        if memory_limit_bytes is not None and memory_limit_bytes < SMALLEST_POD_BYTES:
            killed = f"{TASK_FAILED}container init was OOM-killed (memory limit too low?)"
            raise RuntimeFailed(
                f'rpc error: code = Unknown desc = failed to start sandbox "{sandbox_id}": {killed}'
            )
        namespace = self.network.attach(pod, self.machine)
        holder = self.machine.host.start(["/pause"], program=pause, uid=65535, gid=65535)
        holder.memory.use(PAUSE_BYTES)
        digits = sandbox_id[:32]
        netns = (
            f"/var/run/netns/cni-{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
        )
        sandbox = Sandbox(sandbox_id, attempt, namespace, netns, holder)
        record.sandbox = sandbox
        self.on_change(record.uid)
        return sandbox

    async def stop_sandbox(self, uid: str) -> None:
        """End a pod's namespace; the record of it stays."""
        record = self.pods.get(uid)
        if record is None or record.sandbox is None or not record.sandbox.ready:
            return
        sandbox = record.sandbox
        sandbox.ready = False
        self.network.release(uid)
        sandbox.holder.send(Signal.KILL, outside=True)
        await self.machine.kernel.sleep(STOPPED_SANDBOX_S)
        self.on_change(uid)

    def forget(self, uid: str) -> None:
        """Remove all there is of a pod."""
        record = self.pods.pop(uid, None)
        if record is None:
            return
        for each in record.containers:
            self._remove(each)
        sandbox = record.sandbox
        if sandbox is not None and sandbox.ready:
            self.network.release(uid)
            sandbox.holder.send(Signal.KILL, outside=True)

    def power_lost(self) -> None:
        """The machine was off: whatever ran has ended, nobody knows how, and every namespace is gone."""
        for uid, pod in self.pods.items():
            self.network.release(uid)
            if pod.sandbox is not None:
                pod.sandbox.ready = False
            for each in pod.containers:
                if each.running:
                    each.state, each.finished_s = State.EXITED, self.machine.clock()
                    each.exit_code, each.reason = 255, "Unknown"

    # -- containers ----------------------------------------------------------------------------

    async def create(self, pod: Object, sandbox: Sandbox, plan: ContainerPlan) -> ContainerRecord:
        """Unpack an image for a container; its volumes are mounted by whoever asked."""
        await work(self.machine, CREATE_CPU_S)
        if not plan.argv:
            raise RuntimeFailed(
                f'failed to generate container "{self.new_id()}" spec: '
                "failed to generate spec: no command specified"
            )
        container_id = self.new_id()
        metadata = pod["metadata"]
        name = f"{metadata['name']}_{metadata['namespace']}_{plan.name}-{container_id}"
        try:
            container = self.machine.create_container(
                name,
                plan.image.image,
                namespace=sandbox.namespace,
                hostname=plan.hostname,
                cpu_limit=plan.cpu_limit,
                memory_limit_bytes=plan.memory_limit_bytes,
            )
        except FileError as error:
            raise RuntimeFailed(
                "failed to create containerd container: failed to create prepare snapshot dir: "
                f"failed to create temp dir: {error.strerror.lower()}"
            ) from None
        container.env = plan.env
        container.capabilities, container.host_pids = plan.capabilities, plan.host_pids
        container.oom_group = self.machine.cgroup_version == 2
        container.labels = (
            ("container", plan.name),
            ("namespace", metadata["namespace"]),
            ("node", self.machine.name),
            ("pod", metadata["name"]),
        )
        container.log = FollowedLog(self.machine, pod, plan.name, plan.attempt, container_id)
        record = ContainerRecord(
            id=container_id,
            name=plan.name,
            attempt=plan.attempt,
            image=plan.image,
            spec_hash=plan.spec_hash,
            created_s=self.machine.clock(),
            uid=plan.uid,
            gid=plan.gid,
            groups=plan.groups,
            resources=plan.resources,
            container=container,
            console=Console(container, stdin=plan.stdin, stdin_once=plan.stdin_once),
        )
        self.record(metadata["uid"]).containers.insert(0, record)
        return record

    async def start(self, uid: str, record: ContainerRecord, plan: ContainerPlan) -> None:
        """Run a created container's process. ``RuntimeFailed`` when it cannot be started."""
        await work(self.machine, START_CPU_S)
        container, console = record.container, record.console
        if container is None or console is None:
            raise RuntimeFailed(f'container "{record.id}" is gone')
        try:
            self.machine.need_mount()
            container.files.mkdir(plan.workdir, 0o755, parents=True)
            process = container.start(
                plan.argv, cwd=plan.workdir, uid=plan.uid, gid=plan.gid, streams=console.streams
            )
        except (CommandNotFound, NotExecutable, ForkFailed, FileError) as error:
            self._not_started(uid, record, TASK_FAILED + _why_not(plan.argv[0], error))
        if isinstance(container.log, FollowedLog):
            container.log.begin()
        console.follow(process)
        record.process = process
        record.state = State.RUNNING
        record.started_s = self.machine.clock()
        self.machine.kernel.spawn(self._watch(uid, record), f"shim of {container.name}")
        self.on_change(uid)

    def _not_started(self, uid: str, record: ContainerRecord, why: str) -> None:
        record.state = State.EXITED
        record.finished_s = self.machine.clock()
        record.exit_code = 128
        record.reason, record.message = "StartError", why
        self.on_change(uid)
        raise RuntimeFailed(why)

    async def _watch(self, uid: str, record: ContainerRecord) -> None:
        """A shim: wait for the end of the process, and tell how it was."""
        process, container = record.process, record.container
        if process is None or container is None:
            return
        await process.wait()
        finished_s = self.machine.clock()
        oom = container.oom_kills > 0 and process.ended_by is Signal.KILL
        await self.machine.kernel.sleep(EXIT_NOTICE_S)
        if not self.machine.running or record.exited:
            return
        record.exit_code = process.status
        record.finished_s = finished_s
        record.reason = "OOMKilled" if oom else "Error" if process.status else "Completed"
        record.state = State.EXITED
        self.on_change(uid)

    async def stop(self, record: ContainerRecord, grace_s: float) -> None:
        """Ask the process to end, and kill it when it has not after the grace."""
        process = record.process
        if process is None:
            return
        if grace_s > 0 and process.alive:
            process.send(Signal.TERM, outside=True)
            try:
                await process.ended.wait(grace_s)
            except TimedOut:
                pass
        if process.alive and record.container is not None:
            record.container.kill_all(Signal.KILL)
        await self._wait_for_exit(record)

    async def _wait_for_exit(self, record: ContainerRecord) -> None:
        """Wait until the shim has reported the end."""
        while record.state is State.RUNNING and self.machine.running:
            await self.machine.kernel.sleep(EXIT_NOTICE_S / 2)

    def remove(self, uid: str, container_id: str) -> None:
        """Forget a container that has ended, with its files and its log."""
        pod = self.pods.get(uid)
        record = self.find(uid, container_id)
        if pod is not None and record is not None:
            pod.containers.remove(record)
            self._remove(record)

    def _remove(self, record: ContainerRecord) -> None:
        container = record.container
        if container is not None:
            if container.name in self.machine.containers:
                self.machine.remove_container(container.name)
            else:  # of before a reboot
                container.files.mounts()[0].volume.discard()
            if isinstance(container.log, FollowedLog):
                container.log.delete()
            record.container = None


def _why_not(name: str, error: Exception) -> str:
    """runc's words for a program that cannot be run."""
    if isinstance(error, CommandNotFound):
        if "/" in name:
            return f'error during container init: exec: "{name}": stat {name}: no such file or directory'
        return f'error during container init: exec: "{name}": executable file not found in $PATH'
    if isinstance(error, NotExecutable):
        reason = str(error)
        words = "permission denied" if reason == "Is a directory" else reason[:1].lower() + reason[1:]
        return f'error during container init: exec: "{name}": {words}'
    if isinstance(error, FileError) and error.code == "ENOMEM":
        return f'error during container init: error mounting "proc" to rootfs at "/proc": {_PROC}: {error.strerror.lower()}'
    if isinstance(error, FileError):
        return f"error during container init: mkdir {error.path}: {error.strerror.lower()}"
    return "error during container init: fork/exec: resource temporarily unavailable"
