"""The disk of a database of the hotel application rejects writes."""

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.generators.fault.disk_woreout import DiskWoreout
from aiopslab.orchestrator.problems.family import Family

FAMILY = Family("disk_woreout", HotelReservation, (DiskWoreout("mongodb-reservation"),))
