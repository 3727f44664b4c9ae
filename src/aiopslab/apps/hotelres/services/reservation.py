"""reservation: which hotels have rooms, and booking them.

Counts of nights and numbers of rooms are cached for ever. As in the original, a search looks the number of rooms up
under another key than it was cached under, so that a hotel drops out of searches for a night once somebody has booked
it; and a cache or a database that fails ends the process.
"""

from __future__ import annotations

from typing import Final, NoReturn

from aiopslab.apps.hotelres import data
from aiopslab.apps.hotelres.fields import whole
from aiopslab.apps.hotelres.messages import Booking
from aiopslab.apps.hotelres.nights import night_key, nights, rooms_key
from aiopslab.apps.hotelres.services.caching import CLIENT, go_list
from aiopslab.apps.hotelres.services.startup import Seed, Startup, program
from simcloud.datastores.memcached import CacheMiss, MemcachedClient, MemcacheError
from simcloud.datastores.mongodb.driver import MongoClient, MongoError
from simcloud.services.rpc import Call
from simcloud.services.tracing import SpanContext

CHECK_CPU_S: Final = 0.0007
MAKE_CPU_S: Final = 0.0008


class Reservations:
    """Answers reservation.CheckAvailability and reservation.MakeReservation."""

    def __init__(self, startup: Startup, mongo: MongoClient, cache: MemcachedClient) -> None:
        self._startup = startup
        self._reservations = mongo.collection("reservation-db", "reservation")
        self._rooms = mongo.collection("reservation-db", "number")
        self._cache = cache

    async def check(self, call: Call) -> list[str]:
        """Those hotels of the request that have rooms in every night."""
        wanted: Booking = call.payload
        sizes = [rooms_key(hotel) for hotel in wanted.hotels]
        capacities = await self._many(
            "memcached_capacity_get_multi_number", sizes, "memc_cap_key", 255, call.span
        )
        stay = nights(wanted.in_date, wanted.out_date)
        keys = [night_key(hotel, morning) for hotel in wanted.hotels for _, morning in stay]
        counts = await self._many("memcached_reserve_get_multi_number", keys, "memc_key", 319, call.span)
        taken = {
            key.partition("_")[0]
            for key, value in counts.items()
            if _count(value) + wanted.rooms > _count(capacities.get(key.partition("_")[0], b""))
        }
        return [hotel for hotel in wanted.hotels if hotel not in taken]

    async def make(self, call: Call) -> list[str]:
        """Book rooms of the first hotel for each night; empty when one of the nights is full."""
        wanted: Booking = call.payload
        hotel = wanted.hotels[0]
        stay = nights(wanted.in_date, wanted.out_date)
        counts: dict[str, int] = {}
        for evening, morning in stay:
            key = night_key(hotel, morning)
            booked = await self._booked(hotel, evening, morning)
            counts[key] = booked + wanted.rooms
            if counts[key] > await self._capacity(hotel):
                return []
        for key, count in counts.items():
            await self._remember(key, count)
        for evening, morning in stay:
            await self._insert(wanted, hotel, evening, morning)
        return [hotel]

    async def _many(
        self, operation: str, keys: list[str], what: str, line: int, parent: SpanContext
    ) -> dict[str, bytes]:
        span = self._startup.tracer.begin(operation, parent, CLIENT)
        try:
            found = await self._cache.get_multi(keys)
        except MemcacheError as error:
            span.finish()
            told = f"Tried to get {what} [{go_list(keys)}], but got memmcached error = {error}"
            self._startup.panic(told, "CheckAvailability", line)
        span.finish()
        return found

    async def _booked(self, hotel: str, evening: str, morning: str) -> int:
        """How many rooms are booked for a night."""
        key = night_key(hotel, morning)
        try:
            return _count(await self._cache.get(key))
        except CacheMiss:
            pass
        except MemcacheError as error:
            told = f"Tried to get memc_key [{key}], but got memmcached error = {error}"
            self._startup.panic(told, "MakeReservation", 163)
        try:
            query = {"hotelId": hotel, "inDate": evening, "outDate": morning}
            found = await self._reservations.find(query).all()
        except MongoError as error:
            dates = f"from date [{evening}] to date [{morning}]"
            self._failed(f"Tried to find hotelId [{hotel}] {dates}, but got error", error, 151)
        return sum(whole(one, "number") for one in found)

    async def _capacity(self, hotel: str) -> int:
        key = rooms_key(hotel)
        try:
            return _count(await self._cache.get(key))
        except CacheMiss:
            pass
        except MemcacheError as error:
            told = f"Tried to get memc_cap_key [{key}], but got memmcached error = {error}"
            self._startup.panic(told, "MakeReservation", 188)
        try:
            rooms = whole(await self._rooms.find({"hotelId": hotel}).one(), "numberOfRoom")
        except MongoError as error:
            self._failed(f"Tried to find hotelId [{hotel}], but got error", error, 180)
        await self._remember(key, rooms)
        return rooms

    async def _insert(self, wanted: Booking, hotel: str, evening: str, morning: str) -> None:
        document = {
            "hotelId": hotel,
            "customerName": wanted.customer,
            "inDate": evening,
            "outDate": morning,
            "number": wanted.rooms,
        }
        try:
            await self._reservations.insert(document)
        except MongoError as error:
            self._failed(f"Tried to insert hotel [hotelId {hotel}], but got error", error, 220)

    async def _remember(self, key: str, count: int) -> None:
        try:
            await self._cache.set(key, str(count).encode())
        except MemcacheError:
            pass  # nobody looks at the result

    def _failed(self, text: str, error: MongoError, line: int) -> NoReturn:
        self._startup.panic(f"{text}%!(EXTRA string={error})", "MakeReservation", line)


def _count(value: bytes) -> int:
    """A cached number; what is none counts as 0."""
    return int(value) if value.isdigit() and len(value) < 10 else 0


async def _main(startup: Startup) -> None:
    seeds = [
        Seed("reservation", "hotelId", data.reservations()),
        Seed("number", "hotelId", data.rooms()),
    ]
    mongo = await startup.database("ReserveMongoAddress", "reservation-db", seeds)
    cache = await startup.cache("ReserveMemcAddress")
    await startup.tracing("ReservePort")
    handlers = Reservations(startup, mongo, cache)
    server = startup.server()
    server.method("/reservation.Reservation/CheckAvailability", handlers.check, CHECK_CPU_S)
    server.method("/reservation.Reservation/MakeReservation", handlers.make, MAKE_CPU_S)
    await startup.serve(server)


reservation = program("reservation", _main)
