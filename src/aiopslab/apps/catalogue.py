"""The catalogue of applications by name."""

from __future__ import annotations

from typing import Final

from aiopslab.apps.base import Application
from aiopslab.apps.hotelres import HotelReservation
from aiopslab.apps.socialnet import SocialNetwork

APPLICATIONS: Final[dict[str, type[Application]]] = {
    app.name: app for app in (HotelReservation, SocialNetwork)
}


class NoSuchApplication(Exception):
    """There is no application of that name; the message lists all applications."""

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no application '{name}'. Choose one of: {', '.join(APPLICATIONS)}.")


def find_application(name: str) -> Application:
    """Return a new application of that name; raises ``NoSuchApplication``."""
    application = APPLICATIONS.get(name)
    if application is None:
        raise NoSuchApplication(name)
    return application()
