"""What a service of the hotels sends comes late.

The papers give no root cause for what is known by its symptoms only, so none is asked for.
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
