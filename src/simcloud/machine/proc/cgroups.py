"""/sys/fs/cgroup: the limits of a container and what it has used of them, as those inside read it.

Both versions are known, since programs look for one or the other. A container sees itself as the root of its own
hierarchy; nothing can be written there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simcloud.machine.files import VirtualVolume
from simcloud.machine.proc.entries import Fact, fact_folder

if TYPE_CHECKING:
    from simcloud.machine.process import Container

PATH: Final = "/sys/fs/cgroup"
PERIOD_US: Final = 100_000
NO_LIMIT_V1: Final = 9_223_372_036_854_771_712
"""What version 1 says where there is no limit: the largest multiple of a page."""


def cgroup_volume(container: Container) -> VirtualVolume:
    """A volume to be mounted at /sys/fs/cgroup, of the version that the machine uses."""
    facts = _VERSION_1 if container.machine.cgroup_version == 1 else _VERSION_2
    return VirtualVolume(fact_folder(facts, container), container.machine.clock)


def _quota_us(container: Container) -> int | None:
    limit = container.cpu.limit
    return None if limit is None else round(limit * PERIOD_US)


def _processes(container: Container) -> str:
    return "".join(f"{pid}\n" for pid in sorted(container.visible()))


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
    used, throttled = round(cpu.used_s * 1e6), round(cpu.throttled_s * 1e6)
    return (
        f"usage_usec {used}\nuser_usec {used}\nsystem_usec 0\n"
        f"nr_periods {cpu.periods}\nnr_throttled {cpu.throttled_periods}\nthrottled_usec {throttled}\n"
    )


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


_VERSION_2: Final[dict[str, Fact]] = {
    "cgroup.controllers": lambda _: "cpuset cpu io memory pids\n",
    "cgroup.procs": _processes,
    "cpu.max": _cpu_max,
    "cpu.stat": _cpu_stat,
    "memory.current": _memory_used,
    "memory.events": _memory_events,
    "memory.max": _memory_max,
    "memory.peak": _memory_peak,
    "memory.swap.max": lambda _: "0\n",
    "pids.current": _pids,
    "pids.max": _pids_max,
}
_VERSION_1: Final[dict[str, Fact]] = {
    "cpu/cgroup.procs": _processes,
    "cpu/cpu.cfs_period_us": lambda _: f"{PERIOD_US}\n",
    "cpu/cpu.cfs_quota_us": _cpu_quota,
    "cpu/cpu.stat": _cpu_stat_v1,
    "cpuacct/cpuacct.usage": _cpu_usage,
    "memory/cgroup.procs": _processes,
    "memory/memory.failcnt": _failures,
    "memory/memory.limit_in_bytes": _memory_limit,
    "memory/memory.max_usage_in_bytes": _memory_peak,
    "memory/memory.oom_control": _oom_control,
    "memory/memory.usage_in_bytes": _memory_used,
    "pids/pids.current": _pids,
    "pids/pids.max": _pids_max,
}
