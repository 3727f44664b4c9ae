"""A Service of the social network has a target port on which no pod listens."""

from aiopslab.apps.socialnet import SocialNetwork
from aiopslab.generators.fault.target_port_misconfig import TargetPortMisconfig
from aiopslab.orchestrator.problems.family import Family
from aiopslab.orchestrator.problems.problem_classes import define_class
from aiopslab.orchestrator.tasks import AnalysisTask, DetectionTask, LocalizationTask, MitigationTask

FAMILY = Family(
    "k8s_target_port-misconfig",
    SocialNetwork,
    (
        TargetPortMisconfig("user-service"),
        TargetPortMisconfig("text-service"),
        TargetPortMisconfig("post-storage-service"),
    ),
)

K8STargetPortMisconfigDetection = define_class("K8STargetPortMisconfig", FAMILY, DetectionTask)
K8STargetPortMisconfigLocalization = define_class("K8STargetPortMisconfig", FAMILY, LocalizationTask)
K8STargetPortMisconfigAnalysis = define_class("K8STargetPortMisconfig", FAMILY, AnalysisTask)
K8STargetPortMisconfigMitigation = define_class("K8STargetPortMisconfig", FAMILY, MitigationTask)
