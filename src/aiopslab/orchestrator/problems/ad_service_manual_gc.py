"""Problems of the public AIOpsLab release that wait for the astronomy shop."""

from aiopslab.orchestrator.problems.missing import MissingProblem

__all__ = [
    "AdServiceManualGcDetection",
    "AdServiceManualGcLocalization",
]


class AdServiceManualGcDetection(MissingProblem):
    """Creating it raises ``NotAvailable``."""


class AdServiceManualGcLocalization(MissingProblem):
    """Creating it raises ``NotAvailable``."""
