"""The machine as /proc shows it: processors, memory, load, kernel, mounts, settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simcloud.machine.proc.entries import Fact

if TYPE_CHECKING:
    from simcloud.machine.process import Container
    from simcloud.machine.process.process import ProcessContainer

KERNEL_RELEASE: Final = "6.1.0-28-amd64"
KERNEL_VERSION: Final = "#1 SMP PREEMPT_DYNAMIC Debian 6.1.119-1 (2024-11-22)"
CPU_MODEL: Final = "Virtual CPU @ 2.50GHz"
TICKS_PER_S: Final = 100
KIB: Final = 1024


def _cpuinfo(container: Container) -> str:
    cores = container.machine.cpu.cores
    return "".join(
        f"processor\t: {core}\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: {CPU_MODEL}\n"
        f"stepping\t: 7\ncpu MHz\t\t: 2500.000\ncache size\t: 32768 KB\nphysical id\t: 0\nsiblings\t: {cores}\n"
        f"core id\t\t: {core}\ncpu cores\t: {cores}\nflags\t\t: fpu sse sse2 sse4_1 sse4_2 avx avx2\n"
        "bogomips\t: 5000.00\n\n"
        for core in range(cores)
    )


def _loadavg(container: Container) -> str:
    cpu = container.machine.cpu
    cpu.settle(container.kernel.now)
    load = " ".join(f"{value:.2f}" for value in cpu.load)
    return f"{load} 1/{len(container.machine.processes)} {max(container.visible(), default=1)}\n"


def _meminfo(container: Container) -> str:
    machine = container.machine
    total, used = machine.memory_bytes // KIB, machine.memory_used_bytes // KIB
    free = max(0, total - used)
    anonymous = sum(process.memory.resident_bytes for process in machine.processes.values()) // KIB
    rows = {"MemTotal": total, "MemFree": free, "MemAvailable": free, "Buffers": 0, "Cached": 0, "SwapCached": 0,
            "Active": anonymous, "Inactive": 0, "SwapTotal": 0, "SwapFree": 0, "Dirty": 0, "Writeback": 0,
            "AnonPages": anonymous, "Mapped": 0, "Shmem": 0, "Slab": used - anonymous, "CommitLimit": total // 2,
            "Committed_AS": 2 * anonymous}  # fmt: skip
    return "".join(f"{name + ':':<15} {kib:>8} kB\n" for name, kib in rows.items())


def mounts_text(container: ProcessContainer) -> str:
    """What is mounted where, as /proc/mounts has it."""
    return "".join(
        f"{mount.source or mount.fstype} {mount.path} {mount.fstype} {'ro' if mount.frozen else 'rw'},relatime 0 0\n"
        for mount in container.files.mounts()
    )


def _uptime_s(container: Container) -> float:
    return container.kernel.now - container.machine.booted_at


def _stat(container: Container) -> str:
    machine, up_s = container.machine, _uptime_s(container)
    cores = machine.cpu.cores
    busy = int(machine.cpu.used_s * TICKS_PER_S)
    idle = max(0, int(up_s * TICKS_PER_S * cores) - busy)
    rows = [("cpu ", busy, idle)]
    rows += [(f"cpu{core}", busy // cores, idle // cores) for core in range(cores)]
    text = "".join(f"{name} {used} 0 0 {free} 0 0 0 0 0 0\n" for name, used, free in rows)
    stopped = sum(process.stopped for process in machine.processes.values())
    return (
        f"{text}ctxt 0\nbtime {int(machine.clock() - up_s)}\nprocesses {len(machine.processes)}\n"
        f"procs_running 1\nprocs_blocked {stopped}\n"
    )


def _uptime(container: Container) -> str:
    up_s, cpu = _uptime_s(container), container.machine.cpu
    return f"{up_s:.2f} {max(0.0, up_s * cpu.cores - cpu.used_s):.2f}\n"


def _version(container: Container) -> str:
    compiler = "gcc-12 (Debian 12.2.0-14) 12.2.0, GNU ld (GNU Binutils for Debian) 2.40"
    release = container.machine.kernel_release
    return f"Linux version {release} (debian-kernel@lists.debian.org) ({compiler}) {KERNEL_VERSION}\n"


def _cmdline(container: Container) -> str:
    return f"BOOT_IMAGE=/boot/vmlinuz-{container.machine.kernel_release} root=/dev/sda1 ro quiet\n"


def _release(container: Container) -> str:
    return f"{container.machine.kernel_release}\n"


def _vmstat(container: Container) -> str:
    machine = container.machine
    free = max(0, machine.memory_bytes - machine.memory_used_bytes) // 4096
    kills = sum(each.oom_kills for each in machine.containers.values())
    return f"nr_free_pages {free}\noom_kill {kills}\n"


def _hostname(container: Container) -> str:
    return f"{container.hostname}\n"


def _always(text: str) -> Fact:
    return lambda _container: text


FACTS: Final[dict[str, Fact]] = {
    "cmdline": _cmdline,
    "cpuinfo": _cpuinfo,
    "filesystems": _always("nodev\tproc\nnodev\ttmpfs\nnodev\toverlay\n\text4\n"),
    "loadavg": _loadavg,
    "meminfo": _meminfo,
    "mounts": mounts_text,
    "stat": _stat,
    "uptime": _uptime,
    "version": _version,
    "vmstat": _vmstat,
}
SETTINGS: Final[dict[str, Fact]] = {
    "fs/file-max": _always("9223372036854775807\n"),
    "fs/nr_open": _always("1048576\n"),
    "kernel/hostname": _hostname,
    "kernel/osrelease": _release,
    "kernel/ostype": _always("Linux\n"),
    "kernel/panic": _always("0\n"),
    "kernel/version": _always(f"{KERNEL_VERSION}\n"),
    "net/core/somaxconn": _always("4096\n"),
    "net/ipv4/ip_forward": _always("1\n"),
    "net/ipv4/ip_local_port_range": _always("32768\t60999\n"),
    "net/ipv4/tcp_fin_timeout": _always("60\n"),
    "net/ipv4/tcp_keepalive_time": _always("7200\n"),
    "net/ipv4/tcp_syn_retries": _always("6\n"),
    "vm/max_map_count": _always("65530\n"),
    "vm/overcommit_memory": _always("0\n"),
    "vm/swappiness": _always("60\n"),
}
