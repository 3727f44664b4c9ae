"""Most packets to a service of the hotels vanish.

What is asked is whether, where, and to repair it; the papers give no root cause for what is known by its symptoms only.
"""

from aiopslab.generators.fault.network_loss import NetworkLoss
from aiopslab.orchestrator.problems.family import Family
from aiopslab.orchestrator.tasks import WITHOUT_ANALYSIS
from aiopslab.service.apps.hotelres import HotelReservation

FAMILY = Family(
    "network_loss_hotel_res",
    HotelReservation,
    (NetworkLoss("user"),),
    tasks=WITHOUT_ANALYSIS,
)
