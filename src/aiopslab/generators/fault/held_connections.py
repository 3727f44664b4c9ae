"""A program of another team holds all connections that a cache allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.store_client import StoreClientFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class HeldConnections(StoreClientFault):
    """A program opens connections to a cache and closes none, up to the cache's limit of 1024."""

    connections: int = draw_from(1100, 1200, 1500)
    name: ClassVar[str] = "held_connections"
    roles: ClassVar[tuple[Role, ...]] = ("memcached",)
    image: ClassVar[str] = "memcached:1.6"

    def format_program(self, host: str, port: int) -> str:
        """Open the connections, and open them again when they end."""
        each = f"exec $i<>/dev/tcp/{host}/{port}"
        opened = f'for i in $(seq 10 {self.connections}); do eval "{each}"; done; sleep 600'
        return f"while true; do ({opened}); sleep 1; done"

    def inject(self, site: Site) -> None:
        """Deploy the program, and restart the callers, which have connections already."""
        super().inject(site)
        site.run("sleep 15")
        site.restart_callers(self.target)
