"""A service of the hotel application loses its role in its database."""

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.generators.fault.revoke_auth import RevokeAuth
from aiopslab.orchestrator.problems.family import Family

FAMILY = Family(
    "revoke_auth_mongodb", HotelReservation, (RevokeAuth("mongodb-geo"), RevokeAuth("mongodb-rate"))
)
