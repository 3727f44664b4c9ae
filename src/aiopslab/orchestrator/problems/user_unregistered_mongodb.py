"""The database user of a service of the hotel application is dropped."""

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.generators.fault.user_unregistered import UserUnregistered
from aiopslab.orchestrator.problems.family import Family

FAMILY = Family(
    "user_unregistered_mongodb",
    HotelReservation,
    (UserUnregistered("mongodb-geo"), UserUnregistered("mongodb-rate")),
)
