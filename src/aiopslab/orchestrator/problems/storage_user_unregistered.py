"""The problems ``user_unregistered_mongodb`` as classes, under the module path and with the names of the public AIOpsLab release."""

from aiopslab.orchestrator.problems import user_unregistered_mongodb
from aiopslab.orchestrator.problems.problem_classes import define_class
from aiopslab.orchestrator.tasks import AnalysisTask, DetectionTask, LocalizationTask, MitigationTask

__all__ = [
    "MongoDBUserUnregisteredAnalysis",
    "MongoDBUserUnregisteredDetection",
    "MongoDBUserUnregisteredLocalization",
    "MongoDBUserUnregisteredMitigation",
]

MongoDBUserUnregisteredDetection = define_class(
    "MongoDBUserUnregistered", user_unregistered_mongodb.FAMILY, DetectionTask
)
MongoDBUserUnregisteredLocalization = define_class(
    "MongoDBUserUnregistered", user_unregistered_mongodb.FAMILY, LocalizationTask
)
MongoDBUserUnregisteredAnalysis = define_class(
    "MongoDBUserUnregistered", user_unregistered_mongodb.FAMILY, AnalysisTask
)
MongoDBUserUnregisteredMitigation = define_class(
    "MongoDBUserUnregistered", user_unregistered_mongodb.FAMILY, MitigationTask
)
