"""/proc: the machine and its processes as files, computed as they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from aiopslab.machine.files import (
    VirtualDirectory,
    VirtualEntry,
    VirtualFile,
    VirtualLink,
    VirtualVolume,
    virtual_directory,
)

if TYPE_CHECKING:
    from aiopslab.machine.process import Container, Process

KERNEL_RELEASE: Final = "6.1.0-28-amd64"
KERNEL_VERSION: Final = "#1 SMP PREEMPT_DYNAMIC Debian 6.1.119-1 (2024-11-22)"
CPU_MODEL: Final = "Virtual CPU @ 2.50GHz"


def proc_volume(container: Container) -> VirtualVolume:
    """The /proc of a container: its own processes, and what it may know of its machine."""
    facts: dict[str, Callable[[Container], str]] = {
        "cpuinfo": _cpuinfo,
        "filesystems": lambda _c: "nodev\tproc\nnodev\ttmpfs\nnodev\toverlay\n\text4\n",
        "loadavg": _loadavg,
        "meminfo": _meminfo,
        "mounts": _mounts,
        "stat": _stat,
        "uptime": _uptime,
        "version": lambda _c: (
            f"Linux version {KERNEL_RELEASE} (debian-kernel@lists.debian.org) {KERNEL_VERSION}\n"
        ),
    }
    sys_kernel = {
        "hostname": _file(lambda: f"{container.hostname}\n"),
        "osrelease": _file(lambda: f"{KERNEL_RELEASE}\n"),
        "ostype": _file(lambda: "Linux\n"),
        "pid_max": _file(lambda: "32768\n"),
    }
    fixed: dict[str, VirtualEntry] = {name: _file_of(make, container) for name, make in facts.items()}
    fixed["self"] = VirtualLink(lambda: str(_current_pid(container)))
    fixed["sys"] = virtual_directory({"kernel": virtual_directory(sys_kernel)})

    def names() -> Iterable[str]:
        return [*fixed, *map(str, container.visible())]

    def find(name: str) -> VirtualEntry | None:
        entry = fixed.get(name)
        if entry is None and name.isdigit():
            process = container.visible().get(int(name))
            entry = None if process is None else _process_directory(container, process)
        return entry

    return VirtualVolume(VirtualDirectory(names, find), container.machine.clock)


def _file(make: Callable[[], str]) -> VirtualFile:
    return VirtualFile(lambda: make().encode("utf-8", "surrogateescape"))


def _file_of(make: Callable[[Container], str], container: Container) -> VirtualFile:
    return _file(lambda: make(container))


def _current_pid(container: Container) -> int:
    """The process whose task runs now: ``/proc/self`` is the reader's own folder."""
    task = container.kernel.current
    while task is not None and task.parent is not None:
        task = task.parent
    for pid, process in container.visible().items():
        if process.main is task:
            return pid
    return 1


# -- one process ---------------------------------------------------------------------------------


def _process_directory(container: Container, process: Process) -> VirtualDirectory:
    pid = container.pid_seen(process)
    entries: dict[str, VirtualEntry] = {
        "cmdline": _file(lambda: "".join(f"{word}\0" for word in process.argv)),
        "comm": _file(lambda: f"{process.name}\n"),
        "cwd": VirtualLink(lambda: process.files.cwd),
        "environ": VirtualFile(
            lambda: "".join(f"{k}={v}\0" for k, v in process.env.items()).encode("utf-8", "surrogateescape"),
            mode=0o400,
            uid=process.uid,
        ),
        "fd": virtual_directory(
            {str(n): VirtualLink(process.streams[n].describe) for n in sorted(process.streams)}
        ),
        "limits": _file(lambda: _limits(container)),
        "mounts": _file_of(_mounts, container),
        "stat": _file(lambda: _process_stat(container, process, pid)),
        "status": _file(lambda: _process_status(container, process, pid)),
    }
    return virtual_directory(entries)


def state_letter(process: Process) -> str:
    """T for stopped, else S: a process that can be looked at is waiting for something."""
    return "T" if process.stopped else "S"


def _parent_pid(container: Container, process: Process) -> int:
    return container.pid_seen(process.parent) if process.parent is not None else 0


