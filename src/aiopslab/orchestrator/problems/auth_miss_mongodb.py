"""A database of the social network requires TLS, and its client has no certificate."""

from aiopslab.apps.socialnet import SocialNetwork
from aiopslab.generators.fault.auth_miss_mongodb import AuthMissMongodb
from aiopslab.orchestrator.problems.family import Family
from aiopslab.orchestrator.problems.problem_classes import define_class
from aiopslab.orchestrator.tasks import AnalysisTask, DetectionTask, LocalizationTask, MitigationTask

FAMILY = Family("auth_miss_mongodb", SocialNetwork, (AuthMissMongodb("url-shorten-mongodb"),))

MongoDBAuthMissingDetection = define_class("MongoDBAuthMissing", FAMILY, DetectionTask)
MongoDBAuthMissingLocalization = define_class("MongoDBAuthMissing", FAMILY, LocalizationTask)
MongoDBAuthMissingAnalysis = define_class("MongoDBAuthMissing", FAMILY, AnalysisTask)
MongoDBAuthMissingMitigation = define_class("MongoDBAuthMissing", FAMILY, MitigationTask)
