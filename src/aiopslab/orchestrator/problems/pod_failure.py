"""The problems ``pod_failure_hotel_res`` as classes, under the module path and with the names of the public AIOpsLab release."""

from aiopslab.orchestrator.problems import pod_failure_hotel_res
from aiopslab.orchestrator.problems.problem_classes import define_class
from aiopslab.orchestrator.tasks import DetectionTask, LocalizationTask

__all__ = [
    "PodFailureDetection",
    "PodFailureLocalization",
]

PodFailureDetection = define_class("PodFailure", pod_failure_hotel_res.FAMILY, DetectionTask)
PodFailureLocalization = define_class("PodFailure", pod_failure_hotel_res.FAMILY, LocalizationTask)
