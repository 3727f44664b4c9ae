"""The kernel's threads as ps, top and /proc show them on a machine: they ignore signals, and take no memory.

They are made when somebody looks: those of a boot with the numbers that it gives to them, and workers with numbers that
no program got, because short-lived processes of the past had used them up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from simcloud.machine.process.limits import Budget, Limits
from simcloud.machine.process.pids import PidSpace
from simcloud.machine.process.process import Process, ProcessContainer
from simcloud.machine.process.signals import Signal

FIRST_PID: Final = 2
HIGH: Final = -20
"""The nice value of workers that do not wait behind programs."""
CPU_SHARES: Final = {
    "rcu_preempt": 2e-4,
    "jbd2/sda1-8": 6e-5,
    "kcompactd0": 3e-5,
    "ksoftirqd": 3e-5,
    "kworker": 4e-6,
}
"""The CPU time of threads, as a share of their age; the others use next to nothing."""
WORKER_PERIOD_S: Final = 280
"""Idle workers end after some minutes, and new ones take their place."""

_EARLY: Final = """
rcu_gp< rcu_par_gp< slub_flushwq< netns< - kworker/0:0H-events_highpri< - mm_percpu_wq<
rcu_tasks_kthread rcu_tasks_rude_kthread rcu_tasks_trace_kthread ksoftirqd/0 rcu_preempt migration/0 - cpuhp/0
"""
_PER_CORE: Final = " cpuhp/{n} migration/{n} ksoftirqd/{n} - kworker/{n}:0H-events_highpri<"
_LATE: Final = """
- - kdevtmpfs inet_frag_wq< kauditd khungtaskd oom_reaper - writeback< kcompactd0 ksmd+5 khugepaged+19
kintegrityd< kblockd< blkcg_punt_bio< tpm_dev_wq< edac-poller< devfreq_wq< - kworker/0:1H-kblockd< kswapd0
- - kthrotld< - acpi_thermal_pm< - mld< ipv6_addrconf< - - kstrp< zswap-shrink< kworker/u{m}:0<
- - ata_sff< scsi_eh_0 scsi_tmf_0< scsi_eh_1 scsi_tmf_1< scsi_eh_2 scsi_tmf_2<
"""
_PER_LATE_CORE: Final = " kworker/{n}:1H-kblockd<"
_LAST: Final = " - jbd2/sda1-8 ext4-rsv-conver<"
"""The threads in the order of their numbers: `<` is a high priority, `+N` a nice value, and `-` a number whose thread has ended."""
_IDLE: Final = ("rcu_", "kworker/")
"""Those that wait without counting for the load, as all with a high priority do."""


class KernelThread(Process):
    """A thread of a machine's kernel."""

    __slots__ = ("_nice",)

    def __init__(
        self, host: ProcessContainer, pid: int, name: str, parent: Process | None, budget: Budget
    ) -> None:
        name, plus, nice = name.partition("+")
        super().__init__(host, pid, pid, [], {}, host.files, {}, budget, None, 0)
        self._nice = int(nice) if plus else HIGH if name.endswith("<") else 0
        self.comm = name.removesuffix("<")
        self.parent = parent
        self.session = self if parent is None else parent.session

    @property
    def nice(self) -> int:
        return self._nice

    @property
    def state(self) -> str:
        return "I" if self._nice == HIGH or self.comm.startswith(_IDLE) else "S"

    @property
    def virtual_bytes(self) -> int:
        return 0

    @property
    def first_socket(self) -> int:
        return 0

    @property
    def visible_parent(self) -> Process | None:
        return self.parent

    def send(self, signal: Signal, outside: bool = False) -> None:
        """Ignore a signal."""

    def _choose_size(self) -> int:
        return 0


def list_kernel_threads(
    host: ProcessContainer, age_s: float, cores: int, pids: PidSpace
) -> dict[int, Process]:
    """Return the threads of a machine by number."""
    budget = Budget(Limits(), host.kernel.now)
    kthreadd = KernelThread(
        host, FIRST_PID, "kthreadd", KernelThread(host, 0, "swapper/0", None, budget), budget
    )
    found: dict[int, Process] = {FIRST_PID: kthreadd}
    begun = [(pid, name, 0.0) for pid, name in enumerate(_list_names(cores), FIRST_PID + 1) if name != "-"]
    begun += [
        (pids.find_fork(fork), name, fork / pids.forks_per_s)
        for name, fork in _list_workers(cores, age_s, pids.forks_per_s)
    ]
    for pid, name, begun_s in begun:
        thread = found[pid] = KernelThread(host, pid, name, kthreadd, budget)
        lived_s = age_s - begun_s
        thread.started_at = host.kernel.now - lived_s
        share = CPU_SHARES.get(thread.name) or CPU_SHARES.get(thread.name.partition("/")[0], 0.0)
        thread.cpu_s = lived_s * share * (0.7 + pid % 7 / 10)
    kthreadd.started_at = host.kernel.now - age_s
    return found


def _list_names(cores: int) -> list[str]:
    others = range(1, cores)
    early = _EARLY + "".join(_PER_CORE.format(n=core) for core in others)
    late = _LATE.format(m=2 * cores + 1) + "".join(_PER_LATE_CORE.format(n=core) for core in others)
    return f"{early}{late}{_LAST}".split()


def _list_workers(cores: int, age_s: float, forks_per_s: float) -> Iterator[tuple[str, int]]:
    """Return the workers of the last minutes, and as which of the machine's forks each began: no two as the same."""
    names = [f"kworker/{core}:{core % 3}-events" for core in range(cores)]
    names += [f"kworker/u{2 * cores}:0-events_unbound", f"kworker/u{2 * cores}:2-flush-8:0"]
    for number, name in enumerate(names):
        period_s = WORKER_PERIOD_S + 37 * number
        forks = int(age_s // period_s * period_s * forks_per_s)
        fork = forks - (forks - number) % len(names)
        if fork > 0:
            yield name, fork
