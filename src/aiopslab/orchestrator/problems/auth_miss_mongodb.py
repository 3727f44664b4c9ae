"""A database of the social network wants encryption, and its client knows nothing of it."""

from aiopslab.generators.fault.auth_miss_mongodb import AuthMissMongodb
from aiopslab.orchestrator.problems.family import Family
from aiopslab.service.apps.socialnet import SocialNetwork

FAMILY = Family("auth_miss_mongodb", SocialNetwork, (AuthMissMongodb("url-shorten-mongodb"),))
