"""Distances on the ground, for the services that look for hotels near a point."""

from __future__ import annotations

from collections.abc import Iterable
from math import cos, radians, sqrt
from typing import Any, Final, NamedTuple

from aiopslab.apps.hotelres.fields import number, text

KM_PER_DEGREE: Final = 6371.0 * 3.141592653589793 / 180.0


class Place(NamedTuple):
    """Where a hotel is."""

    hotel: str
    lat: float
    lon: float


def places(documents: Iterable[dict[str, Any]]) -> list[Place]:
    """The places of documents."""
    return [Place(text(one, "hotelId"), number(one, "lat"), number(one, "lon")) for one in documents]


def distance_km(place: Place, lat: float, lon: float) -> float:
    """How far a place is: on a plane as wide as the earth is there, which is right for what is near."""
    north = (place.lat - lat) * KM_PER_DEGREE
    east = (place.lon - lon) * KM_PER_DEGREE * cos(radians((place.lat + lat) / 2))
    return sqrt(north * north + east * east)


def nearest(known: Iterable[Place], lat: float, lon: float, within_km: float, most: int) -> list[str]:
    """The hotels nearest to a point, the nearest first."""
    # Most hotels are ruled out by their latitude alone.
    band = within_km / KM_PER_DEGREE
    low, high = lat - band, lat + band
    found = [
        (away, place.hotel)
        for place in known
        if low <= place.lat <= high and (away := distance_km(place, lat, lon)) <= within_km
    ]
    found.sort(key=lambda entry: entry[0])
    return [hotel for _, hotel in found[:most]]


def closest(known: Iterable[Place], lat: float, lon: float) -> list[str]:
    """The hotel at the least distance, or several at the same one; none for a point that is nowhere."""
    best, found = float("inf"), []
    for place in known:
        away = distance_km(place, lat, lon)
        if away < best:
            best, found = away, [place.hotel]
        elif away == best:
            found.append(place.hotel)
    return found
