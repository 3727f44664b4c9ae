"""A container beside a service starts a worker process for each round and never ends one, until its memory limit is reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.growing import Failure, Level, SidecarFault
from aiopslab.generators.site import Site

LIMIT_MIB: Final = 512
KEPT_S: Final = 180
"""Lifetime of a worker that does end."""
KILLED: Final = '[.items[].status.containerStatuses[]? | select(.name == "{name}" and .lastState.terminated.reason == "OOMKilled")]'


@fault
@dataclass(frozen=True)
class WorkerLeak(SidecarFault):
    """Worker processes of a new container pile up."""

    period_s: int = draw_from(16, 20, 24)
    name: ClassVar[str] = "worker_leak"
    failure: ClassVar[Failure] = "out of memory"
    container: ClassVar[str] = "usage-report"

    def release(self, site: Site) -> None:
        """Start a worker in each round."""
        worker = f"sleep {KEPT_S}" if self.bounded else "tail -f /dev/null"
        limits = {"limits": {"memory": f"{LIMIT_MIB}Mi"}}
        self.add_container(site, f"while true; do {worker} & sleep {self.period_s}; done", resources=limits)

    def measure(self, site: Site) -> Level:
        """Read the memory of the container's control group."""
        return Level(self.read_number(site, "cat /sys/fs/cgroup/memory.current") / 2**20, LIMIT_MIB)

    def has_failed(self, site: Site) -> bool:
        """Return whether the container was killed for its memory."""
        filtered = KILLED.replace("{name}", self.container)
        return site.kubectl(f"get pods -o json | jq '{filtered} | length'") != "0\n"
