"""The pods of a service of the hotels are killed again and again.

The papers give no root cause for what is known by its symptoms only, so none is asked for.
"""

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.generators.fault.pod_kill import PodKill
from aiopslab.orchestrator.problems.family import Family
from aiopslab.orchestrator.tasks import WITHOUT_ANALYSIS

FAMILY = Family(
    "pod_kill_hotel_res",
    HotelReservation,
    (PodKill("user"),),
    tasks=WITHOUT_ANALYSIS,
)
