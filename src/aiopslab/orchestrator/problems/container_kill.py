"""A container of the hotel application is killed repeatedly.

The papers assign no root cause to symptomatic faults, so there is no analysis task, and the ids have no number.
"""

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.generators.fault.container_kill import ContainerKill
from aiopslab.orchestrator.problems.family import Family
from aiopslab.orchestrator.problems.problem_classes import define_class
from aiopslab.orchestrator.tasks import WITHOUT_ANALYSIS, DetectionTask, LocalizationTask

FAMILY = Family(
    "container_kill",
    HotelReservation,
    (ContainerKill("geo"),),
    tasks=WITHOUT_ANALYSIS,
    ids="{family}-{task}",
)

ContainerKillDetection = define_class("ContainerKill", FAMILY, DetectionTask)
ContainerKillLocalization = define_class("ContainerKill", FAMILY, LocalizationTask)
