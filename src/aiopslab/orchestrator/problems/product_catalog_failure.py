"""Problems of the public AIOpsLab release that wait for the astronomy shop."""

from aiopslab.orchestrator.problems.missing import MissingProblem

__all__ = [
    "ProductCatalogServiceFailureDetection",
    "ProductCatalogServiceFailureLocalization",
]


class ProductCatalogServiceFailureDetection(MissingProblem):
    """Creating it raises ``NotAvailable``."""


class ProductCatalogServiceFailureLocalization(MissingProblem):
    """Creating it raises ``NotAvailable``."""
