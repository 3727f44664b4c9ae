"""The container runtime of a node: creates, stops and removes sandboxes and containers on its machine.

It survives the kubelet's process, as containerd does, and loses everything with the machine. It reports changes of a
pod by ``on_change``; the end of a process is reported a moment late, as by containerd's shim. Errors have the
messages of containerd and runc.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from hashlib import sha256
from typing import Final
from uuid import UUID

from msgspec import Struct

from simcloud.golang import quote
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.times import rfc3339
from simcloud.kubernetes.images import Published
from simcloud.kubernetes.images.standard import pause
from simcloud.kubernetes.kubelet.cpu_cost import work
from simcloud.kubernetes.kubelet.logs.files import FollowedLog
from simcloud.kubernetes.kubelet.records import ContainerRecord, PodRecord, PodState, Sandbox, State, state_of
from simcloud.kubernetes.kubelet.services import CONTAINERD, CONTAINERD_FILE, SOCKET
from simcloud.kubernetes.kubelet.streams.console import Console
from simcloud.kubernetes.network.pod_network import NetworkNotReady, PodNetwork
from simcloud.machine import LOCAL, Machine, Unit
from simcloud.machine.files import FileError
from simcloud.machine.network import pair_name
from simcloud.machine.process import (
    CommandNotFound,
    Container,
    Context,
    ForkFailed,
    NotExecutable,
    Signal,
    capabilities as process_capabilities,
)
from simcloud.sim import TimedOut

SANDBOX_S: Final = 0.05
NETWORK_S: Final = 6.0
"""So long after its start a node has its network, if that is set up by a pod."""
SANDBOX_CPU_S: Final = 0.22
CREATE_CPU_S: Final = 0.02
START_CPU_S: Final = 0.083
EXIT_NOTICE_S: Final = 0.5
"""From a process's end to the runtime's knowing it."""

SNAPSHOTS: Final = "/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots"
PAUSE_BYTES: Final = 256 * 1024
RESIDENT_BYTES: Final = 52 * 1024**2
SHIM_BYTES: Final = 9 * 1024**2
THREADS: Final = 14
SHIM_THREADS: Final = 11
RESTART_S: Final = 1.0
SETUP_PIDS: Final = 17
"""Process numbers that runc and network plug-ins use at least; up to twice as many."""
FORKS_PER_S: Final = 0.13
"""Short-lived processes of probes and containers on the quietest node; others have up to twice as many."""
VERSION: Final = "2.1.9"
COMMIT: Final = "926009266892d80087b532f7f17ea14b43c4f23d"
GO_VERSION: Final = "go1.24.11"
DOWN: Final = (
    'rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: '
    f'dial unix {SOCKET}: connect: connection refused"'
)
STOPPED_SANDBOX_S: Final = 0.05
HUNG_S: Final = 1.0
"""How often callers of a containerd that does not answer look again."""
NETWORK_CONFIGS: Final = "/etc/cni/net.d"
CONFIG_ENDINGS: Final = (".conf", ".conflist", ".json")
SMALLEST_POD_BYTES: Final = 4 * 1024 * 1024
"""With less memory than this not even the pause process starts."""

TASK_FAILED: Final = (
    "failed to create containerd task: failed to create shim task: OCI runtime create failed: "
    "runc create failed: unable to start container process: "
)

_PROC: Final = "mount src=proc, dst=/proc, dstFd=/proc/thread-self/fd/8, flags=MS_NOSUID|MS_NODEV|MS_NOEXEC"


class RuntimeFailed(Exception):
    """The runtime cannot do it; the text says why."""


class ContainerPlan(Struct):
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
    process_target: Container | None = None
    """The container whose PID namespace it shares."""
    cgroup_parent: str = ""
    oom_score_adj: int = 0
    stdin: bool = False
    stdin_once: bool = False
    tty: bool = False


class ContainerRuntime:
    """containerd on one machine."""

    def __init__(self, machine: Machine, network: PodNetwork) -> None:
        self.machine = machine
        self.network = network
        self.on_change: Callable[[str], None] = lambda uid: None
        self.pods: dict[str, PodRecord] = {}
        self._created_at = machine.kernel.now
        self._has_plugin = False
        self.operations: dict[str, int] = {}
        self.failures: dict[str, int] = {}
        """How often the kubelet has asked for each operation, and how often it failed."""
        self.unit = Unit(
            self.machine,
            CONTAINERD,
            "containerd container runtime",
            partial(self.machine.host.start, ["/usr/local/bin/containerd"], program=self._main),
            documentation="https://containerd.io",
            restart_s=RESTART_S,
            text=CONTAINERD_FILE,
            folder=LOCAL,
        )
        self.unit.start()

    async def _main(self, ctx: Context) -> int:
        """containerd's own process. Its containers do not need it to go on, only to be changed."""
        ctx.memory.use(RESIDENT_BYTES)
        ctx.process.threads = THREADS
        machine = self.machine
        machine.pids.forks_per_s = FORKS_PER_S * (1 + int(machine.machine_id[2:4], 16) / 256)
        ctx.signals.on(Signal.TERM, lambda _: ctx.process.exit(0))
        self.log("starting containerd", version=f"v{VERSION}")
        self.log("serving...", address=SOCKET)
        self.log("containerd successfully booted in 0.043127s")
        while True:
            await ctx.sleep(1e9)

    def log(self, message: str, level: str = "info", **fields: str) -> None:
        """Write a line to the journal in the format of containerd."""
        whole_ms = int(self.machine.clock() * 1000)
        digits = self.machine.kernel.random(f"{self.machine.name}/containerd log").randrange(10**6)
        time = f"{rfc3339(whole_ms // 1000)[:-1]}.{whole_ms % 1000:03d}{digits:06d}Z"
        text = quote(message) if " " in message else message
        pairs = "".join(f" {key}={value}" for key, value in fields.items())
        self.unit.log(f'time="{time}" level={level} msg={text}{pairs}', whole_ms / 1000 + digits / 1e9)

    @property
    def is_hung(self) -> bool:
        """Whether containerd's process exists but is stopped, so that callers get no answer."""
        return self.unit.running and self.unit.process is not None and self.unit.process.stopped

    async def _wait_for_answer(self) -> None:
        """Wait while containerd is hung; ``RuntimeFailed`` if it does not run."""
        while self.is_hung:
            await self.machine.kernel.sleep(HUNG_S)
        if not self.unit.running:
            raise RuntimeFailed(DOWN)

    def find_network_trouble(self) -> str:
        """Return why the network plugin is not ready, or an empty text: its configuration is missing."""
        files = self.machine.host.files
        if not files.is_dir(NETWORK_CONFIGS):
            return ""  # a machine whose network is not set up by files
        names = files.listdir(NETWORK_CONFIGS)
        return "" if any(name.endswith(CONFIG_ENDINGS) for name in names) else str(NetworkNotReady())

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

    def _count(self, operation: str) -> None:
        self.operations[operation] = self.operations.get(operation, 0) + 1

    def _fail(self, operation: str, why: str) -> RuntimeFailed:
        self.failures[operation] = self.failures.get(operation, 0) + 1
        return RuntimeFailed(why)

    def new_id(self) -> str:
        """64 hex digits that nothing on this machine has."""
        return f"{self.machine.kernel.random(f'{self.machine.name}/containerd').getrandbits(256):064x}"

    # -- sandboxes -----------------------------------------------------------------------------

    async def run_sandbox(self, pod: Object, memory_limit_bytes: int | None) -> Sandbox:
        """A network namespace and a process that holds it. ``RuntimeFailed``, or the network's own error."""
        self._count("run_podsandbox")
        metadata = pod["metadata"]
        record = self.record(metadata["uid"])
        record.name, record.namespace = metadata["name"], metadata["namespace"]
        attempt = record.sandbox.attempt + 1 if record.sandbox is not None else 0
        await self._wait_for_answer()
        about = (
            f"RunPodSandbox for &PodSandboxMetadata{{Name:{metadata['name']},Uid:{metadata['uid']},"
            f"Namespace:{metadata['namespace']},Attempt:{attempt},}}"
        )
        self.log(about)
        sets_up_network = pod["spec"].get("hostNetwork") and metadata["namespace"] == "kube-system"
        self._has_plugin |= bool(sets_up_network)
        await self.machine.kernel.sleep(SANDBOX_S)
        await work(self.machine, SANDBOX_CPU_S, CONTAINERD)
        if not pod["spec"].get("hostNetwork"):
            await self._wait_for_network()
            if self.find_network_trouble():
                raise NetworkNotReady
        sandbox_id = self.new_id()
        if memory_limit_bytes is not None and memory_limit_bytes < SMALLEST_POD_BYTES:
            killed = f"{TASK_FAILED}container init was OOM-killed (memory limit too low?)"
            failure = f'failed to start sandbox "{sandbox_id}": {killed}'
            self.log(f"{about} failed, error", "error", error=quote(failure))
            raise self._fail("run_podsandbox", f"rpc error: code = Unknown desc = {failure}")
        try:
            self._create_snapshot()
        except RuntimeFailed as error:
            failure = f'failed to start sandbox "{sandbox_id}": {error}'
            self.log(f"{about} failed, error", "error", error=quote(failure))
            raise self._fail("run_podsandbox", f"rpc error: code = Unknown desc = {failure}") from None
        namespace = self.network.attach(pod, self.machine)
        host = self.machine.host
        command = (
            f"/usr/local/bin/containerd-shim-runc-v2 -namespace k8s.io -id {sandbox_id} -address {SOCKET}"
        )
        shim = host.start(command.split(), program=pause)
        shim.threads = SHIM_THREADS
        shim.session = self.unit.process or shim
        shim.memory.use(SHIM_BYTES + int(sandbox_id[:3], 16) * 1024)
        self.unit.helpers[shim] = None
        host.use_pids(SETUP_PIDS + int(sandbox_id[3:5], 16) % SETUP_PIDS)
        holder = host.start(["/pause"], program=pause, uid=65535, gid=65535, parent=shim)
        holder.memory.use(PAUSE_BYTES)
        holder.held_network = namespace
        if namespace is not host.namespace:
            self.machine.kernel_log.report_link(pair_name(namespace))
        # The network plug-in draws a name of its own.
        netns = f"/var/run/netns/cni-{UUID(sha256(sandbox_id.encode()).hexdigest()[:32])}"
        if namespace is not self.machine.host.namespace:
            namespace.netns = netns.rpartition("/")[2]
        sandbox = Sandbox(sandbox_id, attempt, namespace, netns, holder, shim)
        record.sandbox = sandbox
        self.log(f'{about} returns sandbox id "{sandbox_id}"')
        self.on_change(record.uid)
        return sandbox

    async def _wait_for_network(self) -> None:
        """On a new node, let the pods on its own network start first: one of them is the network's plug-in."""
        wait_s = self._created_at + NETWORK_S - self.machine.kernel.now
        if self._has_plugin and wait_s > 0:
            await self.machine.kernel.sleep(wait_s)

    def _create_snapshot(self) -> None:
        """Make room for the root of a sandbox on the disk; ``RuntimeFailed`` if the disk refuses."""
        disk = self.machine.disk
        try:
            disk.check_write(f"{SNAPSHOTS}/new")
            if not disk.free_bytes:
                raise FileError("ENOSPC", SNAPSHOTS)
        except FileError as error:
            raise RuntimeFailed(self._describe_snapshot_failure(error)) from None

    def _describe_snapshot_failure(self, error: FileError) -> str:
        number = self.machine.kernel.random(f"{self.machine.name}/snapshots").randrange(10**8, 4 * 10**9)
        return (
            "failed to create containerd container: failed to create prepare snapshot dir: failed to create temp dir: "
            f"mkdir {SNAPSHOTS}/new-{number}: {error.strerror.lower()}"
        )

    async def stop_sandbox(self, uid: str) -> None:
        """End a pod's namespace; the record of it stays."""
        record = self.pods.get(uid)
        if record is None or record.sandbox is None or not record.sandbox.ready:
            return
        self._count("stop_podsandbox")
        sandbox = record.sandbox
        self.log(f'StopPodSandbox for "{sandbox.id}"')
        self._end_sandbox(uid, sandbox)
        self.log(f'TearDown network for sandbox "{sandbox.id}" successfully')
        self.log(f'StopPodSandbox for "{sandbox.id}" returns successfully')
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
        if sandbox is not None:
            self.log(f'RemovePodSandbox "{sandbox.id}" returns successfully')
        if sandbox is not None and sandbox.ready:
            self._end_sandbox(uid, sandbox)

    def _end_sandbox(self, uid: str, sandbox: Sandbox) -> None:
        sandbox.ready = False
        self.network.release(uid)
        self.unit.helpers.pop(sandbox.shim, None)
        for process in (sandbox.holder, sandbox.shim):
            process.send(Signal.KILL, outside=True)

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
        self._count("create_container")
        await self._wait_for_answer()
        await work(self.machine, CREATE_CPU_S, CONTAINERD)
        about = (
            f'CreateContainer within sandbox "{sandbox.id}" for container '
            f"&ContainerMetadata{{Name:{plan.name},Attempt:{plan.attempt},}}"
        )
        self.log(about)
        if not plan.argv:
            why = f'failed to generate container "{self.new_id()}" spec: failed to generate spec: no command specified'
            raise self._fail("create_container", why)
        container_id = self.new_id()
        metadata = pod["metadata"]
        name = f"{metadata['name']}_{metadata['namespace']}_{plan.name}-{container_id}"
        try:
            self.machine.disk.check_write(f"{SNAPSHOTS}/new")
            container = self.machine.create_container(
                name,
                plan.image.image,
                namespace=sandbox.namespace,
                hostname=plan.hostname,
                cpu_limit=plan.cpu_limit,
                memory_limit_bytes=plan.memory_limit_bytes,
            )
        except FileError as error:
            failure = self._describe_snapshot_failure(error)
            self.log(f"{about} failed", "error", error=quote(failure))
            raise self._fail("create_container", failure) from None
        container.env = plan.env
        container.supervisor = sandbox.shim
        container.oom_score_adj = plan.oom_score_adj
        container.cgroup_path = f"{plan.cgroup_parent}/cri-containerd-{container_id}.scope"
        container.capabilities, container.host_pids = plan.capabilities, plan.host_pids
        if plan.process_target is not None:
            container.join_processes(plan.process_target)
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
            console=Console(container, stdin=plan.stdin, stdin_once=plan.stdin_once, tty=plan.tty),
        )
        self.record(metadata["uid"]).containers.insert(0, record)
        self.log(
            f'CreateContainer within sandbox "{sandbox.id}" for &ContainerMetadata{{Name:{plan.name},'
            f'Attempt:{plan.attempt},}} returns container id "{container_id}"'
        )
        return record

    async def start(self, uid: str, record: ContainerRecord, plan: ContainerPlan) -> None:
        """Run a created container's process. ``RuntimeFailed`` when it cannot be started."""
        self._count("start_container")
        await self._wait_for_answer()
        self.log(f'StartContainer for "{record.id}"')
        await work(self.machine, START_CPU_S, CONTAINERD)
        self.machine.host.use_pids(SETUP_PIDS + int(record.id[3:5], 16) % SETUP_PIDS)
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
        self.log(f'StartContainer for "{record.id}" returns successfully')
        self.machine.kernel.spawn(self._watch(uid, record), f"shim of {container.name}")
        self.on_change(uid)

    def _not_started(self, uid: str, record: ContainerRecord, why: str) -> None:
        record.state = State.EXITED
        record.finished_s = self.machine.clock()
        record.exit_code = 128
        record.reason, record.message = "StartError", why
        self.log(f'StartContainer for "{record.id}" failed', "error", error=quote(why))
        self.on_change(uid)
        raise self._fail("start_container", why)

    async def _watch(self, uid: str, record: ContainerRecord) -> None:
        """A shim: wait for the end of the process, and tell how it was."""
        process, container = record.process, record.container
        if process is None or container is None:
            return
        await process.wait()
        finished_s = self.machine.clock()
        oom = container.oom_kills > 0 and process.ended_by is Signal.KILL
        await self.machine.kernel.sleep(EXIT_NOTICE_S)
        while not self.unit.running and self.machine.running:
            await self.machine.kernel.sleep(EXIT_NOTICE_S)  # nobody listens to the shim
        if not self.machine.running or record.exited:
            return
        if oom:
            self.log(f'TaskOOM event container_id:"{record.id}"')
        record.exit_code = process.status
        record.finished_s = finished_s
        record.reason = "OOMKilled" if oom else "Error" if process.status else "Completed"
        record.state = State.EXITED
        self.on_change(uid)

    async def stop(self, record: ContainerRecord, grace_s: float) -> None:
        """Ask the process to end, and kill it when it has not after the grace."""
        self._count("stop_container")
        process = record.process
        if process is None:
            return
        while not self.unit.running or self.is_hung:
            await self.machine.kernel.sleep(HUNG_S)
        self.log(f'StopContainer for "{record.id}" with timeout {grace_s:.0f} (s)')
        if grace_s > 0 and process.alive:
            process.send(Signal.TERM, outside=True)
            try:
                await process.ended.wait(grace_s)
            except TimedOut:
                pass
        if process.alive and record.container is not None:
            self.log(f'Kill container "{record.id}"')
            record.container.kill_all(Signal.KILL)
        await self._wait_for_exit(record)
        self.log(f'StopContainer for "{record.id}" returns successfully')

    async def _wait_for_exit(self, record: ContainerRecord) -> None:
        """Wait until the shim has reported the end."""
        while record.state is State.RUNNING and self.machine.running:
            await self.machine.kernel.sleep(EXIT_NOTICE_S / 2)

    def remove(self, uid: str, container_id: str) -> None:
        """Forget a container that has ended, with its files and its log."""
        pod = self.pods.get(uid)
        record = self.find(uid, container_id)
        if pod is not None and record is not None:
            self.log(f'RemoveContainer for "{record.id}"')
            self._count("remove_container")
            pod.containers.remove(record)
            self._remove(record)
            self.log(f'RemoveContainer for "{record.id}" returns successfully')

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
