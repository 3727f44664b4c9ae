"""The disk of a database of the hotel application rejects writes."""

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.generators.fault.disk_woreout import DiskWoreout
from aiopslab.orchestrator.problems.family import Family
from aiopslab.orchestrator.problems.problem_classes import define_class
from aiopslab.orchestrator.tasks import DetectionTask, LocalizationTask

FAMILY = Family("disk_woreout", HotelReservation, (DiskWoreout("mongodb-reservation"),))

DiskWoreoutDetection = define_class("DiskWoreout", FAMILY, DetectionTask)
DiskWoreoutLocalization = define_class("DiskWoreout", FAMILY, LocalizationTask)
