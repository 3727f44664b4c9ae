"""A service of the hotels is no longer known to its database."""

from aiopslab.generators.fault.user_unregistered import UserUnregistered
from aiopslab.orchestrator.problems.family import Family
from aiopslab.service.apps.hotelres import HotelReservation

FAMILY = Family(
    "user_unregistered_mongodb",
    HotelReservation,
    (UserUnregistered("mongodb-geo"), UserUnregistered("mongodb-rate")),
)
