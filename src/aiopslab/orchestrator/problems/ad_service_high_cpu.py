"""Problems of the public AIOpsLab release that wait for the astronomy shop."""

from aiopslab.orchestrator.problems.missing import MissingProblem

__all__ = [
    "AdServiceHighCpuDetection",
    "AdServiceHighCpuLocalization",
]


class AdServiceHighCpuDetection(MissingProblem):
    """Creating it raises ``NotAvailable``."""


class AdServiceHighCpuLocalization(MissingProblem):
    """Creating it raises ``NotAvailable``."""
