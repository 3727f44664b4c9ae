"""The problems ``scale_pod_zero_social_net`` as classes, under the module path and with the names of the public AIOpsLab release."""

from aiopslab.orchestrator.problems import scale_pod_zero_social_net
from aiopslab.orchestrator.problems.problem_classes import define_class
from aiopslab.orchestrator.tasks import AnalysisTask, DetectionTask, LocalizationTask, MitigationTask

__all__ = [
    "ScalePodSocialNetAnalysis",
    "ScalePodSocialNetDetection",
    "ScalePodSocialNetLocalization",
    "ScalePodSocialNetMitigation",
]

ScalePodSocialNetDetection = define_class(
    "ScalePodSocialNet", scale_pod_zero_social_net.FAMILY, DetectionTask
)
ScalePodSocialNetLocalization = define_class(
    "ScalePodSocialNet", scale_pod_zero_social_net.FAMILY, LocalizationTask
)
ScalePodSocialNetAnalysis = define_class("ScalePodSocialNet", scale_pod_zero_social_net.FAMILY, AnalysisTask)
ScalePodSocialNetMitigation = define_class(
    "ScalePodSocialNet", scale_pod_zero_social_net.FAMILY, MitigationTask
)
