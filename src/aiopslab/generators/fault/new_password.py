"""Redis demands a password that its callers do not send."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.store import StoreFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class NewPassword(StoreFault):
    """After an audit, somebody sets a password in the running server. Its callers have none."""

    password: str = draw_from("m4ple-ridge", "Sommer2026", "w9Kx27Lq", "only-friends-1")
    name: ClassVar[str] = "new_password"
    roles: ClassVar[tuple[Role, ...]] = ("redis",)
    fault_type: ClassVar[str] = "Authentication Issue"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Misconfiguration", "Operation Error")
    restart_repairs: ClassVar[bool] = True

    def inject(self, site: Site) -> None:
        """Set the password."""
        site.database(self.target, f"config set requirepass {self.password}")

    def recover(self, site: Site) -> None:
        """Restart the server, whose configuration has no password."""
        if self.present(site):
            site.restart(self.target)
            site.wait_until_ready(self.target)

    def present(self, site: Site) -> bool:
        """Return whether the server refuses clients without a password."""
        return "PONG" not in site.database(self.target, "ping")
