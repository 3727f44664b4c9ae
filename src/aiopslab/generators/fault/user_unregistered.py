"""The application's user is dropped from its database; its service cannot log in when it starts again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import GroundTruth, fault
from aiopslab.generators.fault.hotel_database import USER, DatabaseUserFault
from aiopslab.generators.site import Site

ALL_USERS = '{role: "userAdminAnyDatabase", db: "admin"}'
"""What the user may do besides using its own database, since the application was installed."""


@fault
@dataclass(frozen=True)
class UserUnregistered(DatabaseUserFault):
    """Somebody cleans up users in a database of HotelReservation."""

    name: ClassVar[str] = "user_unregistered"

    @property
    def truth(self) -> GroundTruth:
        """Trouble with storage, as the papers call it, in the database."""
        return GroundTruth(self.database, "Application", "Network/Storage Issue")

    def inject(self, site: Site) -> None:
        """Drop the user, and have the service start anew."""
        self.ask(site, f'db.dropUser("{USER}")')
        self.restart(site)

    def recover(self, site: Site) -> None:
        """Create the user as it was, whatever there is by its name now, and have the service start anew."""
        self.await_database(site)
        created = f'{{user: "{USER}", pwd: "{USER}", roles: [{ALL_USERS}, {self.role}]}}'
        self.ask(site, f'db.dropUser("{USER}"); db.createUser({created})')
        self.restart(site)
