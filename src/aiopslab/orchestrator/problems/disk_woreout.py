"""The disk under a database of the hotels takes no more writes."""

from aiopslab.generators.fault.disk_woreout import DiskWoreout
from aiopslab.orchestrator.problems.family import Family
from aiopslab.service.apps.hotelres import HotelReservation

FAMILY = Family("disk_woreout", HotelReservation, (DiskWoreout("mongodb-reservation"),))
