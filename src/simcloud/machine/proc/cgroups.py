"""/sys/fs/cgroup: the limits of containers and what they have used of them.

Both versions are known, since programs look for one or the other. A container sees itself as the root of its own
hierarchy; the machine sees the slices and scopes of all its processes (version 2 only). All files are read-only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from simcloud.machine.files import VirtualDirectory, VirtualEntry, VirtualFile, VirtualVolume, lazy_directory
from simcloud.machine.proc.entries import Fact, fact_folder, text_file
from simcloud.machine.proc.memory import whole_pages

if TYPE_CHECKING:
    from simcloud.machine.process import Container, Process

PATH: Final = "/sys/fs/cgroup"
_CONTROLLERS: Final = "cpuset cpu io memory hugetlb pids rdma misc"
_SETTINGS: Final = """\
cgroup.freeze=0 cgroup.kill= cgroup.max.depth=max cgroup.max.descendants=max cgroup.pressure=1 cgroup.type=domain cpu.idle=0
cpu.max=max~100000 cpu.max.burst=0 cpu.pressure=some~avg10=0.00~avg60=0.00~avg300=0.00~total=11204 cpu.weight=100
cpu.weight.nice=0 cpuset.cpus= cpuset.cpus.effective=0-{cpus} cpuset.cpus.partition=member cpuset.mems=
cpuset.mems.effective=0 hugetlb.2MB.current=0 hugetlb.2MB.events=max~0 hugetlb.2MB.events.local=max~0 hugetlb.2MB.max=max
hugetlb.2MB.numa_stat=total=0~N0=0 hugetlb.2MB.rsvd.current=0 hugetlb.2MB.rsvd.max=max io.max=
io.pressure=some~avg10=0.00~avg60=0.00~avg300=0.00~total=5236 io.stat= io.weight=default~100 memory.events=low~0
memory.events.local=low~0 memory.high=max memory.low=0 memory.max=max memory.min=0 memory.numa_stat= memory.oom.group=0
memory.pressure=some~avg10=0.00~avg60=0.00~avg300=0.00~total=0 memory.reclaim= memory.swap.current=0 memory.swap.events=high~0
memory.swap.high=max memory.swap.max=max memory.zswap.current=0 memory.zswap.max=max misc.current= misc.events= misc.max= pids.events=max~0 pids.max=max rdma.current= rdma.max="""
"""Files of a group without limits, with what they say: ``~`` stands for a space, and ``cpus`` is the last processor."""
_ROOT_FILES: Final = """\
cgroup.controllers cgroup.max.depth cgroup.max.descendants cgroup.procs cgroup.stat cgroup.subtree_control cgroup.threads
cpu.pressure cpu.stat cpuset.cpus.effective cpuset.mems.effective io.pressure io.stat memory.numa_stat memory.pressure
memory.reclaim memory.stat"""
PERIOD_US: Final = 100_000
SYSTEM_SHARE: Final = 0.31
"""Of the CPU time that is used, so much is spent in the kernel."""
NO_LIMIT_V1: Final = 9_223_372_036_854_771_712
"""What version 1 says where there is no limit: the largest multiple of a page."""


def cgroup_volume(container: Container) -> VirtualVolume:
    """A volume to be mounted at /sys/fs/cgroup, of the version that the machine uses."""
    version_1 = container.machine.cgroup_version == 1

    def entries() -> dict[str, VirtualEntry]:
        if container.is_host and not version_1:
            return _list_group(container, "")
        own = fact_folder(_VERSION_1 if version_1 else _VERSION_2, container)
        found = {name: entry for name in own.names() if (entry := own.find(name)) is not None}
        return found if version_1 else _list_settings(container) | found

    return VirtualVolume(lazy_directory(entries, 0o555), container.machine.clock, "cgroup2")


def _list_group(host: Container, path: str) -> dict[str, VirtualEntry]:
    """The files and groups of one group of the machine's hierarchy."""
    machine = host.machine
    inside = {process: machine.cgroup_of(process) for process in machine.processes.values()}
    members = [process for process, where in inside.items() if f"{where}/".startswith(f"{path}/")]
    paths = {inside[process].removeprefix(f"{path}/") for process in members if inside[process] != path}
    below = sorted({each.partition("/")[0] for each in paths})
    own = [process for process in members if inside[process] == path]
    containers = [
        container
        for container in machine.containers.values()
        if not container.is_host and f"{container.cgroup_path}/".startswith(f"{path}/")
    ]
    processes = text_file(lambda: "".join(f"{process.host_pid}\n" for process in own), 0o644)
    entries = _list_settings(host) | {
        "cgroup.controllers": text_file(lambda: f"{_CONTROLLERS}\n"),
        "cgroup.events": text_file(lambda: f"populated {int(bool(members))}\nfrozen 0\n"),
        "cgroup.procs": processes,
        "cgroup.stat": text_file(lambda: f"nr_descendants {len(below)}\nnr_dying_descendants 0\n"),
        "cgroup.subtree_control": text_file(lambda: f"{_CONTROLLERS}\n" if below else "\n"),
        "cgroup.threads": processes,
        "cpu.stat": text_file(lambda: _usage_of(members, containers)),
        "memory.current": text_file(lambda: f"{_resident_bytes(members)}\n"),
        "memory.peak": text_file(lambda: f"{_resident_bytes(members) * 5 // 4}\n"),
        "memory.stat": text_file(lambda: _memory_stat(_resident_bytes(members))),
        "pids.current": text_file(lambda: f"{sum(process.threads for process in members)}\n"),
    }
    if not path:  # the root has no limits, and nothing to be limited by
        entries = {name: entry for name, entry in entries.items() if name in _ROOT_FILES.split()}
    if not below and len(containers) == 1:
        leaf = fact_folder(_VERSION_2, containers[0])
        entries.update({name: found for name in leaf.names() if (found := leaf.find(name)) is not None})
        entries["cgroup.procs"] = processes
    for name in below:
        entries[name] = _group_folder(host, f"{path}/{name}")
    return entries


