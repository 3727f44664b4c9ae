"""Problems of the public AIOpsLab release that wait for the astronomy shop."""

from aiopslab.orchestrator.problems.missing import MissingProblem

__all__ = [
    "LoadGeneratorFloodHomepageDetection",
    "LoadGeneratorFloodHomepageLocalization",
]


class LoadGeneratorFloodHomepageDetection(MissingProblem):
    """Creating it raises ``NotAvailable``."""


class LoadGeneratorFloodHomepageLocalization(MissingProblem):
    """Creating it raises ``NotAvailable``."""
