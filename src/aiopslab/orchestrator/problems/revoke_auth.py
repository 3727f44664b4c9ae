"""The problems ``revoke_auth_mongodb`` as classes, under the module path and with the names of the public AIOpsLab release."""

from aiopslab.orchestrator.problems import revoke_auth_mongodb
from aiopslab.orchestrator.problems.problem_classes import define_class
from aiopslab.orchestrator.tasks import AnalysisTask, DetectionTask, LocalizationTask, MitigationTask

__all__ = [
    "MongoDBRevokeAuthAnalysis",
    "MongoDBRevokeAuthDetection",
    "MongoDBRevokeAuthLocalization",
    "MongoDBRevokeAuthMitigation",
]

MongoDBRevokeAuthDetection = define_class("MongoDBRevokeAuth", revoke_auth_mongodb.FAMILY, DetectionTask)
MongoDBRevokeAuthLocalization = define_class(
    "MongoDBRevokeAuth", revoke_auth_mongodb.FAMILY, LocalizationTask
)
MongoDBRevokeAuthAnalysis = define_class("MongoDBRevokeAuth", revoke_auth_mongodb.FAMILY, AnalysisTask)
MongoDBRevokeAuthMitigation = define_class("MongoDBRevokeAuth", revoke_auth_mongodb.FAMILY, MitigationTask)
