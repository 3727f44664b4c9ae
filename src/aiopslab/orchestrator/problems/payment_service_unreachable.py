"""Problems of the public AIOpsLab release that wait for the astronomy shop."""

from aiopslab.orchestrator.problems.missing import MissingProblem

__all__ = [
    "PaymentServiceUnreachableDetection",
    "PaymentServiceUnreachableLocalization",
]


class PaymentServiceUnreachableDetection(MissingProblem):
    """Creating it raises ``NotAvailable``."""


class PaymentServiceUnreachableLocalization(MissingProblem):
    """Creating it raises ``NotAvailable``."""
