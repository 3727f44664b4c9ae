"""Distances between places, for the services that find hotels near a point."""

from __future__ import annotations

from collections.abc import Iterable
from math import cos, radians, sqrt
from typing import Any, Final, NamedTuple

from aiopslab.apps.hotelres.fields import get_number, get_text

KM_PER_DEGREE: Final = 6371.0 * 3.141592653589793 / 180.0


class Place(NamedTuple):
    """The location of a hotel."""

    hotel: str
    lat: float
    lon: float


def read_places(documents: Iterable[dict[str, Any]]) -> list[Place]:
    """Read the places from documents."""
    return [
        Place(get_text(document, "hotelId"), get_number(document, "lat"), get_number(document, "lon"))
        for document in documents
    ]


def compute_distance_km(place: Place, lat: float, lon: float) -> float:
    """Return the distance on a plane, which is accurate for short distances."""
    north = (place.lat - lat) * KM_PER_DEGREE
    east = (place.lon - lon) * KM_PER_DEGREE * cos(radians((place.lat + lat) / 2))
    return sqrt(north * north + east * east)


def find_nearest(known: Iterable[Place], lat: float, lon: float, within_km: float, most: int) -> list[str]:
    """Return the hotels nearest to a point, sorted by distance."""
    # Checking the latitude alone excludes most hotels.
    band = within_km / KM_PER_DEGREE
    low, high = lat - band, lat + band
    found = [
        (away, place.hotel)
        for place in known
        if low <= place.lat <= high and (away := compute_distance_km(place, lat, lon)) <= within_km
    ]
    found.sort(key=lambda entry: entry[0])
    return [hotel for _, hotel in found[:most]]


def find_closest(known: Iterable[Place], lat: float, lon: float) -> list[str]:
    """Return the closest hotel, or several at the same distance; empty for an invalid point."""
    best, found = float("inf"), []
    for place in known:
        away = compute_distance_km(place, lat, lon)
        if away < best:
            best, found = away, [place.hotel]
        elif away == best:
            found.append(place.hotel)
    return found
