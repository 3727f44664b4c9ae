"""recommendation: the best hotels by one measure. All are read at the start; afterwards no database is asked."""

from __future__ import annotations

from typing import Any, Final

from aiopslab.apps.hotelres import data
from aiopslab.apps.hotelres.fields import number, text
from aiopslab.apps.hotelres.messages import Wish
from aiopslab.apps.hotelres.places import closest, places
from aiopslab.apps.hotelres.services.startup import Seed, Startup, program
from simcloud.datastores.mongodb.driver import MongoClient, MongoError
from simcloud.services.rpc import Call

CPU_S: Final = 0.0006


class Recommendations:
    """The hotels, and the best of them by rate and by price."""

    def __init__(self, hotels: list[dict[str, Any]]) -> None:
        self._places = places(hotels)
        best_rate = max((number(hotel, "rate") for hotel in hotels), default=0.0)
        best_price = min((number(hotel, "price") for hotel in hotels), default=0.0)
        self._by_rate = [text(hotel, "hotelId") for hotel in hotels if number(hotel, "rate") == best_rate]
        self._by_price = [text(hotel, "hotelId") for hotel in hotels if number(hotel, "price") == best_price]

    def best(self, wish: Wish) -> list[str]:
        """The hotels to recommend; none for a measure that is none."""
        if wish.require == "dis":
            return closest(self._places, wish.lat, wish.lon)
        if wish.require == "rate":
            return self._by_rate
        return self._by_price if wish.require == "price" else []


async def _main(startup: Startup) -> None:
    seeds = [Seed("recommendation", "hotelId", data.recommendations())]
    mongo = await startup.database("RecommendMongoAddress", "recommendation-db", seeds)
    await startup.tracing("RecommendPort")
    known = Recommendations(await _load(startup, mongo))

    async def recommend(call: Call) -> list[str]:
        return known.best(call.payload)

    server = startup.server()
    server.method("/recommendation.Recommendation/GetRecommendations", recommend, CPU_S)
    await startup.serve(server)


async def _load(startup: Startup, mongo: MongoClient) -> list[dict[str, Any]]:
    try:
        return await mongo.collection("recommendation-db", "recommendation").find({}).all()
    except MongoError as error:
        told = f"Failed get hotels data: %!(EXTRA *errors.errorString={error})"
        startup.log.error(told, "services/recommendation/server.go:171")
        return []


recommendation = program("recommendation", _main)
