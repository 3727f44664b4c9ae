"""A service of the hotels runs another one's program."""

from aiopslab.generators.fault.wrong_bin_usage import WrongBinUsage
from aiopslab.orchestrator.problems.family import Family
from aiopslab.service.apps.hotelres import HotelReservation

FAMILY = Family("wrong_bin_usage", HotelReservation, (WrongBinUsage("profile"),))
