"""Problems of the public AIOpsLab release that wait for the astronomy shop."""

from aiopslab.orchestrator.problems.missing import MissingProblem

__all__ = [
    "KafkaQueueProblemsDetection",
    "KafkaQueueProblemsLocalization",
    "KafkaQueueProblemsMitigation",
]


class KafkaQueueProblemsDetection(MissingProblem):
    """Creating it raises ``NotAvailable``."""


class KafkaQueueProblemsLocalization(MissingProblem):
    """Creating it raises ``NotAvailable``."""


class KafkaQueueProblemsMitigation(MissingProblem):
    """Creating it raises ``NotAvailable``."""
