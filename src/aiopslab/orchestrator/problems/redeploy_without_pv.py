"""The hotel application is redeployed while the volumes of the old deployment remain."""

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.generators.fault.redeploy_without_pv import RedeployWithoutPV
from aiopslab.orchestrator.problems.family import Family
from aiopslab.orchestrator.problems.problem_classes import define_class
from aiopslab.orchestrator.tasks import AnalysisTask, DetectionTask, LocalizationTask, MitigationTask

FAMILY = Family("redeploy_without_PV", HotelReservation, (RedeployWithoutPV(),))

RedeployWithoutPVDetection = define_class("RedeployWithoutPV", FAMILY, DetectionTask)
RedeployWithoutPVLocalization = define_class("RedeployWithoutPV", FAMILY, LocalizationTask)
RedeployWithoutPVAnalysis = define_class("RedeployWithoutPV", FAMILY, AnalysisTask)
RedeployWithoutPVMitigation = define_class("RedeployWithoutPV", FAMILY, MitigationTask)
