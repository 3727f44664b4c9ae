"""The container of a service of the hotels is killed again and again.

The papers give no root cause for what is known by its symptoms only, so none is asked for; and no number to its problems.
"""

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.generators.fault.container_kill import ContainerKill
from aiopslab.orchestrator.problems.family import Family
from aiopslab.orchestrator.tasks import WITHOUT_ANALYSIS

FAMILY = Family(
    "container_kill",
    HotelReservation,
    (ContainerKill("geo"),),
    tasks=WITHOUT_ANALYSIS,
    ids="{family}-{task}",
)
