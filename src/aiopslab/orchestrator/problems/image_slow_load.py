"""Problems of the public AIOpsLab release that wait for the astronomy shop."""

from aiopslab.orchestrator.problems.missing import MissingProblem

__all__ = [
    "ImageSlowLoadDetection",
    "ImageSlowLoadLocalization",
]


class ImageSlowLoadDetection(MissingProblem):
    """Creating it raises ``NotAvailable``."""


class ImageSlowLoadLocalization(MissingProblem):
    """Creating it raises ``NotAvailable``."""
