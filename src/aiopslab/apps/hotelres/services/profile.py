"""profile: what hotels are called and where they are. Profiles are cached for ever.

A cache that fails ends the process; a database that fails is only logged, and the hotel comes back empty, and is cached
so: both as in the original.
"""

from __future__ import annotations

import json
from typing import Any, Final

from aiopslab.apps.hotelres import data
from aiopslab.apps.hotelres.fields import number, text
from aiopslab.apps.hotelres.geojson import short
from aiopslab.apps.hotelres.messages import Profile, ProfilesWanted
from aiopslab.apps.hotelres.services.caching import CLIENT, all_of, go_list, remember
from aiopslab.apps.hotelres.services.startup import Seed, Startup, program
from simcloud.datastores.memcached import MemcachedClient, MemcacheError
from simcloud.datastores.mongodb.driver import MongoClient, MongoError
from simcloud.golang.json_text import json_text
from simcloud.services.rpc import Call
from simcloud.services.tracing import SpanContext

CPU_S: Final = 0.0006
EMPTY: Final = Profile("", "", "", None)
TEXTS: Final = ("streetNumber", "streetName", "city", "state", "country", "postalCode")


class Profiles:
    """Answers profile.GetProfiles."""

    def __init__(self, startup: Startup, mongo: MongoClient, cache: MemcachedClient) -> None:
        self._startup = startup
        self._ctx = startup.ctx
        self._hotels = mongo.collection("profile-db", "hotels")
        self._cache = cache

    async def get(self, call: Call) -> list[Profile]:
        """The profiles of hotels: the cached ones first, then the others."""
        wanted: ProfilesWanted = call.payload
        span = self._startup.tracer.begin("memcached_get_profile", call.span, CLIENT)
        try:
            cached = await self._cache.get_multi(wanted.hotels)
        except MemcacheError as error:
            told = f"Tried to get hotelIds [{go_list(wanted.hotels)}], but got memmcached error = {error}"
            self._startup.panic(told, "GetProfiles", 136)
        span.finish()
        profiles = [_read(value) for value in cached.values()]
        missing = [hotel for hotel in wanted.hotels if hotel not in cached]
        if missing:
            profiles += await all_of(self._ctx, lambda hotel: self._look_up(hotel, call.span), missing)
        return profiles

    async def _look_up(self, hotel: str, parent: SpanContext) -> Profile:
        span = self._startup.tracer.begin("mongo_profile", parent, CLIENT)
        try:
            document = _hotel(await self._hotels.find({"id": hotel}).one())
        except MongoError as error:
            document = {}
            told = f"Failed get hotels data: %!(EXTRA *errors.errorString={error})"
            self._startup.log.error(told, "services/profile/server.go:162")
        span.finish()
        remember(self._ctx, self._cache, hotel, json_text(document, keep_order=True).encode())
        return _profile(document)


def _read(value: bytes) -> Profile:
    """A cached profile; one that cannot be read is empty."""
    try:
        document = json.loads(value)
    except (ValueError, RecursionError):
        return EMPTY
    return _profile(document) if isinstance(document, dict) else EMPTY


def _profile(document: dict[str, Any]) -> Profile:
    address = document.get("address")
    return Profile(
        text(document, "id"),
        text(document, "name"),
        text(document, "phoneNumber"),
        address if isinstance(address, dict) else None,
    )


def _hotel(document: dict[str, Any]) -> dict[str, Any]:
    """A document as the message that is cached: without what is empty, numbers of single precision short."""
    found: dict[str, Any] = {}
    for name in ("id", "name", "phoneNumber", "description"):
        if text(document, name):
            found[name] = text(document, name)
    address = document.get("address")
    if isinstance(address, dict):
        place: dict[str, Any] = {name: text(address, name) for name in TEXTS if text(address, name)}
        for name in ("lat", "lon"):
            value = float(short(data.single(number(address, name))))
            if value:
                place[name] = value
        found["address"] = place
    return found


async def _main(startup: Startup) -> None:
    seeds = [Seed("hotels", "id", data.profiles())]
    mongo = await startup.database("ProfileMongoAddress", "profile-db", seeds)
    cache = await startup.cache("ProfileMemcAddress")
    await startup.tracing("ProfilePort")
    server = startup.server()
    server.method("/profile.Profile/GetProfiles", Profiles(startup, mongo, cache).get, CPU_S)
    await startup.serve(server)


profile = program("profile", _main)
