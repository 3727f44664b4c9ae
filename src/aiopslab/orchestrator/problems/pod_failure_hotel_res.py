"""A pod of the hotel application cannot start its program.

The papers assign no root cause to symptomatic faults, so there is no analysis task.
"""

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.generators.fault.pod_failure import PodFailure
from aiopslab.orchestrator.problems.family import Family
from aiopslab.orchestrator.tasks import WITHOUT_ANALYSIS

FAMILY = Family(
    "pod_failure_hotel_res",
    HotelReservation,
    (PodFailure("user"),),
    tasks=WITHOUT_ANALYSIS,
)
