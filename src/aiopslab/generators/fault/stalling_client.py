"""A program of another team stops Redis for seconds, again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.store_client import StoreClientFault


@fault
@dataclass(frozen=True)
class StallingClient(StoreClientFault):
    """A rehearsal of slow servers was pointed to a server in use, and still runs."""

    seconds: int = draw_from(2, 3, 4)
    pause_s: int = draw_from(1, 2)
    name: ClassVar[str] = "stalling_client"
    roles: ClassVar[tuple[Role, ...]] = ("redis",)
    image: ClassVar[str] = "redis:6.2.4"

    def format_program(self, host: str, port: int) -> str:
        """Let the server sleep."""
        return f"while true; do redis-cli -h {host} -p {port} debug sleep {self.seconds}; sleep {self.pause_s}; done"
