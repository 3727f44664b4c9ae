"""Problems of the public AIOpsLab release that wait for the astronomy shop."""

from aiopslab.orchestrator.problems.missing import MissingProblem

__all__ = [
    "RecommendationServiceCacheFailureDetection",
    "RecommendationServiceCacheFailureLocalization",
]


class RecommendationServiceCacheFailureDetection(MissingProblem):
    """Creating it raises ``NotAvailable``."""


class RecommendationServiceCacheFailureLocalization(MissingProblem):
    """Creating it raises ``NotAvailable``."""
