"""A database of the social network requires TLS, and its client has no certificate."""

from aiopslab.apps.socialnet import SocialNetwork
from aiopslab.generators.fault.auth_miss_mongodb import AuthMissMongodb
from aiopslab.orchestrator.problems.family import Family

FAMILY = Family("auth_miss_mongodb", SocialNetwork, (AuthMissMongodb("url-shorten-mongodb"),))
