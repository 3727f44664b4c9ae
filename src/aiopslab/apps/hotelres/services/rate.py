"""rate: what hotels cost. Plans are cached for ever; what is not cached is read from the database.

A cache or a database that fails ends the process, as in the original.
"""

from __future__ import annotations

import json
from typing import Any, Final

from aiopslab.apps.hotelres import data
from aiopslab.apps.hotelres.fields import number, text
from aiopslab.apps.hotelres.messages import RatesWanted
from aiopslab.apps.hotelres.services.caching import CLIENT, all_of, go_list, remember
from aiopslab.apps.hotelres.services.startup import Seed, Startup, program
from simcloud.datastores.memcached import MemcachedClient, MemcacheError
from simcloud.datastores.mongodb.driver import MongoClient, MongoError
from simcloud.golang.json_text import json_text
from simcloud.services.rpc import Call
from simcloud.services.tracing import SpanContext

LOGIN: Final = ("admin", "admin")
"""Compiled in, as in the original."""

CPU_S: Final = 0.0006
Plan = dict[str, Any]


class Rates:
    """Answers rate.GetRates."""

    def __init__(self, startup: Startup, mongo: MongoClient, cache: MemcachedClient) -> None:
        self._startup = startup
        self._ctx = startup.ctx
        self._inventory = mongo.collection("rate-db", "inventory")
        self._cache = cache

    async def get(self, call: Call) -> list[Plan]:
        """The plans of hotels, the dearest first."""
        wanted: RatesWanted = call.payload
        span = self._startup.tracer.begin("memcached_get_multi_rate", call.span, CLIENT)
        try:
            cached = await self._cache.get_multi(wanted.hotels)
        except MemcacheError as error:
            told = f"Memmcached error while trying to get hotel [id: {go_list(wanted.hotels)}]= {error}"
            self._startup.panic(told, "GetRates", 134)
        span.finish()
        plans = [plan for value in cached.values() for plan in _read(value)]
        missing = [hotel for hotel in wanted.hotels if hotel not in cached]
        if missing:
            for found in await all_of(self._ctx, lambda hotel: self._look_up(hotel, call.span), missing):
                plans.extend(found)
        plans.sort(key=_total, reverse=True)
        return plans

    async def _look_up(self, hotel: str, parent: SpanContext) -> list[Plan]:
        span = self._startup.tracer.begin("mongo_rate", parent, CLIENT)
        try:
            found = await self._inventory.find({"hotelId": hotel}).all()
        except MongoError as error:
            told = f"Tried to find hotelId [{hotel}], but got error%!(EXTRA string={error})"
            self._startup.panic(told, "GetRates.func1", 172)
        span.finish()
        plans = [_plan(document) for document in found]
        value = "".join(json_text(plan, keep_order=True) + "\n" for plan in plans)
        remember(self._ctx, self._cache, hotel, value.encode())
        return plans


def _read(value: bytes) -> list[Plan]:
    """The plans of a cached value. A line that cannot be read is an empty plan."""
    return [_plan(_parsed(line)) for line in value.split(b"\n") if line]


def _parsed(line: bytes) -> Plan:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _plan(document: Plan) -> Plan:
    room = document.get("roomType")
    room = room if isinstance(room, dict) else {}
    return {
        "hotelId": text(document, "hotelId"),
        "code": text(document, "code"),
        "inDate": text(document, "inDate"),
        "outDate": text(document, "outDate"),
        "roomType": {
            "bookableRate": number(room, "bookableRate"),
            "totalRate": number(room, "totalRate"),
            "totalRateInclusive": number(room, "totalRateInclusive"),
            "code": text(room, "code"),
            "roomDescription": text(room, "roomDescription"),
        },
    }


def _total(plan: Plan) -> float:
    total: float = plan["roomType"]["totalRate"]
    return total


async def _main(startup: Startup) -> None:
    seeds = [Seed("inventory", "hotelId", data.plans())]
    mongo = await startup.database("RateMongoAddress", "rate-db", seeds, LOGIN)
    cache = await startup.cache("RateMemcAddress")
    await startup.tracing("RatePort")
    server = startup.server()
    server.method("/rate.Rate/GetRates", Rates(startup, mongo, cache).get, CPU_S)
    await startup.serve(server)


rate = program("rate", _main)
