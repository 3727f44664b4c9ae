"""A service of the hotel application runs a bad release."""

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.generators.fault.misconfig_app import MisconfigApp
from aiopslab.orchestrator.problems.family import Family

FAMILY = Family("misconfig_app_hotel_res", HotelReservation, (MisconfigApp("geo"),))
