"""HotelReservation: the application, its services and its data."""

from aiopslab.apps.hotelres.application import HotelReservation

__all__ = ["HotelReservation"]
