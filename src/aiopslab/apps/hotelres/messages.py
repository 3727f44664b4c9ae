"""What the services say to each other: the protocol buffers of the application."""

from __future__ import annotations

from typing import Any, NamedTuple


class Point(NamedTuple):
    """A place that somebody asks about; geo.Nearby."""

    lat: float
    lon: float


class Stay(NamedTuple):
    """A place and the nights; search.Nearby."""

    lat: float
    lon: float
    in_date: str
    out_date: str


class RatesWanted(NamedTuple):
    """Hotels and the nights; rate.GetRates."""

    hotels: list[str]
    in_date: str
    out_date: str


class ProfilesWanted(NamedTuple):
    """Hotels, and in which language; profile.GetProfiles."""

    hotels: list[str]
    locale: str


class Wish(NamedTuple):
    """What somebody likes best (``dis``, ``rate`` or ``price``), and where; recommendation.GetRecommendations."""

    require: str
    lat: float
    lon: float


class Login(NamedTuple):
    """Who somebody says to be; user.CheckUser."""

    username: str
    password: str


class Booking(NamedTuple):
    """Rooms of hotels for some nights; reservation.CheckAvailability and MakeReservation."""

    customer: str
    hotels: list[str]
    in_date: str
    out_date: str
    rooms: int


class Profile(NamedTuple):
    """A hotel as the front end shows it. A hotel that could not be read has no address."""

    id: str
    name: str
    phone: str
    address: dict[str, Any] | None