def _process_status(container: Container, process: Process, pid: int) -> str:
    state = state_letter(process)
    kib = process.memory.resident_bytes // 1024
    return (
        f"Name:\t{process.name}\nUmask:\t{process.files.umask:04o}\n"
        f"State:\t{state} ({'stopped' if state == 'T' else 'sleeping'})\nTgid:\t{pid}\nPid:\t{pid}\n"
        f"PPid:\t{_parent_pid(container, process)}\nUid:\t{process.uid}\t{process.uid}\t{process.uid}\t{process.uid}\n"
        f"Gid:\t{process.files.gid}\t{process.files.gid}\t{process.files.gid}\t{process.files.gid}\n"
        f"FDSize:\t64\nVmSize:\t{kib * 2:8d} kB\nVmRSS:\t{kib:8d} kB\nThreads:\t1\n"
    )


def _process_stat(container: Container, process: Process, pid: int) -> str:
    ticks = int(process.cpu_s * 100)
    start = int((process.started_at - container.machine.booted_at) * 100)
    pages = process.memory.resident_bytes // 4096
    return (
        f"{pid} ({process.name}) {state_letter(process)} {_parent_pid(container, process)} {process.group} "
        f"{process.group} 0 -1 4194304 0 0 0 0 {ticks} 0 0 0 20 0 1 0 {start} {pages * 8192} {pages}\n"
    )


def _limits(container: Container) -> str:
    def row(name: str, value: int, unit: str) -> str:
        return f"{name:<26}{value:<21}{value:<21}{unit:<10}\n"

    header = f"{'Limit':<26}{'Soft Limit':<21}{'Hard Limit':<21}{'Units':<10}\n"
    limits = container.limits
    return (
        header
        + row("Max processes", limits.processes, "processes")
        + row("Max open files", limits.open_files, "files")
    )


# -- the machine ---------------------------------------------------------------------------------


def _cpuinfo(container: Container) -> str:
    return "".join(
        f"processor\t: {core}\nvendor_id\t: GenuineIntel\nmodel name\t: {CPU_MODEL}\ncpu MHz\t\t: 2500.000\n"
        f"cache size\t: 32768 KB\nsiblings\t: {container.machine.cpu.cores}\n"
        f"cpu cores\t: {container.machine.cpu.cores}\nflags\t\t: fpu sse sse2 avx avx2\n\n"
        for core in range(container.machine.cpu.cores)
    )


def _loadavg(container: Container) -> str:
    cpu = container.machine.cpu
    cpu.settle(container.kernel.now)
    total = len(container.machine.processes)
    load = " ".join(f"{value:.2f}" for value in cpu.load)
    return f"{load} 1/{total} {max(container.visible(), default=1)}\n"


def _meminfo(container: Container) -> str:
    machine = container.machine
    total, used = machine.memory_bytes // 1024, machine.memory_used_bytes // 1024
    free = max(0, total - used)
    rows = {"MemTotal": total, "MemFree": free, "MemAvailable": free, "Buffers": 0, "Cached": 0, "SwapCached": 0,
            "SwapTotal": 0, "SwapFree": 0, "Shmem": 0}  # fmt: skip
    return "".join(f"{name + ':':<15}{kib:>9} kB\n" for name, kib in rows.items())


def _mounts(container: Container) -> str:
    return "".join(
        f"{mount.source or mount.fstype} {mount.path} {mount.fstype} {'ro' if mount.frozen else 'rw'},relatime 0 0\n"
        for mount in container.files.mounts()
    )


def _stat(container: Container) -> str:
    machine = container.machine
    up = container.kernel.now - machine.booted_at
    busy = int(machine.cpu.used_s * 100)
    idle = max(0, int(up * 100 * machine.cpu.cores) - busy)
    booted = int(machine.clock() - up)
    return f"cpu  {busy} 0 0 {idle} 0 0 0 0 0 0\nbtime {booted}\nprocesses {len(machine.processes)}\n"


def _uptime(container: Container) -> str:
    machine = container.machine
    up = container.kernel.now - machine.booted_at
    return f"{up:.2f} {max(0.0, up * machine.cpu.cores - machine.cpu.used_s):.2f}\n"
