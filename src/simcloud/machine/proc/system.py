"""The machine as /proc shows it: processors, memory, load, kernel, mounts, settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from uuid import UUID

from simcloud.machine.files import FileError, VirtualFile
from simcloud.machine.proc.block import diskstats, measure_activity, partitions
from simcloud.machine.proc.cgroups import SYSTEM_SHARE
from simcloud.machine.proc.entries import Fact
from simcloud.machine.proc.memory import measure_memory, vary, whole_pages
from simcloud.machine.process import PAGE_BYTES

if TYPE_CHECKING:
    from simcloud.machine.process import Container
    from simcloud.machine.process.container import Host
    from simcloud.machine.process.process import ProcessContainer


KERNEL_RELEASE: Final = "6.1.0-28-amd64"
KERNEL_VERSION: Final = "#1 SMP PREEMPT_DYNAMIC Debian 6.1.119-1 (2024-11-22)"
CPU_MODEL: Final = "Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz"
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
    machine = container.machine
    machine.cpu.settle(container.kernel.now)
    load = " ".join(f"{value:.2f}" for value in machine.cpu.load)
    waiting = 1 + int(vary(machine.name, container.kernel.now) * 1.4)
    threads = sum(process.threads for process in machine.host.visible().values())
    return f"{load} {waiting}/{threads} {container.last_pid}\n"


def _meminfo(container: Container) -> str:
    use = measure_memory(container.machine)
    mapped = whole_pages(use.cached * 0.24)
    active_file = whole_pages((use.cached - use.shared) * 0.41)
    rows = {
        "MemTotal": use.total, "MemFree": use.free, "MemAvailable": use.available, "Buffers": use.buffers,
        "Cached": use.cached, "SwapCached": 0, "Active": active_file + use.shared,
        "Inactive": use.anonymous + use.cached - use.shared - active_file, "Active(anon)": use.shared,
        "Inactive(anon)": use.anonymous, "Active(file)": active_file,
        "Inactive(file)": use.cached - use.shared - active_file, "Unevictable": 0, "Mlocked": 0, "SwapTotal": 0,
        "SwapFree": 0, "Zswap": 0, "Zswapped": 0, "Dirty": use.dirty, "Writeback": 0, "AnonPages": use.anonymous,
        "Mapped": mapped, "Shmem": use.shared, "KReclaimable": use.reclaimable,
        "Slab": use.reclaimable + use.unreclaimable, "SReclaimable": use.reclaimable, "SUnreclaim": use.unreclaimable,
        "KernelStack": whole_pages(use.anonymous * 0.007) + 3_407_872, "PageTables": whole_pages(use.anonymous * 0.012),
        "NFS_Unstable": 0, "Bounce": 0, "WritebackTmp": 0, "CommitLimit": whole_pages(use.total // 2),
        "Committed_AS": whole_pages(use.anonymous * 2.7), "VmallocTotal": 34359738367 * KIB,
        "VmallocUsed": 24_358_912, "VmallocChunk": 0, "Percpu": 3_932_160, "HardwareCorrupted": 0, "AnonHugePages": 0,
        "ShmemHugePages": 0, "ShmemPmdMapped": 0, "FileHugePages": 0, "FilePmdMapped": 0,
    }  # fmt: skip
    text = "".join(f"{name + ':':<15} {size // KIB:>8} kB\n" for name, size in rows.items())
    huge = "".join(f"{'HugePages_' + name + ':':<15} {0:>8}\n" for name in ("Total", "Free", "Rsvd", "Surp"))
    direct = {"Hugepagesize": 2048, "Hugetlb": 0, "DirectMap4k": 194_404,
        "DirectMap2M": use.total // KIB // 2048 * 2048}  # fmt: skip
    return text + huge + "".join(f"{name + ':':<15} {kib:>8} kB\n" for name, kib in direct.items())


def mounts_text(container: ProcessContainer) -> str:
    """What is mounted where, as /proc/mounts has it."""
    return "".join(f"{mount.source or mount.fstype} {mount.path} {mount.fstype} {mount.flags()} 0 0\n"
        for mount in container.files.mounts())  # fmt: skip


def _uptime_s(container: Container) -> float:
    return container.kernel.now - container.machine.booted_at


def cpu_times(machine: Host, up_s: float) -> tuple[int, ...]:
    """Ticks in user, nice, system, idle, iowait, irq, softirq, steal, guest and guest_nice, over all cores."""
    busy = int(machine.cpu.used_s * TICKS_PER_S)
    system = int(busy * SYSTEM_SHARE)
    activity = measure_activity(machine)
    waiting = int(activity.io_ms / 1000 * TICKS_PER_S * 0.18)
    soft = busy // 60
    stolen = busy // 400 + int(machine.cpu.stolen_s * TICKS_PER_S)
    idle = max(0, int(up_s * TICKS_PER_S * machine.cpu.cores) - busy - waiting - stolen)
    return busy - system, busy // 900, system - soft, idle, waiting, 0, soft, stolen, 0, 0


def event_counts(machine: Host) -> tuple[int, int]:
    """Interrupts and context switches since the boot."""
    up_s, used_s = machine.kernel.now - machine.booted_at, machine.cpu.used_s
    rate = 310 + 120 * vary(f"{machine.name}/interrupts")
    interrupts = int(rate * up_s * machine.cpu.cores / 2 + used_s * 9_000) + measure_activity(machine).writes
    return interrupts, int(interrupts * (1.7 + vary(f"{machine.name}/switches") / 3))


def _stat(container: Container) -> str:
    machine, up_s = container.machine, _uptime_s(container)
    cores = machine.cpu.cores
    whole = cpu_times(machine, up_s)
    rows = [("cpu ", whole)]
    for core in range(cores):
        share = 1 + (vary(f"{machine.name}/cpu{core}") - 0.5) / 8
        rows.append((f"cpu{core}", tuple(int(ticks / cores * share) for ticks in whole)))
    text = "".join(f"{name} {' '.join(map(str, ticks))}\n" for name, ticks in rows)
    stopped = sum(process.stopped for process in machine.processes.values())
    interrupts, switches = event_counts(machine)
    return (
        f"{text}intr {interrupts} 0{' 0' * 40}\nctxt {switches}\nbtime {int(machine.clock() - up_s)}\n"
        f"processes {machine.pids.count(up_s)}\nprocs_running 1\nprocs_blocked {stopped}\n"
        f"softirq {interrupts // 2} 0{' 0' * 9}\n"
    )


def _interrupts(container: Container) -> str:
    cores, total = container.machine.cpu.cores, event_counts(container.machine)[0]
    text = " " * 10 + "".join(f" {'CPU' + str(core):<10}" for core in range(cores)) + "\n"
    sources = (("24:", 0.004, "PCI-MSIX-0000:00:05.0   1-edge      virtio2-req.0"),
               ("26:", 0.19, "PCI-MSIX-0000:00:03.0   1-edge      virtio0-input.0"),
               ("LOC:", 0.52, "Local timer interrupts"), ("RES:", 0.09, "Rescheduling interrupts"),
               ("CAL:", 0.11, "Function call interrupts"), ("TLB:", 0.02, "TLB shootdowns"))  # fmt: skip
    for number, share, about in sources:
        counts = (int(total * share / cores * (0.8 + 0.4 * vary(f"{number}{core}"))) for core in range(cores))
        text += f"{number:>5}" + "".join(f" {count:10d}" for count in counts) + f"   {about}\n"
    return text


def _pressure(kind: str) -> Fact:
    """How long tasks have waited for a resource, in shares of the last 10, 60 and 300 seconds and in microseconds."""

    def make(container: Container) -> str:
        machine = container.machine
        machine.cpu.settle(container.kernel.now)
        own = vary(f"{machine.name}/{kind}", container.kernel.now, 10.0)
        if kind == "cpu":
            over = [max(0.0, load / machine.cpu.cores - 1) * 100 + load * 0.35 for load in machine.cpu.load]
            total = machine.cpu.used_s * 1e6 * 0.041
        elif kind == "memory":
            full = machine.memory_used_bytes / machine.memory_bytes
            over, total = ([max(0.0, full - 0.96) * 400] * 3, sum(each.oom_kills
                for each in machine.containers.values()) * 250_000.0)  # fmt: skip
        else:
            activity = measure_activity(machine)
            busy = min(1.0, machine.disk.latency_s * 20)
            over, total = ([100 * busy + 0.21 * own, 100 * busy + 0.11, 100 * busy + 0.09],
                activity.weighted_ms * 310.0)  # fmt: skip
        some = "some " + " ".join(
            f"avg{s}={min(over_s, 99.0):.2f}" for s, over_s in zip((10, 60, 300), over, strict=True)
        )
        whole = "full " + " ".join(f"avg{s}={min(over_s, 99.0) * 0.7 if kind != 'cpu' else 0:.2f}" for s,
            over_s in zip((10, 60, 300), over, strict=True))  # fmt: skip
        return f"{some} total={int(total)}\n{whole} total={0 if kind == 'cpu' else int(total * 0.83)}\n"

    return make


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
    use, activity = measure_memory(machine), measure_activity(machine)
    switches = event_counts(machine)[1]
    kills = sum(each.oom_kills for each in machine.containers.values())
    rows = {"nr_free_pages": use.free // PAGE_BYTES, "nr_inactive_anon": use.anonymous // PAGE_BYTES,
            "nr_anon_pages": use.anonymous // PAGE_BYTES, "nr_file_pages": (use.cached + use.buffers) // PAGE_BYTES,
            "nr_dirty": use.dirty // PAGE_BYTES, "nr_writeback": 0, "nr_slab_reclaimable": use.reclaimable // PAGE_BYTES,
            "nr_slab_unreclaimable": use.unreclaimable // PAGE_BYTES, "nr_shmem": use.shared // PAGE_BYTES,
            "pgpgin": activity.read_sectors // 2, "pgpgout": activity.write_sectors // 2, "pswpin": 0, "pswpout": 0,
            "pgfault": switches * 3, "pgmajfault": activity.reads // 7, "oom_kill": kills}  # fmt: skip
    return "".join(f"{name} {count}\n" for name, count in rows.items())


def _hostname(container: Container) -> str:
    return f"{container.hostname}\n"


def _always(text: str) -> Fact:
    return lambda _container: text


FACTS: Final[dict[str, Fact]] = {
    "cmdline": _cmdline,
    "cpuinfo": _cpuinfo,
    "diskstats": diskstats,
    "filesystems": _always(
        "nodev\tsysfs\nnodev\ttmpfs\nnodev\tproc\nnodev\tcgroup2\nnodev\tdevtmpfs\nnodev\tdevpts\n"
        "\text4\nnodev\toverlay\nnodev\tnfs4\n"
    ),
    "interrupts": _interrupts,
    "loadavg": _loadavg,
    "meminfo": _meminfo,
    "mounts": mounts_text,
    "partitions": partitions,
    "stat": _stat,
    "uptime": _uptime,
    "version": _version,
    "vmstat": _vmstat,
}


def _open_files(container: Container) -> str:
    opened = sum(len(process.streams) for process in container.machine.processes.values())
    return f"{opened * 7 + 1_216}\t0\t9223372036854775807\n"


PRESSURE: Final[dict[str, Fact]] = {kind: _pressure(kind) for kind in ("cpu", "io", "memory")}
SETTINGS: Final[dict[str, Fact]] = {"fs/aio-max-nr": _always("65536\n"),
    "fs/file-max": _always("9223372036854775807\n"), "fs/file-nr": _open_files,
    "fs/inotify/max_queued_events": _always("16384\n"), "fs/inotify/max_user_instances": _always("512\n"),
    "fs/inotify/max_user_watches": _always("524288\n"), "fs/nr_open": _always("1048576\n"),
    "kernel/hostname": _hostname, "kernel/osrelease": _release, "kernel/ostype": _always("Linux\n"),
    "kernel/core_pattern": _always("core\n"), "kernel/hung_task_timeout_secs": _always("120\n"),
    "kernel/keys/root_maxbytes": _always("25000000\n"), "kernel/keys/root_maxkeys": _always("1000000\n"),
    "kernel/panic": _always("10\n"), "kernel/panic_on_oops": _always("1\n"),
    "kernel/random/boot_id": lambda c: f"{UUID(c.machine.boot_id)}\n",
    "kernel/threads-max": lambda c: f"{c.machine.memory_bytes // 131_072}\n",
    "kernel/version": _always(f"{KERNEL_VERSION}\n"), "net/bridge/bridge-nf-call-iptables": _always("1\n"),
    "net/core/netdev_max_backlog": _always("1000\n"), "net/core/rmem_default": _always("212992\n"),
    "net/core/rmem_max": _always("212992\n"), "net/core/somaxconn": _always("4096\n"),
    "net/core/wmem_default": _always("212992\n"), "net/core/wmem_max": _always("212992\n"),
    "net/ipv4/conf/all/forwarding": _always("1\n"), "net/ipv4/conf/all/rp_filter": _always("0\n"),
    "net/ipv4/ip_forward": _always("1\n"), "net/ipv4/ip_local_port_range": _always("32768\t60999\n"),
    "net/ipv4/neigh/default/gc_thresh1": _always("128\n"), "net/ipv4/neigh/default/gc_thresh2": _always("512\n"),
    "net/ipv4/neigh/default/gc_thresh3": _always("1024\n"), "net/ipv4/tcp_congestion_control": _always("cubic\n"),
    "net/ipv4/tcp_fin_timeout": _always("60\n"),
    "net/ipv4/tcp_keepalive_intvl": _always("75\n"), "net/ipv4/tcp_keepalive_probes": _always("9\n"),
    "net/ipv4/tcp_keepalive_time": _always("7200\n"), "net/ipv4/tcp_max_syn_backlog": _always("512\n"),
    "net/ipv4/tcp_max_tw_buckets": _always("32768\n"), "net/ipv4/tcp_retries2": _always("15\n"),
    "net/ipv4/tcp_rmem": _always("4096\t131072\t6291456\n"), "net/ipv4/tcp_syn_retries": _always("6\n"),
    "net/ipv4/tcp_synack_retries": _always("5\n"), "net/ipv4/tcp_syncookies": _always("1\n"),
    "net/ipv4/tcp_tw_reuse": _always("2\n"), "net/ipv4/tcp_wmem": _always("4096\t16384\t4194304\n"),
    "vm/dirty_background_ratio": _always("10\n"), "vm/dirty_expire_centisecs": _always("3000\n"),
    "vm/dirty_ratio": _always("20\n"), "vm/dirty_writeback_centisecs": _always("500\n"),
    "vm/drop_caches": _always("0\n"), "vm/max_map_count": _always("65530\n"),
    "vm/min_free_kbytes": lambda c: f"{int((c.machine.memory_bytes // KIB * 16) ** 0.5)}\n",
    "vm/overcommit_memory": _always("1\n"), "vm/overcommit_ratio": _always("50\n"),
    "vm/panic_on_oom": _always("0\n"), "vm/swappiness": _always("60\n"),
    "vm/vfs_cache_pressure": _always("100\n")}  # fmt: skip
FORWARDING: Final = ("net/ipv4/ip_forward", "net/ipv4/conf/all/forwarding")
"""Two names of one setting: whether the kernel forwards packets, such as those of its pods."""
READ_ONLY_SETTINGS: Final = frozenset(
    {"fs/file-nr", "kernel/osrelease", "kernel/ostype", "kernel/random/boot_id", "kernel/version"}
)


def setting_file(name: str, make: Fact, container: Container) -> VirtualFile:
    """A file below /proc/sys: root of the machine can change most of them until the next boot."""
    machine = container.machine

    def read() -> bytes:
        return machine.settings.get(name, make(container)).encode()

    def write(data: bytes) -> None:
        if not container.is_host:
            raise FileError("EROFS", f"/proc/sys/{name}")
        words = data.decode("ascii", "replace").split()
        wants_numbers = make(container).split()[0].isdecimal()
        if not words or (wants_numbers and not all(word.lstrip("-").isdecimal() for word in words)):
            raise FileError("EINVAL", f"/proc/sys/{name}")
        if name == "vm/drop_caches":
            machine.caches_dropped_at = machine.kernel.now
        value = "\t".join(words) + "\n"
        for same in FORWARDING if name in FORWARDING else (name,):
            if value == make(container):
                machine.settings.pop(same, None)
            else:
                machine.settings[same] = value
        if name in FORWARDING:
            machine.host.namespace.network.machines[machine.name].forwarding.partitioned = words[0] == "0"

    fixed = name in READ_ONLY_SETTINGS
    return VirtualFile(read, None if fixed else write, mode=0o444 if fixed else 0o644)