def _list_settings(container: Container) -> dict[str, VirtualEntry]:
    """The files of a group that nobody has changed."""
    words = _SETTINGS.format(cpus=container.machine.cpu.cores - 1).split()
    return {
        name: VirtualFile((f"{value}\n" if value else "").encode, mode=0o644)
        for name, _, value in (word.replace("~", " ").partition("=") for word in words)
    }


def _group_folder(host: Container, path: str) -> VirtualDirectory:
    return lazy_directory(lambda: _list_group(host, path))


def _resident_bytes(members: Iterable[Process]) -> int:
    return whole_pages(sum(process.memory.resident_bytes for process in members))


def _usage_of(members: Iterable[Process], containers: list[Container]) -> str:
    inside_s = sum(container.cpu.used_s for container in containers)
    within = {process for container in containers for process in container.processes.values()}
    own_s = sum(process.cpu_s for process in members if process not in within)
    return _usage_text(inside_s + own_s) + "nr_periods 0\nnr_throttled 0\nthrottled_usec 0\n"


def _usage_text(used_s: float) -> str:
    used, system = round(used_s * 1e6), round(used_s * SYSTEM_SHARE * 1e6)
    return f"usage_usec {used}\nuser_usec {used - system}\nsystem_usec {system}\n"


def _memory_stat(resident_bytes: int) -> str:
    file = whole_pages(resident_bytes * 0.22)
    rows = {"anon": resident_bytes - file, "file": file, "kernel": whole_pages(resident_bytes * 0.03), "shmem": 0,
            "file_mapped": whole_pages(file * 0.6), "file_dirty": 0, "inactive_file": whole_pages(file * 0.4),
            "active_file": file - whole_pages(file * 0.4), "pgfault": resident_bytes // 2900, "pgmajfault": 3}  # fmt: skip
    return "".join(f"{name} {size}\n" for name, size in rows.items())


def _quota_us(container: Container) -> int | None:
    limit = container.cpu.limit
    return None if limit is None else round(limit * PERIOD_US)


def _processes(container: Container) -> str:
    return "".join(f"{pid}\n" for pid in sorted(container.visible_programs()))


def _memory_max(container: Container) -> str:
    limit = container.memory_limit_bytes
    return f"{'max' if limit is None else limit}\n"


def _memory_limit(container: Container) -> str:
    limit = container.memory_limit_bytes
    return f"{NO_LIMIT_V1 if limit is None else limit}\n"


def _memory_used(container: Container) -> str:
    return f"{container.memory_bytes}\n"


def _memory_peak(container: Container) -> str:
    return f"{container.memory_peak_bytes}\n"


def _memory_events(container: Container) -> str:
    kills = container.oom_kills
    return f"low 0\nhigh 0\nmax {kills}\noom {kills}\noom_kill {kills}\noom_group_kill 0\n"


def _oom_control(container: Container) -> str:
    return f"oom_kill_disable 0\nunder_oom 0\noom_kill {container.oom_kills}\n"


def _failures(container: Container) -> str:
    return f"{container.oom_kills}\n"


def _cpu_max(container: Container) -> str:
    quota = _quota_us(container)
    return f"{'max' if quota is None else quota} {PERIOD_US}\n"


def _cpu_quota(container: Container) -> str:
    quota = _quota_us(container)
    return f"{-1 if quota is None else quota}\n"


def _cpu_stat(container: Container) -> str:
    cpu = container.cpu
    throttled = round(cpu.throttled_s * 1e6)
    return (f"{_usage_text(cpu.used_s)}"
        f"nr_periods {cpu.periods}\nnr_throttled {cpu.throttled_periods}\nthrottled_usec {throttled}\n")  # fmt: skip


def _cpu_stat_v1(container: Container) -> str:
    cpu = container.cpu
    throttled_ns = round(cpu.throttled_s * 1e9)
    return f"nr_periods {cpu.periods}\nnr_throttled {cpu.throttled_periods}\nthrottled_time {throttled_ns}\n"


def _cpu_usage(container: Container) -> str:
    return f"{round(container.cpu.used_s * 1e9)}\n"


def _pids(container: Container) -> str:
    return f"{len(container.processes)}\n"


def _pids_max(container: Container) -> str:
    return f"{container.limits.processes}\n"


_VERSION_2: Final[dict[str, Fact]] = {"cgroup.controllers": lambda _: "cpuset cpu io memory pids\n",
    "cgroup.events": lambda container: f"populated {int(bool(container.processes))}\nfrozen 0\n",
    "cgroup.procs": _processes, "cgroup.subtree_control": lambda _: "", "cgroup.type": lambda _: "domain\n",
    "cpu.max": _cpu_max, "cpu.stat": _cpu_stat, "cpu.weight": lambda _: "100\n", "memory.current": _memory_used,
    "memory.events": _memory_events, "memory.max": _memory_max, "memory.peak": _memory_peak,
    "memory.stat": lambda container: _memory_stat(whole_pages(container.memory_bytes)),
    "memory.swap.max": lambda _: "0\n", "pids.current": _pids, "pids.max": _pids_max}  # fmt: skip
_VERSION_1: Final[dict[str, Fact]] = {"cpu/cgroup.procs": _processes,
    "cpu/cpu.cfs_period_us": lambda _: f"{PERIOD_US}\n", "cpu/cpu.cfs_quota_us": _cpu_quota,
    "cpu/cpu.stat": _cpu_stat_v1, "cpuacct/cpuacct.usage": _cpu_usage, "memory/cgroup.procs": _processes,
    "memory/memory.failcnt": _failures, "memory/memory.limit_in_bytes": _memory_limit,
    "memory/memory.max_usage_in_bytes": _memory_peak, "memory/memory.oom_control": _oom_control,
    "memory/memory.usage_in_bytes": _memory_used, "pids/pids.current": _pids, "pids/pids.max": _pids_max}  # fmt: skip
