"""The application's database user loses the right to its own database; its service cannot start again without."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import GroundTruth, fault
from aiopslab.generators.fault.hotel_database import USER, DatabaseUserFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class RevokeAuth(DatabaseUserFault):
    """Somebody cleans up rights in a database of HotelReservation."""

    name: ClassVar[str] = "revoke_auth"

    @property
    def truth(self) -> GroundTruth:
        """Missing rights, in the database; the service that needs them is right, too."""
        return GroundTruth(self.database, "Application", "Authentication Issue", (self.service,))

    def inject(self, site: Site) -> None:
        """Take the role away, and have the service start anew."""
        self.ask(site, f'db.revokeRolesFromUser("{USER}", [{self.role}])')
        self.restart(site)

    def recover(self, site: Site) -> None:
        """Give the role back, and have the service start anew now rather than after its pause."""
        self.await_database(site)
        self.ask(site, f'db.grantRolesToUser("{USER}", [{self.role}])')
        self.restart(site)
