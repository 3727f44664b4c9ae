"""A service of the hotel application runs another service's program."""

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.generators.fault.wrong_bin_usage import WrongBinUsage
from aiopslab.orchestrator.problems.family import Family
from aiopslab.orchestrator.problems.problem_classes import define_class
from aiopslab.orchestrator.tasks import AnalysisTask, DetectionTask, LocalizationTask, MitigationTask

FAMILY = Family("wrong_bin_usage", HotelReservation, (WrongBinUsage("profile"),))

WrongBinUsageDetection = define_class("WrongBinUsage", FAMILY, DetectionTask)
WrongBinUsageLocalization = define_class("WrongBinUsage", FAMILY, LocalizationTask)
WrongBinUsageAnalysis = define_class("WrongBinUsage", FAMILY, AnalysisTask)
WrongBinUsageMitigation = define_class("WrongBinUsage", FAMILY, MitigationTask)
