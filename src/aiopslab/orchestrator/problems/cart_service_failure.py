"""Problems of the public AIOpsLab release that wait for the astronomy shop."""

from aiopslab.orchestrator.problems.missing import MissingProblem

__all__ = [
    "CartServiceFailureDetection",
    "CartServiceFailureLocalization",
]


class CartServiceFailureDetection(MissingProblem):
    """Creating it raises ``NotAvailable``."""


class CartServiceFailureLocalization(MissingProblem):
    """Creating it raises ``NotAvailable``."""
