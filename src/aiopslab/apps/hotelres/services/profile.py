"""profile: names and addresses of hotels. Profiles are cached without expiry.

As in the original, a cache error ends the process; a database error is only logged, and the hotel is returned and cached
empty.
"""

from __future__ import annotations

import json
from typing import Any, Final

from aiopslab.apps.hotelres import data
from aiopslab.apps.hotelres.fields import get_number, get_text
from aiopslab.apps.hotelres.geojson import format_single
from aiopslab.apps.hotelres.messages import Profile, ProfilesRequest
from aiopslab.apps.hotelres.services.cache import CLIENT, fetch_all, format_go_list, store_in_background
from aiopslab.apps.hotelres.services.startup import Startup, make_program
from simcloud.datastores.memcached import MemcachedClient, MemcacheError
from simcloud.datastores.mongodb import MongoClient, MongoError
from simcloud.golang import format_json
from simcloud.services import SpanContext
from simcloud.services.rpc import Call

CPU_S: Final = 0.0006
EMPTY: Final = Profile("", "", "", None)
TEXTS: Final = ("streetNumber", "streetName", "city", "state", "country", "postalCode")


class Profiles:
    """Answers profile.GetProfiles."""

    def __init__(self, startup: Startup, mongo: MongoClient, cache: MemcachedClient) -> None:
        self._startup = startup
        self._ctx = startup.ctx
        self._hotels = mongo.collection(startup.database, "hotels")
        self._cache = cache

    async def get(self, call: Call) -> list[Profile]:
        """Return the profiles of hotels: the cached ones first, then the others."""
        wanted: ProfilesRequest = call.payload
        span = self._startup.tracer.begin("memcached_get_profile", call.span, CLIENT)
        try:
            cached = await self._cache.get_multi(wanted.hotels)
        except MemcacheError as error:
            message = (
                f"Tried to get hotelIds [{format_go_list(wanted.hotels)}], but got memmcached error = {error}"
            )
            self._startup.panic(message, "GetProfiles", 141)
        span.finish()
        profiles = [_read(value) for value in cached.values()]
        missing = [hotel for hotel in wanted.hotels if hotel not in cached]
        if missing:
            profiles += await fetch_all(self._ctx, lambda hotel: self._look_up(hotel, call.span), missing)
        return profiles

    async def _look_up(self, hotel: str, parent: SpanContext) -> Profile:
        span = self._startup.tracer.begin("mongo_profile", parent, CLIENT)
        try:
            document = _hotel(await self._hotels.find({"id": hotel}).one())
        except MongoError as error:
            document = {}
            message = f"Failed get hotels data: %!(EXTRA *errors.errorString={error})"
            self._startup.log.error(message, "services/profile/server.go:167")
        span.finish()
        store_in_background(self._ctx, self._cache, hotel, format_json(document, keep_order=True).encode())
        return _profile(document)


def _read(value: bytes) -> Profile:
    """Decode a cached profile; an invalid one is empty."""
    try:
        document = json.loads(value)
    except (ValueError, RecursionError):
        return EMPTY
    return _profile(document) if isinstance(document, dict) else EMPTY


def _profile(document: dict[str, Any]) -> Profile:
    address = document.get("address")
    return Profile(
        get_text(document, "id"),
        get_text(document, "name"),
        get_text(document, "phoneNumber"),
        address if isinstance(address, dict) else None,
    )


def _hotel(document: dict[str, Any]) -> dict[str, Any]:
    """Convert a document to the cached message: without empty fields, coordinates in single precision."""
    found: dict[str, Any] = {}
    for name in ("id", "name", "phoneNumber", "description"):
        if get_text(document, name):
            found[name] = get_text(document, name)
    address = document.get("address")
    if isinstance(address, dict):
        place: dict[str, Any] = {name: get_text(address, name) for name in TEXTS if get_text(address, name)}
        for name in ("lat", "lon"):
            value = float(format_single(data.to_single(get_number(address, name))))
            if value:
                place[name] = value
        found["address"] = place
    return found


async def _main(startup: Startup) -> None:
    mongo = await startup.connect_database("ProfileMongoAddress")
    cache = await startup.connect_cache("ProfileMemcAddress")
    await startup.connect_tracing("ProfilePort")
    server = startup.create_server()
    server.method("/profile.Profile/GetProfiles", Profiles(startup, mongo, cache).get, CPU_S)
    await startup.serve(server)


profile = make_program("profile", _main)
