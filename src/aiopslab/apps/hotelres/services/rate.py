"""rate: prices of hotels. Rate plans are read from the database and cached without expiry.

A cache or database error ends the process, as in the original.
"""

from __future__ import annotations

import json
from typing import Any, Final

from aiopslab.apps.hotelres.fields import get_number, get_text
from aiopslab.apps.hotelres.messages import RatesRequest
from aiopslab.apps.hotelres.services.cache import CLIENT, fetch_all, format_go_list, store_in_background
from aiopslab.apps.hotelres.services.startup import Startup, make_program
from simcloud.datastores.memcached import MemcachedClient, MemcacheError
from simcloud.datastores.mongodb import MongoClient, MongoError
from simcloud.golang import format_json
from simcloud.services import SpanContext
from simcloud.services.rpc import Call

LOGIN: Final = ("admin", "admin")
"""Hard-coded, as in the original."""

CPU_S: Final = 0.0006
Plan = dict[str, Any]


class Rates:
    """Answers rate.GetRates."""

    def __init__(self, startup: Startup, mongo: MongoClient, cache: MemcachedClient) -> None:
        self._startup = startup
        self._ctx = startup.ctx
        self._inventory = mongo.collection(startup.database, "inventory")
        self._cache = cache

    async def get(self, call: Call) -> list[Plan]:
        """Return the rate plans of hotels, most expensive first."""
        wanted: RatesRequest = call.payload
        span = self._startup.tracer.begin("memcached_get_multi_rate", call.span, CLIENT)
        try:
            cached = await self._cache.get_multi(wanted.hotels)
        except MemcacheError as error:
            message = (
                f"Memmcached error while trying to get hotel [id: {format_go_list(wanted.hotels)}]= {error}"
            )
            self._startup.panic(message, "GetRates", 134)
        span.finish()
        plans = [plan for value in cached.values() for plan in _read(value)]
        missing = [hotel for hotel in wanted.hotels if hotel not in cached]
        if missing:
            for found in await fetch_all(self._ctx, lambda hotel: self._look_up(hotel, call.span), missing):
                plans.extend(found)
        plans.sort(key=_total, reverse=True)
        return plans

    async def _look_up(self, hotel: str, parent: SpanContext) -> list[Plan]:
        span = self._startup.tracer.begin("mongo_rate", parent, CLIENT)
        try:
            found = await self._inventory.find({"hotelId": hotel}).all()
        except MongoError as error:
            message = f"Tried to find hotelId [{hotel}], but got error%!(EXTRA string={error})"
            self._startup.panic(message, "GetRates.func1", 166)
        span.finish()
        plans = [_plan(document) for document in found]
        value = "".join(format_json(plan, keep_order=True) + "\n" for plan in plans)
        store_in_background(self._ctx, self._cache, hotel, value.encode())
        return plans


def _read(value: bytes) -> list[Plan]:
    """Decode a cached value. An invalid line is an empty plan."""
    return [_plan(_parse(line)) for line in value.split(b"\n") if line]


def _parse(line: bytes) -> Plan:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _plan(document: Plan) -> Plan:
    room = document.get("roomType")
    room = room if isinstance(room, dict) else {}
    return {
        "hotelId": get_text(document, "hotelId"),
        "code": get_text(document, "code"),
        "inDate": get_text(document, "inDate"),
        "outDate": get_text(document, "outDate"),
        "roomType": {
            "bookableRate": get_number(room, "bookableRate"),
            "totalRate": get_number(room, "totalRate"),
            "totalRateInclusive": get_number(room, "totalRateInclusive"),
            "code": get_text(room, "code"),
            "roomDescription": get_text(room, "roomDescription"),
        },
    }


def _total(plan: Plan) -> float:
    total: float = plan["roomType"]["totalRate"]
    return total


async def _main(startup: Startup) -> None:
    mongo = await startup.connect_database("RateMongoAddress", LOGIN)
    cache = await startup.connect_cache("RateMemcAddress")
    await startup.connect_tracing("RatePort")
    server = startup.create_server()
    server.method("/rate.Rate/GetRates", Rates(startup, mongo, cache).get, CPU_S)
    await startup.serve(server)


rate = make_program("rate", _main)
