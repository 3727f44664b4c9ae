"""A service of the hotels loses its rights in its database."""

from aiopslab.generators.fault.revoke_auth import RevokeAuth
from aiopslab.orchestrator.problems.family import Family
from aiopslab.service.apps.hotelres import HotelReservation

FAMILY = Family(
    "revoke_auth_mongodb", HotelReservation, (RevokeAuth("mongodb-geo"), RevokeAuth("mongodb-rate"))
)
