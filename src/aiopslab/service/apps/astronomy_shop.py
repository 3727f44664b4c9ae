"""``AstronomyShop`` of the public AIOpsLab release, which is not available yet."""

from aiopslab.service.apps.missing import MissingApplication


class AstronomyShop(MissingApplication):
    """Creating it raises ``NotAvailable``."""

    title = "The astronomy shop"
