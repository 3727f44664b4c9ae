"""The application's database user loses its role, so its service cannot start again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import GroundTruth, fault
from aiopslab.generators.fault.hotel_database import USER, DatabaseUserFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class RevokeAuth(DatabaseUserFault):
    """An operator revokes a role that is still needed in a database of HotelReservation."""

    name: ClassVar[str] = "revoke_auth"

    @property
    def truth(self) -> GroundTruth:
        """Missing rights in the database; the service that needs them is also accepted."""
        also = ("Operation Error",)
        return GroundTruth(
            self.database, "Application", "Authentication Issue", (self.service,), also_fault_types=also
        )

    def inject(self, site: Site) -> None:
        """Revoke the role and restart the service."""
        self.run_script(site, f'db.revokeRolesFromUser("{USER}", [{self.role}])')
        self.restart(site)

    def recover(self, site: Site) -> None:
        """Grant the role again and restart the service, rather than wait for its back-off."""
        self.await_database(site)
        self.run_script(site, f'db.grantRolesToUser("{USER}", [{self.role}])')
        self.restart(site)
