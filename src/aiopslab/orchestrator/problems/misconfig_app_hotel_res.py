"""A bad release of a service of the hotels."""

from aiopslab.generators.fault.misconfig_app import MisconfigApp
from aiopslab.orchestrator.problems.family import Family
from aiopslab.service.apps.hotelres import HotelReservation

FAMILY = Family("misconfig_app_hotel_res", HotelReservation, (MisconfigApp("geo"),))
