"""A service of the social network is assigned to a node that does not exist."""

from aiopslab.apps.socialnet import SocialNetwork
from aiopslab.generators.fault.assign_to_non_existent_node import AssignToNonExistentNode
from aiopslab.orchestrator.problems.family import Family

FAMILY = Family(
    "assign_to_non_existent_node_social_net", SocialNetwork, (AssignToNonExistentNode("user-service"),)
)
