"""Hotels as GeoJSON, in the bytes that Go's encoder makes of them: keys sorted, numbers of single precision short."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from aiopslab.apps.hotelres.data import single
from aiopslab.apps.hotelres.fields import number
from aiopslab.apps.hotelres.messages import Profile
from simcloud.golang.json_text import json_text


def collection(hotels: Iterable[Profile]) -> bytes:
    """A FeatureCollection of hotels. A hotel without an address raises ``MissingAddress``."""
    features = ",".join([_feature(hotel) for hotel in hotels])
    return f'{{"features":[{features}],"type":"FeatureCollection"}}\n'.encode()


class MissingAddress(Exception):
    """A hotel's address is read, and there is none."""


@lru_cache(maxsize=1024)
def short(value: float) -> str:
    """The shortest text that stands for a number of single precision."""
    for digits in range(1, 10):
        written = f"{value:.{digits}g}"
        if single(float(written)) == value:
            break
    return written


def _feature(hotel: Profile) -> str:
    if hotel.address is None:
        raise MissingAddress
    lon, lat = (short(single(number(hotel.address, name))) for name in ("lon", "lat"))
    return (
        f'{{"geometry":{{"coordinates":[{lon},{lat}],"type":"Point"}},"id":{json_text(hotel.id)},'
        f'"properties":{{"name":{json_text(hotel.name)},"phone_number":{json_text(hotel.phone)}}},"type":"Feature"}}'
    )
