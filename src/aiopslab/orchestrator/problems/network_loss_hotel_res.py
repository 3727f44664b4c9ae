"""Most packets to a service of the hotel application are lost.

The papers assign no root cause to symptomatic faults, so there is no analysis task.
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
