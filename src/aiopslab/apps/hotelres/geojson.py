"""Encode hotels as GeoJSON, byte for byte as Go's encoder does: sorted keys, shortest form of single-precision numbers."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from aiopslab.apps.hotelres.data import to_single
from aiopslab.apps.hotelres.fields import get_number
from aiopslab.apps.hotelres.messages import Profile
from simcloud.golang import format_json


def encode_collection(hotels: Iterable[Profile]) -> bytes:
    """Encode hotels as a FeatureCollection; raises ``MissingAddress`` if a hotel has no address."""
    features = ",".join([_encode_feature(hotel) for hotel in hotels])
    return f'{{"features":[{features}],"type":"FeatureCollection"}}\n'.encode()


class MissingAddress(Exception):
    """A hotel has no address."""


@lru_cache(maxsize=1024)
def format_single(value: float) -> str:
    """Return the shortest text that represents a single-precision number."""
    for digits in range(1, 10):
        written = f"{value:.{digits}g}"
        if to_single(float(written)) == value:
            break
    return written


def _encode_feature(hotel: Profile) -> str:
    if hotel.address is None:
        raise MissingAddress
    lon, lat = (format_single(to_single(get_number(hotel.address, name))) for name in ("lon", "lat"))
    return (
        f'{{"geometry":{{"coordinates":[{lon},{lat}],"type":"Point"}},"id":{format_json(hotel.id)},'
        f'"properties":{{"name":{format_json(hotel.name)},"phone_number":{format_json(hotel.phone)}}},"type":"Feature"}}'
    )
