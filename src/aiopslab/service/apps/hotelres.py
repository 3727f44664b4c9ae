"""``HotelReservation`` under the module path of the public AIOpsLab release."""

from __future__ import annotations

from aiopslab.apps import hotelres
from aiopslab.service.apps.deployable import Deployable


class HotelReservation(hotelres.HotelReservation, Deployable):
    """The hotel reservation application, which scripts can deploy and delete."""
