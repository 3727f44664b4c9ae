"""A Service of the social network has a target port on which no pod listens."""

from aiopslab.apps.socialnet import SocialNetwork
from aiopslab.generators.fault.target_port_misconfig import TargetPortMisconfig
from aiopslab.orchestrator.problems.family import Family

FAMILY = Family(
    "k8s_target_port-misconfig",
    SocialNetwork,
    (
        TargetPortMisconfig("user-service"),
        TargetPortMisconfig("text-service"),
        TargetPortMisconfig("post-storage-service"),
    ),
)
