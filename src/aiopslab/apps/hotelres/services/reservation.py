"""reservation: availability of rooms, and bookings.

Counts of booked rooms and numbers of rooms are cached without expiry. As in the original, a search reads the number of rooms
under another key than it is cached under, so a hotel disappears from searches for a night after its first booking
of that night; and a cache or database error ends the process.
"""

from __future__ import annotations

from typing import Final, NoReturn

from aiopslab.apps.hotelres.fields import get_whole
from aiopslab.apps.hotelres.messages import Booking
from aiopslab.apps.hotelres.nights import get_night_key, get_rooms_key, list_nights
from aiopslab.apps.hotelres.services.cache import CLIENT, format_go_list
from aiopslab.apps.hotelres.services.startup import Startup, make_program
from simcloud.datastores.memcached import CacheMiss, MemcachedClient, MemcacheError
from simcloud.datastores.mongodb import MongoClient, MongoError
from simcloud.services import SpanContext
from simcloud.services.rpc import Call

CHECK_CPU_S: Final = 0.0007
MAKE_CPU_S: Final = 0.0008


class Reservations:
    """Answers reservation.CheckAvailability and reservation.MakeReservation."""

    def __init__(self, startup: Startup, mongo: MongoClient, cache: MemcachedClient) -> None:
        self._startup = startup
        self._reservations = mongo.collection(startup.database, "reservation")
        self._rooms = mongo.collection(startup.database, "number")
        self._cache = cache

    async def check(self, call: Call) -> list[str]:
        """Return the hotels of the request that have rooms in every night."""
        wanted: Booking = call.payload
        sizes = [get_rooms_key(hotel) for hotel in wanted.hotels]
        capacities = await self._get_many(
            "memcached_capacity_get_multi_number", sizes, "memc_cap_key", 270, call.span
        )
        stay = list_nights(wanted.in_date, wanted.out_date)
        keys = [get_night_key(hotel, morning) for hotel in wanted.hotels for _, morning in stay]
        counts = await self._get_many("memcached_reserve_get_multi_number", keys, "memc_key", 332, call.span)
        taken = {
            key.partition("_")[0]
            for key, value in counts.items()
            if _parse_count(value) + wanted.rooms > _parse_count(capacities.get(key.partition("_")[0], b""))
        }
        return [hotel for hotel in wanted.hotels if hotel not in taken]

    async def make(self, call: Call) -> list[str]:
        """Book rooms of the first hotel for each night; return an empty list if a night is full."""
        wanted: Booking = call.payload
        hotel = wanted.hotels[0]
        stay = list_nights(wanted.in_date, wanted.out_date)
        counts: dict[str, int] = {}
        for evening, morning in stay:
            key = get_night_key(hotel, morning)
            booked = await self._count_booked(hotel, evening, morning)
            counts[key] = booked + wanted.rooms
            if counts[key] > await self._capacity(hotel):
                return []
        for key, count in counts.items():
            await self._cache_count(key, count)
        for evening, morning in stay:
            await self._insert(wanted, hotel, evening, morning)
        return [hotel]

    async def _get_many(
        self, operation: str, keys: list[str], what: str, line: int, parent: SpanContext
    ) -> dict[str, bytes]:
        span = self._startup.tracer.begin(operation, parent, CLIENT)
        try:
            found = await self._cache.get_multi(keys)
        except MemcacheError as error:
            span.finish()
            message = f"Tried to get {what} [{format_go_list(keys)}], but got memmcached error = {error}"
            self._startup.panic(message, "CheckAvailability", line)
        span.finish()
        return found

    async def _count_booked(self, hotel: str, evening: str, morning: str) -> int:
        """Return the number of rooms that are booked for a night."""
        key = get_night_key(hotel, morning)
        try:
            return _parse_count(await self._cache.get(key))
        except CacheMiss:
            pass
        except MemcacheError as error:
            message = f"Tried to get memc_key [{key}], but got memmcached error = {error}"
            self._startup.panic(message, "MakeReservation", 169)
        try:
            query = {"hotelId": hotel, "inDate": evening, "outDate": morning}
            found = await self._reservations.find(query).all()
        except MongoError as error:
            dates = f"from date [{evening}] to date [{morning}]"
            self._fail(f"Tried to find hotelId [{hotel}] {dates}, but got error", error, 159)
        return sum(get_whole(document, "number") for document in found)

    async def _capacity(self, hotel: str) -> int:
        key = get_rooms_key(hotel)
        try:
            return _parse_count(await self._cache.get(key))
        except CacheMiss:
            pass
        except MemcacheError as error:
            message = f"Tried to get memc_cap_key [{key}], but got memmcached error = {error}"
            self._startup.panic(message, "MakeReservation", 193)
        try:
            rooms = get_whole(await self._rooms.find({"hotelId": hotel}).one(), "numberOfRoom")
        except MongoError as error:
            self._fail(f"Tried to find hotelId [{hotel}], but got error", error, 186)
        await self._cache_count(key, rooms)
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
            self._fail(f"Tried to insert hotel [hotelId {hotel}], but got error", error, 223)

    async def _cache_count(self, key: str, count: int) -> None:
        try:
            await self._cache.set(key, str(count).encode())
        except MemcacheError:
            pass  # the original ignores the result

    def _fail(self, text: str, error: MongoError, line: int) -> NoReturn:
        self._startup.panic(f"{text}%!(EXTRA string={error})", "MakeReservation", line)


def _parse_count(value: bytes) -> int:
    """Parse a cached number; an invalid one is 0."""
    return int(value) if value.isdigit() and len(value) < 10 else 0


async def _main(startup: Startup) -> None:
    mongo = await startup.connect_database("ReserveMongoAddress")
    cache = await startup.connect_cache("ReserveMemcAddress")
    await startup.connect_tracing("ReservePort")
    handlers = Reservations(startup, mongo, cache)
    server = startup.create_server()
    server.method("/reservation.Reservation/CheckAvailability", handlers.check, CHECK_CPU_S)
    server.method("/reservation.Reservation/MakeReservation", handlers.make, MAKE_CPU_S)
    await startup.serve(server)


reservation = make_program("reservation", _main)
