"""A pod of the hotels cannot start its program.

The papers give no root cause for what is known by its symptoms only, so none is asked for.
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
