"""``FlightTicket`` of the public AIOpsLab release, which is not available yet."""

from aiopslab.service.apps.missing import MissingApplication


class FlightTicket(MissingApplication):
    """Creating it raises ``NotAvailable``."""

    title = "The flight booking application"
