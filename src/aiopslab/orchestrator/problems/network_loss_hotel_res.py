"""Most packets to a service of the hotels vanish.

What is asked is whether, where, and to repair it; the papers give no root cause for what is known by its symptoms only.
"""

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.generators.fault.network_loss import NetworkLoss
from aiopslab.orchestrator.problems.family import Family
from aiopslab.orchestrator.tasks import WITHOUT_ANALYSIS

FAMILY = Family(
    "network_loss_hotel_res",
    HotelReservation,
    (NetworkLoss("user"),),
    tasks=WITHOUT_ANALYSIS,
)
