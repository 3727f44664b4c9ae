"""The problems ``network_delay_hotel_res`` as classes, under the module path and with the names of the public AIOpsLab release."""

from aiopslab.orchestrator.problems import network_delay_hotel_res
from aiopslab.orchestrator.problems.problem_classes import define_class
from aiopslab.orchestrator.tasks import DetectionTask, LocalizationTask

__all__ = [
    "NetworkDelayDetection",
    "NetworkDelayLocalization",
]

NetworkDelayDetection = define_class("NetworkDelay", network_delay_hotel_res.FAMILY, DetectionTask)
NetworkDelayLocalization = define_class("NetworkDelay", network_delay_hotel_res.FAMILY, LocalizationTask)
