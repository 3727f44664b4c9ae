"""A new program beside a cache opens a connection to it in each round and closes none, until the cache takes no more."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Final

from aiopslab.apps import Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.growing import Failure, GrowingFault, Level
from aiopslab.generators.site import DEPLOYMENTS, Site

PORT: Final = 11211
POOL: Final = 30
"""Number of connections that a bounded program opens."""
STATS: Final = f'exec 3<>/dev/tcp/localhost/{PORT}; printf "stats\\r\\nquit\\r\\n" >&3; cat <&3'


@fault
@dataclass(frozen=True)
class ConnectionLeak(GrowingFault):
    """Connections to a memcached pile up."""

    period_s: float = draw_from(4, 6, 8)
    name: ClassVar[str] = "connection_leak"
    roles: ClassVar[tuple[Role, ...]] = ("memcached",)
    failure: ClassVar[Failure] = "connections exhausted"

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """The Deployment of the new program."""
        return ((DEPLOYMENTS, f"{self.target}-warmer"),)

    def release(self, site: Site) -> None:
        """Deploy the program."""
        loop = f"for i in $(seq {POOL})" if self.bounded else "while true"
        connect = f"exec {{fd}}<>/dev/tcp/{self.target}/{PORT}; sleep {self.period_s}"
        image, name = site.get_container(self.target)["image"], self.concerned[0][1]
        site.kubectl(
            f"create deployment {name} --image={image} -- bash -c '{loop}; do {connect}; done; sleep infinity'"
        )

    def measure(self, site: Site) -> Level:
        """Read the numbers of connections from the cache's statistics."""
        stats = dict(
            re.findall(r"STAT (curr_connections|max_connections) (\d+)", site.database(self.target, STATS))
        )
        return Level(int(stats["curr_connections"]), int(stats["max_connections"]))

    def has_failed(self, site: Site) -> bool:
        """Return whether the cache refuses another connection."""
        return "Too many open connections" in site.database(self.target, STATS)
