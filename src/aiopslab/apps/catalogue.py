"""The applications there are, by name."""

from __future__ import annotations

from typing import Final

from aiopslab.apps.base import Application
from aiopslab.apps.hotelres import HotelReservation
from aiopslab.apps.socialnet import SocialNetwork

APPLICATIONS: Final[dict[str, type[Application]]] = {
    app.name: app for app in (HotelReservation, SocialNetwork)
}


class NoSuchApplication(Exception):
    """A name that no application has; the sentence lists those that there are."""

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no application '{name}'. Choose one of: {', '.join(APPLICATIONS)}.")


def application(name: str) -> Application:
    """The application of a name; raises ``NoSuchApplication``."""
    found = APPLICATIONS.get(name)
    if found is None:
        raise NoSuchApplication(name)
    return found()
