"""The problems ``assign_to_non_existent_node_social_net`` as classes, under the module path and with the names of the public AIOpsLab release."""

from aiopslab.orchestrator.problems import assign_to_non_existent_node_social_net
from aiopslab.orchestrator.problems.problem_classes import define_class
from aiopslab.orchestrator.tasks import AnalysisTask, DetectionTask, LocalizationTask, MitigationTask

__all__ = [
    "AssignNonExistentNodeSocialNetAnalysis",
    "AssignNonExistentNodeSocialNetDetection",
    "AssignNonExistentNodeSocialNetLocalization",
    "AssignNonExistentNodeSocialNetMitigation",
]

AssignNonExistentNodeSocialNetDetection = define_class(
    "AssignNonExistentNodeSocialNet", assign_to_non_existent_node_social_net.FAMILY, DetectionTask
)
AssignNonExistentNodeSocialNetLocalization = define_class(
    "AssignNonExistentNodeSocialNet", assign_to_non_existent_node_social_net.FAMILY, LocalizationTask
)
AssignNonExistentNodeSocialNetAnalysis = define_class(
    "AssignNonExistentNodeSocialNet", assign_to_non_existent_node_social_net.FAMILY, AnalysisTask
)
AssignNonExistentNodeSocialNetMitigation = define_class(
    "AssignNonExistentNodeSocialNet", assign_to_non_existent_node_social_net.FAMILY, MitigationTask
)
