"""Problems of the public AIOpsLab release that wait for the astronomy shop."""

from aiopslab.orchestrator.problems.missing import MissingProblem

__all__ = [
    "PaymentServiceFailureDetection",
    "PaymentServiceFailureLocalization",
]


class PaymentServiceFailureDetection(MissingProblem):
    """Creating it raises ``NotAvailable``."""


class PaymentServiceFailureLocalization(MissingProblem):
    """Creating it raises ``NotAvailable``."""
