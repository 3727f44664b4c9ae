"""Problems of the public AIOpsLab release that wait for the astronomy shop."""

from aiopslab.orchestrator.problems.missing import MissingProblem

__all__ = [
    "AdServiceFailureDetection",
    "AdServiceFailureLocalization",
]


class AdServiceFailureDetection(MissingProblem):
    """Creating it raises ``NotAvailable``."""


class AdServiceFailureLocalization(MissingProblem):
    """Creating it raises ``NotAvailable``."""
