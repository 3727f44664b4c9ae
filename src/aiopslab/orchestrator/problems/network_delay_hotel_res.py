"""The packets of a service of the hotel application are delayed.

The papers assign no root cause to symptomatic faults, so there is no analysis task.
"""

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.generators.fault.network_delay import NetworkDelay
from aiopslab.orchestrator.problems.family import Family
from aiopslab.orchestrator.tasks import WITHOUT_ANALYSIS

FAMILY = Family(
    "network_delay_hotel_res",
    HotelReservation,
    (NetworkDelay("user"),),
    tasks=WITHOUT_ANALYSIS,
)
