"""The pods of a service of the hotel application are killed repeatedly.

The papers assign no root cause to symptomatic faults, so there is no analysis task.
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
