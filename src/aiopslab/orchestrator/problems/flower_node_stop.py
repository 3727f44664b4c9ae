"""Problems of the public AIOpsLab release that wait for Flower."""

from aiopslab.orchestrator.problems.missing import MissingProblem

__all__ = [
    "FlowerNodeStopDetection",
]


class FlowerNodeStopDetection(MissingProblem):
    """Creating it raises ``NotAvailable``."""
