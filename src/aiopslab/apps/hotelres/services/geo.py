"""geo: finds hotels near a point. All points are read at startup; the database is not used afterwards."""

from __future__ import annotations

from typing import Final

from aiopslab.apps.hotelres.messages import Point
from aiopslab.apps.hotelres.places import Place, find_nearest, read_places
from aiopslab.apps.hotelres.services.startup import Startup, make_program
from simcloud.datastores.mongodb import MongoClient, MongoError
from simcloud.services.rpc import Call

LOGIN: Final = ("admin", "admin")
"""Hard-coded, as in the original."""

WITHIN_KM: Final = 10.0
MAX_HOTELS: Final = 5
CPU_S: Final = 0.0005


async def _main(startup: Startup) -> None:
    mongo = await startup.connect_database("GeoMongoAddress", LOGIN)
    await startup.connect_tracing("GeoPort")
    known = await _load(startup, mongo)

    async def nearby(call: Call) -> list[str]:
        wanted: Point = call.payload
        return find_nearest(known, wanted.lat, wanted.lon, WITHIN_KM, MAX_HOTELS)

    server = startup.create_server()
    server.method("/geo.Geo/Nearby", nearby, CPU_S)
    await startup.serve(server)


async def _load(startup: Startup, mongo: MongoClient) -> list[Place]:
    try:
        return read_places(await mongo.collection(startup.database, "geo").find({}).all())
    except MongoError as error:
        startup.log.error(
            f"Failed get geo data: %!(EXTRA *errors.errorString={error})", "services/geo/server.go:181"
        )
        return []


geo = make_program("geo", _main)
