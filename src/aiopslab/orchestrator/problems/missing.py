"""Problems of the public AIOpsLab release whose application does not exist here yet, by their ids and class names."""

from __future__ import annotations

from typing import Final

from aiopslab.utils import NotAvailable

MISSING: Final = {
    "astronomy_shop_": "the astronomy shop",
    "noop_detection_astronomy_shop": "the astronomy shop",
    "flower_": "Flower",
    "operator_": "TiDB with its operator",
}
"""The application that a problem waits for, by the beginning of the problem's id."""


def find_missing_application(problem_id: str) -> str:
    """Return the application that a problem of the public release waits for; empty for all others."""
    return next((app for start, app in MISSING.items() if problem_id.startswith(start)), "")


class MissingProblem:
    """A problem whose application does not exist here; creating it raises ``NotAvailable``."""

    def __init__(self, *_given: object, **_named: object) -> None:
        raise NotAvailable(
            f"{type(self).__name__} waits for its application, which is not available yet. 'aiopslab list' shows the problems "
            "of HotelReservation and SocialNetwork."
        )
