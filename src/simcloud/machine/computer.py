"""A machine: cores, memory, a disk, an address, and the containers that run on it.

Hardware faults are changes of its physical properties: the disk fails, a core is slow, the power is lost. No other
code checks for them; it only meets their consequences.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Final

from simcloud.machine.emit import Emitter, NullEmitter
from simcloud.machine.files import Disk, FileError, Files, Volume, device_volume
from simcloud.machine.image import Image
from simcloud.machine.logs import ContainerLog
from simcloud.machine.network import Namespace, Network, Resolver
from simcloud.machine.proc import KERNEL_RELEASE, cgroups, proc_volume
from simcloud.machine.process import Container, Context, Limits, Process, Signal
from simcloud.machine.process.capabilities import ALL
from simcloud.machine.process.container import free_pid
from simcloud.machine.process.cpu import MachineCpu
from simcloud.machine.units import Journal, Unit, start_enabled
from simcloud.sim import Kernel

GIB: Final = 1024**3

EPOCH_S: Final = 1_767_603_600.0
"""The moment virtual time begins: Monday, 5 January 2026, 09:00 UTC."""

VOLUME_FOLDER: Final = "/var/lib/volumes"
KERNEL_LOG_LINES: Final = 2_000
RESERVED_MEMORY_BYTES: Final = 300 * 1024**2
"""What the operating system itself holds."""


class Machine:
    """One simulated computer. ``host`` is the container of its own processes."""

    def __init__(
        self,
        kernel: Kernel,
        network: Network,
        name: str,
        address: str,
        image: Image,
        *,
        cores: int = 4,
        memory_bytes: int = 8 * GIB,
        disk_bytes: int = 40 * GIB,
        kernel_release: str = KERNEL_RELEASE,
        cgroup_version: int = 2,
        machine_id: str = "",
        emitter: Emitter | None = None,
        resolver: Resolver | None = None,
        epoch_s: float = EPOCH_S,
        limits: Limits | None = None,
    ) -> None:
        self.kernel = kernel
        self.network = network
        self.name = name
        self.machine_id = machine_id or sha256(name.encode()).hexdigest()[:32]
        self.kernel_release = kernel_release
        self.cgroup_version = cgroup_version
        self.cpu = MachineCpu(cores)
        self.memory_bytes = memory_bytes
        self.memory_used_bytes = RESERVED_MEMORY_BYTES
        self.disk = Disk(f"{name}/sda", disk_bytes)
        self.disk.on_error = self._disk_error
        self.emitter: Emitter = emitter if emitter is not None else NullEmitter()
        self._resolver = resolver
        self._address = address
        self.clock_skew_s = 0.0
        self.running = True
        self.off_at: float | None = None
        """When an operator has planned to turn it off, in virtual time."""
        self.booted_at = kernel.now
        self.mounts_exhausted = False
        """The kernel finds no more memory for mounts. Those that stand stay; only a boot makes it well."""
        self.failed_mounts = 0
        """How many found none, in all its life."""
        self.kernel_log: list[tuple[float, str]] = []
        self.containers: dict[str, Container] = {}
        self.processes: dict[int, Process] = {}
        self.volumes: dict[str, Volume] = {}
        self.units: dict[str, Unit] = {}
        self.journal = Journal(self.clock)
        self._epoch_s = epoch_s
        self._last_pid = 0
        self.host: Container
        network.add_machine(name)
        self.host = self.create_container(name, image, address=address, limits=limits)
        self.host.capabilities = ALL
        self._start_init()

    def __repr__(self) -> str:
        return f"<Machine {self.name}>"

    def clock(self) -> float:
        """The machine's idea of the time: virtual seconds since 1970, skew included."""
        return self._epoch_s + self.kernel.now + self.clock_skew_s

    def next_pid(self) -> int:
        """A process number that is free on this machine."""
        self._last_pid = free_pid(self._last_pid, self.processes)
        return self._last_pid

    def context_of(self, process: Process, container: Container) -> Context:
        """Make the context that a program running in that process gets."""
        return Context(process, container, self)

    def _start_init(self) -> None:
        self.host.start(["/sbin/init"], program=init)

    # -- containers ----------------------------------------------------------------------------

    def create_container(
        self,
        name: str,
        image: Image,
        *,
        address: str | None = None,
        namespace: Namespace | None = None,
        env: Mapping[str, str] | None = None,
        hostname: str | None = None,
        limits: Limits | None = None,
        cpu_limit: float | None = None,
        memory_limit_bytes: int | None = None,
    ) -> Container:
        """A container from an image, with an address of its own or a namespace shared with others."""
        if name in self.containers:
            raise ValueError(f"machine {self.name} has a container '{name}' already; remove it first")
        if namespace is None:
            if address is None:
                raise ValueError(f"container '{name}' needs an address or a namespace to share")
            namespace = self._namespace(name, address)
        files = Files(image.unpack(self.disk, self.clock, name))
        container = Container(
            self,
            name,
            files,
            namespace,
            image.programs,
            env={**image.env, **(env or {})},
            hostname=hostname,
            limits=limits,
            cpu_limit=cpu_limit,
            memory_limit_bytes=memory_limit_bytes,
        )
        files.mount("/dev", device_volume(self.kernel.random(f"{name}/dev"), self.clock), fstype="devtmpfs")
        files.mount("/proc", proc_volume(container), fstype="proc")
        files.mkdir(cgroups.PATH, 0o755, parents=True)
        cgroup_type = "cgroup" if self.cgroup_version == 1 else "cgroup2"
        files.mount(cgroups.PATH, cgroups.cgroup_volume(container), fstype=cgroup_type)
        files.put("/etc/hostname", f"{container.hostname}\n".encode())
        files.put("/etc/hosts", f"127.0.0.1\tlocalhost\n{namespace.address}\t{container.hostname}\n".encode())
        files.sync()
        container.log = ContainerLog(self, name)
        self.containers[name] = container
        return container

    def remove_container(self, name: str) -> Container:
        """Kill what runs in a container and forget it; its namespace is the caller's to end."""
        container = self.containers.pop(name)
        container.kill_all(Signal.KILL)
        container.files.mounts()[0].volume.discard()
        return container

    def volume(self, name: str) -> Volume:
        """A volume on this machine's disk that outlives containers; the host sees it in its files."""
        volume = self.volumes.get(name)
        if volume is None:
            volume = self.volumes[name] = Volume(self.disk, self.clock, name=name)
            path = f"{VOLUME_FOLDER}/{name}"
            self.host.files.mkdir(path, 0o755, parents=True)
            self.host.files.mount(path, volume, source=f"/dev/sda/{name}")
        return volume

    # -- physics -------------------------------------------------------------------------------

    def kernel_message(self, text: str) -> None:
        """A line of the kernel's own log, as ``dmesg`` shows it."""
        self.kernel_log.append((self.kernel.now - self.booted_at, text))
        del self.kernel_log[:-KERNEL_LOG_LINES]

    def need_mount(self) -> None:
        """Raise ENOMEM if the kernel has no memory to mount anything now, and have it say so."""
        if not self.mounts_exhausted:
            return
        self.failed_mounts += 1
        self.kernel_message("SLUB: Unable to allocate memory on node -1, gfp=0xdc0(GFP_KERNEL|__GFP_ZERO)")
        self.kernel_message(
            "  cache: mnt_cache, object size: 328, buffer size: 384, default order: 1, min order: 0"
        )
        self.kernel_message("  node 0: slabs: 4762, objs: 100002, free: 0")
        raise FileError("ENOMEM")

    def _disk_error(self, operation: str) -> None:
        sector = self.kernel.random(f"{self.name}/disk").randrange(self.disk.capacity_bytes // 512)
        code = 1 if operation == "WRITE" else 0
        self.kernel_message(f"I/O error, dev sda, sector {sector} op 0x{code:x}:({operation}) flags 0x800")

    def relieve_memory(self) -> None:
        """Kill the largest process while the machine is out of memory."""
        while self.memory_used_bytes > self.memory_bytes:
            if not self.processes:
                return
            victim = max(self.processes.values(), key=lambda p: (p.memory.resident_bytes, p.host_pid))
            victim.container.oom_kill(victim, "Out of memory")

    def memory_mismatch(self) -> str | None:
        """What is wrong with the memory account, if anything: it must equal the sum of its processes."""
        counted = RESERVED_MEMORY_BYTES + sum(p.memory.resident_bytes for p in self.processes.values())
        if counted == self.memory_used_bytes:
            return None
        return f"{self.memory_used_bytes} bytes are booked, the processes hold {counted}"

    def lose(self) -> None:
        """Lose power: everything stops without notice, and data that is not on the disk is lost."""
        self.running = False
        self.off_at = None
        self.network.exit_of(self.name).clear()
        namespaces = {container.namespace: None for container in self.containers.values()}
        for namespace in namespaces:
            namespace.destroy(silent=True)
        for container in self.containers.values():
            for process in list(container.processes.values()):
                process.vanish()
            container.files.power_loss()
        for unit in self.units.values():
            unit.lose_power()
        self.kernel_log.clear()

    def boot(self) -> None:
        """The power comes back: a machine without containers, with what its disk still holds, and its services."""
        self.containers = {self.host.name: self.host}
        self.host.namespace = self._namespace(self.host.name, self._address)
        self.booted_at = self.kernel.now
        self.mounts_exhausted = False
        self.running = True
        self._last_pid = 0
        self._start_init()
        start_enabled(self.units.values())

    def _namespace(self, name: str, address: str) -> Namespace:
        namespace = self.network.namespace(name, address, self.name)
        if self._resolver is not None:
            namespace.resolver = self._resolver
        return namespace


async def init(ctx: Context) -> int:
    """The first process of a machine: adopts orphans and does nothing else."""
    while True:
        await ctx.sleep(86_400.0)
