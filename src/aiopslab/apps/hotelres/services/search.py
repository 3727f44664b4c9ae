"""search: hotels near a place that have a rate for the dates, most expensive first."""

from __future__ import annotations

from typing import Final

from aiopslab.apps.hotelres.messages import Point, RatesRequest, Stay
from aiopslab.apps.hotelres.services.startup import Startup, make_program
from simcloud.services.rpc import Call

CPU_S: Final = 0.0004


async def _main(startup: Startup) -> None:
    await startup.connect_tracing("SearchPort")
    geo, rate = startup.open_channel("geo"), startup.open_channel("rate")

    async def nearby(call: Call) -> list[str]:
        stay: Stay = call.payload
        near = await geo.call("/geo.Geo/Nearby", Point(stay.lat, stay.lon), call.span)
        wanted = RatesRequest(near, stay.in_date, stay.out_date)
        plans = await rate.call("/rate.Rate/GetRates", wanted, call.span)
        return [plan["hotelId"] for plan in plans]

    server = startup.create_server()
    server.method("/search.Search/Nearby", nearby, CPU_S + startup.config.get_seconds("SearchRankingMs"))
    await startup.serve(server)


search = make_program("search", _main)
