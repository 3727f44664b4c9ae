"""Applications of the public AIOpsLab release that do not exist here yet."""

from __future__ import annotations

from typing import ClassVar

from aiopslab.utils import NotAvailable


class MissingApplication:
    """An application that does not exist here; creating it raises ``NotAvailable``."""

    title: ClassVar[str]

    def __init__(self) -> None:
        raise NotAvailable(
            f"{self.title} is not available yet. Use HotelReservation or SocialNetwork, or describe an application of your own "
            "in a JSON file (aiopslab.service.apps.base.Application)."
        )
