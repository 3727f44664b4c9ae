"""The problems ``kernel_fault_hotel_reservation`` as classes, under the module path and with the names of the public AIOpsLab release."""

from aiopslab.orchestrator.problems import kernel_fault_hotel_reservation
from aiopslab.orchestrator.problems.problem_classes import define_class
from aiopslab.orchestrator.tasks import DetectionTask, LocalizationTask

__all__ = [
    "KernelFaultDetection",
    "KernelFaultLocalization",
]

KernelFaultDetection = define_class("KernelFault", kernel_fault_hotel_reservation.FAMILY, DetectionTask)
KernelFaultLocalization = define_class("KernelFault", kernel_fault_hotel_reservation.FAMILY, LocalizationTask)
