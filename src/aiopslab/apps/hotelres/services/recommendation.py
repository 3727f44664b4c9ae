"""recommendation: the best hotels by one criterion. All hotels are read at startup; the database is not used afterwards."""

from __future__ import annotations

from typing import Any, Final

from aiopslab.apps.hotelres.fields import get_number, get_text
from aiopslab.apps.hotelres.messages import RecommendationRequest
from aiopslab.apps.hotelres.places import find_closest, read_places
from aiopslab.apps.hotelres.services.startup import Startup, make_program
from simcloud.datastores.mongodb import MongoClient, MongoError
from simcloud.services.rpc import Call

CPU_S: Final = 0.0006


class Recommendations:
    """The hotels, and the best of them by rate and by price."""

    def __init__(self, hotels: list[dict[str, Any]]) -> None:
        self._places = read_places(hotels)
        best_rate = max((get_number(hotel, "rate") for hotel in hotels), default=0.0)
        best_price = min((get_number(hotel, "price") for hotel in hotels), default=0.0)
        self._by_rate = [
            get_text(hotel, "hotelId") for hotel in hotels if get_number(hotel, "rate") == best_rate
        ]
        self._by_price = [
            get_text(hotel, "hotelId") for hotel in hotels if get_number(hotel, "price") == best_price
        ]

    def find_best(self, request: RecommendationRequest) -> list[str]:
        """Return the hotels to recommend; empty for an unknown criterion."""
        if request.require == "dis":
            return find_closest(self._places, request.lat, request.lon)
        if request.require == "rate":
            return self._by_rate
        return self._by_price if request.require == "price" else []


async def _main(startup: Startup) -> None:
    mongo = await startup.connect_database("RecommendMongoAddress")
    await startup.connect_tracing("RecommendPort")
    recommendations = Recommendations(await _load(startup, mongo))

    async def recommend(call: Call) -> list[str]:
        return recommendations.find_best(call.payload)

    server = startup.create_server()
    server.method("/recommendation.Recommendation/GetRecommendations", recommend, CPU_S)
    await startup.serve(server)


async def _load(startup: Startup, mongo: MongoClient) -> list[dict[str, Any]]:
    try:
        return await mongo.collection(startup.database, "recommendation").find({}).all()
    except MongoError as error:
        message = f"Failed get hotels data: %!(EXTRA *errors.errorString={error})"
        startup.log.error(message, "services/recommendation/server.go:186")
        return []


recommendation = make_program("recommendation", _main)
