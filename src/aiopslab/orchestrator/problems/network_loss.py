"""The problems ``network_loss_hotel_res`` as classes, under the module path and with the names of the public AIOpsLab release."""

from aiopslab.orchestrator.problems import network_loss_hotel_res
from aiopslab.orchestrator.problems.problem_classes import define_class
from aiopslab.orchestrator.tasks import DetectionTask, LocalizationTask

__all__ = [
    "NetworkLossDetection",
    "NetworkLossLocalization",
]

NetworkLossDetection = define_class("NetworkLoss", network_loss_hotel_res.FAMILY, DetectionTask)
NetworkLossLocalization = define_class("NetworkLoss", network_loss_hotel_res.FAMILY, LocalizationTask)
