"""Problems of the public AIOpsLab release that wait for Flower."""

from aiopslab.orchestrator.problems.missing import MissingProblem

__all__ = [
    "FlowerModelMisconfigDetection",
]


class FlowerModelMisconfigDetection(MissingProblem):
    """Creating it raises ``NotAvailable``."""
