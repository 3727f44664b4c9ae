"""``HotelReservation`` under the module path of the public AIOpsLab release."""

from aiopslab.apps.hotelres import HotelReservation

__all__ = ["HotelReservation"]
