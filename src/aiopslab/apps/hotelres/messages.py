"""Messages between the services, which are protocol buffers in the original."""

from __future__ import annotations

from typing import Any, NamedTuple


class Point(NamedTuple):
    """The place of a search; geo.Nearby."""

    lat: float
    lon: float


class Stay(NamedTuple):
    """A place and dates; search.Nearby."""

    lat: float
    lon: float
    in_date: str
    out_date: str


class RatesRequest(NamedTuple):
    """Hotels and dates; rate.GetRates."""

    hotels: list[str]
    in_date: str
    out_date: str


class ProfilesRequest(NamedTuple):
    """Hotels and a language; profile.GetProfiles."""

    hotels: list[str]
    locale: str


class RecommendationRequest(NamedTuple):
    """A criterion (``dis``, ``rate`` or ``price``) and a place; recommendation.GetRecommendations."""

    require: str
    lat: float
    lon: float


class Login(NamedTuple):
    """A user name and a password; user.CheckUser."""

    username: str
    password: str


class Booking(NamedTuple):
    """A booking of rooms in hotels; reservation.CheckAvailability and MakeReservation."""

    customer: str
    hotels: list[str]
    in_date: str
    out_date: str
    rooms: int


class Profile(NamedTuple):
    """A hotel as the front end shows it. The address is None if the hotel could not be read."""

    id: str
    name: str
    phone: str
    address: dict[str, Any] | None
