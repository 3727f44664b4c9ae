"""A machine: cores, memory, a disk, an address, and the containers that run on it.

Hardware faults are changes of its physical properties: the disk fails, a core is slow, the power is lost. No other
code checks for them; it only meets their consequences.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from hashlib import sha256
from typing import Final
from uuid import UUID
from zlib import crc32

from simcloud.machine.emit import Emitter, NullEmitter
from simcloud.machine.files import (
    BYTES_PER_INODE,
    DEV_BYTES,
    BlockDevice,
    Disk,
    FileError,
    Files,
    VirtualEntry,
    VirtualFile,
    Volume,
    device_volume,
    lazy_directory,
    virtual_directory,
)
from simcloud.machine.image import Image
from simcloud.machine.journal import INIT, Journal
from simcloud.machine.kernel_log import KernelLog, KernelMessages, Record
from simcloud.machine.logs import ContainerLog
from simcloud.machine.network import Namespace, Network, Resolver
from simcloud.machine.proc import (
    KERNEL_RELEASE,
    RESERVED_MEMORY_BYTES,
    cgroups,
    device_bytes,
    proc_volume,
    sysfs,
)
from simcloud.machine.process import Container, Context, Limits, Process, Signal
from simcloud.machine.process.capabilities import ALL
from simcloud.machine.process.cpu import MachineCpu
from simcloud.machine.process.pids import PidSpace
from simcloud.machine.units import Unit, start_enabled
from simcloud.sim import Kernel

GIB: Final = 1024**3

EPOCH_S: Final = 1_767_603_600.0
"""The moment virtual time begins: Monday, 5 January 2026, 09:00 UTC."""

VOLUME_FOLDER: Final = "/var/lib/volumes"
KERNEL_BOOT_S: Final = 9.0
"""From the start of the kernel until the services start."""

FIRST_PID: Final = 150
"""Processes of a boot that have ended, and the kernel's threads, have about the numbers before this one."""
IDLE_CPU: Final = 0.000_001
FORKS_PER_S: Final = 0.02
"""Short-lived processes that are not simulated: timers, logins."""
PID_MEMORY: Final = 256
"""So far back a machine knows which process numbers it handed out when: longer than the kernel's workers live."""


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
        self.cpu.seed = crc32(name.encode())
        self.memory_bytes = memory_bytes
        self.memory_used_bytes = RESERVED_MEMORY_BYTES
        self.disk = Disk(f"{name}/sda", disk_bytes)
        if disk_bytes > GIB:
            self.disk.inodes = device_bytes(self) // BYTES_PER_INODE
        self.kernel_log = KernelLog(self, self._list_boot_records)
        self.disk.on_error = self.kernel_log.report_disk_error
        self.emitter: Emitter = emitter if emitter is not None else NullEmitter()
        self._resolver = resolver
        self._address = address
        self.clock_skew_s = 0.0
        self.running = True
        self.off_at: float | None = None
        """When an operator has planned to turn it off, or began to, in virtual time."""
        self.booted_at = kernel.now - KERNEL_BOOT_S
        self.boots = 1
        self.caches_dropped_at = float("-inf")
        self.settings: dict[str, str] = {}
        """What an operator has set below /proc/sys to another value than the kernel's own, until the next boot."""
        self.mounts_exhausted = False
        """The kernel finds no more memory for mounts. Those that stand stay; only a boot makes it well."""
        self.containers: dict[str, Container] = {}
        self.processes: dict[int, Process] = {}
        self.volumes: dict[str, Volume] = {}
        self.units: dict[str, Unit] = {}
        self.journal = Journal(self._stamp, self.kernel_log.list_entries)
        self._epoch_s = epoch_s
        self.host: Container
        kernel.on_skip(self._skip)
        network.add_machine(name)
        self.host = self.create_container(name, image, address=address, limits=limits)
        self.host.capabilities = ALL
        folder = virtual_directory({self.machine_id: lazy_directory(self._show_journal, 0o2755)}, 0o2755)
        self.host.files.graft("/var/log/journal", folder)
        self._start_init()

    def __repr__(self) -> str:
        return f"<Machine {self.name}>"

    def clock(self) -> float:
        """The machine's idea of the time: virtual seconds since 1970, skew included."""
        return self._epoch_s + self.kernel.now + self.clock_skew_s

    def _skip(self, seconds: float) -> None:
        self._shift_calendar(seconds)
        for process in self.processes.values():
            for add_past in process.on_skip:
                add_past(seconds)

    def _shift_calendar(self, seconds: float) -> None:
        self._epoch_s += seconds
        self.booted_at -= seconds
        for process in self.processes.values():
            process.started_at -= seconds

    def grow_older(self, seconds: float) -> None:
        """Date all that happened so far on a machine that was added only now back."""
        self._shift_calendar(seconds)
        self._epoch_s -= seconds
        self.journal.date_back(seconds)
        for unit in self.units.values():
            unit.date_back(seconds)
        for process in self.processes.values():
            process.cpu_s += seconds * IDLE_CPU * (crc32(process.name.encode()) % 9)

    def date_back(self, seconds: float) -> None:
        """Make the machine and the files that were put on it older, as if it had been installed so long ago."""
        self.grow_older(seconds)
        self.host.files.table.root.volume.date_back(seconds)

    @property
    def boot_id(self) -> str:
        """32 hexadecimal digits that no other boot has."""
        return _make_boot_id(self.machine_id, self.boots)

    def _list_boot_records(self) -> list[Record]:
        from simcloud.machine.boot_messages import list_boot_records  # rarely read

        return list_boot_records(self)

    def _show_journal(self) -> dict[str, VirtualEntry]:
        size = self.journal.measure_bytes()
        return {"system.journal": VirtualFile(bytes, mode=0o640, size=size, time_s=self.clock())}

    def _stamp(self) -> tuple[float, float, str]:
        return self.clock(), self.kernel.now - self.booted_at, self.boot_id

    def context_of(self, process: Process, container: Container) -> Context:
        """Make the context that a program running in that process gets."""
        return Context(process, container, self)

    def _start_init(self) -> None:
        self.pids = PidSpace()
        self.host.supervisor = self.host.start(["/sbin/init"], program=init)
        self.host.supervisor.comm = INIT
        self.pids = PidSpace(FORKS_PER_S, FIRST_PID + int(self.machine_id[:2], 16) // 4, PID_MEMORY)

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
        self._mount_system(container)
        files.put("/etc/hostname", f"{container.hostname}\n".encode())
        files.put("/etc/hosts", f"127.0.0.1\tlocalhost\n{namespace.address}\t{container.hostname}\n".encode())
        files.sync()
        container.log = ContainerLog(self, name)
        self.containers[name] = container
        return container

    def _mount_system(self, container: Container) -> None:
        """Mount /dev, /proc and /sys; only the machine itself sees its disk, and may change what is in them."""
        files, is_host = container.files, container.name == self.name
        disks = (
            {"sda": BlockDevice(0x800, self.disk), "sda1": BlockDevice(0x801, self.disk)} if is_host else {}
        )
        size_bytes = self.memory_bytes // 2 if is_host else DEV_BYTES
        messages = KernelMessages(self.kernel_log) if is_host else None
        get_random = partial(self.kernel.random, f"{container.name}/dev")
        devices = device_volume(get_random, self.clock, disks, size_bytes, messages)
        virtual = "nosuid,nodev,noexec,relatime"
        files.mount("/dev", devices, fstype="devtmpfs" if is_host else "tmpfs", source="udev" if is_host else "tmpfs",
                    options=f"nosuid,relatime,size={size_bytes // 1024}k,nr_inodes={size_bytes // 4096},mode=755,inode64" if is_host else
                    "nosuid,size=65536k,mode=755,inode64")  # fmt: skip
        files.mount("/proc", proc_volume(container), fstype="proc", source="proc", options=virtual)
        files.mount(
            "/sys", sysfs.sys_volume(container), not is_host, fstype="sysfs", source="sysfs", options=virtual
        )
        kind = "cgroup" if self.cgroup_version == 1 else "cgroup2"
        groups = cgroups.cgroup_volume(container)
        files.mount(cgroups.PATH, groups, not is_host, fstype=kind, source=kind, options=virtual)
        root = files.table.root
        root.options = "relatime"
        if not is_host:
            files.utime("/")  # its mount points were just made
            root.source = root.fstype = "overlay"
            root.options = (
                "relatime,lowerdir=/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots"
            )

    def cgroup_of(self, process: Process) -> str:
        """The control group of a process, as a path from the root of the machine's hierarchy."""
        if process.container is not self.host:
            return process.container.cgroup_path
        unit: Process | None = process
        while unit is not None:
            for each in self.units.values():
                if each.process is unit:
                    return f"/{'kubelet' if each.name == 'kubelet.service' else 'system'}.slice/{each.name}"
            unit = unit.parent
        return "/init.scope" if process.host_pid == 1 else "/user.slice/user-0.slice/session-1.scope"

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

    def need_mount(self) -> None:
        """Raise ENOMEM if the kernel has no memory to mount anything now, and have it say so."""
        if not self.mounts_exhausted:
            return
        self.kernel_log.report_mount_failure()
        raise FileError("ENOMEM")

    def relieve_memory(self) -> None:
        """Kill the largest process while the machine is out of memory."""
        while self.memory_used_bytes > self.memory_bytes:
            if not self.processes:
                return
            victim = max(self.processes.values(), key=lambda p: (p.memory.resident_bytes, p.host_pid))
            victim.container.oom_kill(victim, cgroup=False)

    def memory_mismatch(self) -> str | None:
        """What is wrong with the memory account, if anything: it must equal the sum of its processes."""
        counted = RESERVED_MEMORY_BYTES + sum(p.memory.resident_bytes for p in self.processes.values())
        if counted == self.memory_used_bytes:
            return None
        return f"{self.memory_used_bytes} bytes are booked, the processes hold {counted}"

    def lose(self) -> None:
        """Lose power: everything stops without notice, and data that is not on the disk is lost."""
        self.journal.close_boot()
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

    def boot(self) -> None:
        """The power comes back: a machine without containers, with what its disk still holds, and its services."""
        self.containers = {self.host.name: self.host}
        self.host.namespace = self._namespace(self.host.name, self._address)
        self.booted_at = self.kernel.now - KERNEL_BOOT_S
        self.boots += 1
        self.kernel_log.restart()
        self.mounts_exhausted = self.disk.journal_failed = False
        self.settings.clear()
        self.network.machines[self.name].forwarding.partitioned = False
        self.running = True
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


@lru_cache(maxsize=256)
def _make_boot_id(machine_id: str, boots: int) -> str:
    """Return the id of a machine's boot of that number. All lines of a journal share it."""
    return UUID(sha256(f"{machine_id}/{boots}".encode()).hexdigest()[:32], version=4).hex
