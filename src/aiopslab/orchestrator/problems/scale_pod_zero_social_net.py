"""A service of the social network is scaled to zero."""

from aiopslab.apps.socialnet import SocialNetwork
from aiopslab.generators.fault.scale_pod_zero import ScalePodZero
from aiopslab.orchestrator.problems.family import Family

FAMILY = Family("scale_pod_zero_social_net", SocialNetwork, (ScalePodZero("user-service"),))
