"""The hotels on a living cluster."""

from __future__ import annotations

from aiopslab.apps.hotelres import HotelReservation
from tests.aiopslab.apps.living import LivingApplication

NEARBY = "/hotels?inDate=2015-04-09&outDate=2015-04-10&lat=37.7867&lon=-122.4112"


class Living(LivingApplication):
    """The hotels, a user of theirs and an operator."""

    def __init__(self, seed: int = 5, nodes: int = 2) -> None:
        super().__init__(HotelReservation(), seed, nodes)
