"""The problems ``misconfig_app_hotel_res`` as classes, under the module path and with the names of the public AIOpsLab release."""

from aiopslab.orchestrator.problems import misconfig_app_hotel_res
from aiopslab.orchestrator.problems.problem_classes import define_class
from aiopslab.orchestrator.tasks import AnalysisTask, DetectionTask, LocalizationTask, MitigationTask

__all__ = [
    "MisconfigAppHotelResAnalysis",
    "MisconfigAppHotelResDetection",
    "MisconfigAppHotelResLocalization",
    "MisconfigAppHotelResMitigation",
]

MisconfigAppHotelResDetection = define_class(
    "MisconfigAppHotelRes", misconfig_app_hotel_res.FAMILY, DetectionTask
)
MisconfigAppHotelResLocalization = define_class(
    "MisconfigAppHotelRes", misconfig_app_hotel_res.FAMILY, LocalizationTask
)
MisconfigAppHotelResAnalysis = define_class(
    "MisconfigAppHotelRes", misconfig_app_hotel_res.FAMILY, AnalysisTask
)
MisconfigAppHotelResMitigation = define_class(
    "MisconfigAppHotelRes", misconfig_app_hotel_res.FAMILY, MitigationTask
)
