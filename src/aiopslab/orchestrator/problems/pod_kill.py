"""The problems ``pod_kill_hotel_res`` as classes, under the module path and with the names of the public AIOpsLab release."""

from aiopslab.orchestrator.problems import pod_kill_hotel_res
from aiopslab.orchestrator.problems.problem_classes import define_class
from aiopslab.orchestrator.tasks import DetectionTask, LocalizationTask

__all__ = [
    "PodKillDetection",
    "PodKillLocalization",
]

PodKillDetection = define_class("PodKill", pod_kill_hotel_res.FAMILY, DetectionTask)
PodKillLocalization = define_class("PodKill", pod_kill_hotel_res.FAMILY, LocalizationTask)
