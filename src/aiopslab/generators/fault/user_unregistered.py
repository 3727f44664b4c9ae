"""The application's user is dropped from its database, so its service cannot log in when it restarts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import GroundTruth, fault
from aiopslab.generators.fault.hotel_database import USER, DatabaseUserFault
from aiopslab.generators.site import Site

ALL_USERS = '{role: "userAdminAnyDatabase", db: "admin"}'
"""The second role that the user has since the application was installed."""


@fault
@dataclass(frozen=True)
class UserUnregistered(DatabaseUserFault):
    """An operator drops a user that is still needed in a database of HotelReservation."""

    name: ClassVar[str] = "user_unregistered"
    known_as: ClassVar[str] = "storage_user_unregistered"

    @property
    def truth(self) -> GroundTruth:
        """The papers' label, in the database; what an engineer would call it is also accepted."""
        others = ("Authentication Issue", "Operation Error")
        return GroundTruth(self.database, "Application", "Network/Storage Issue", also_fault_types=others)

    def inject(self, site: Site) -> None:
        """Drop the user and restart the service."""
        self.run_script(site, f'db.dropUser("{USER}")')
        self.restart(site)

    def recover(self, site: Site) -> None:
        """Recreate the user with its original roles and restart the service."""
        self.await_database(site)
        user = f'{{user: "{USER}", pwd: "{USER}", roles: [{ALL_USERS}, {self.role}]}}'
        self.run_script(site, f'db.dropUser("{USER}"); db.createUser({user})')
        self.restart(site)
