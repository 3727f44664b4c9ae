"""A service of the hotel application runs another service's program."""

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.generators.fault.wrong_bin_usage import WrongBinUsage
from aiopslab.orchestrator.problems.family import Family

FAMILY = Family("wrong_bin_usage", HotelReservation, (WrongBinUsage("profile"),))
