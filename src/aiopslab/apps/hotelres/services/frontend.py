"""frontend: the web server. It takes queries, asks the services, and answers in JSON.

An error of a service is a 500 whose body is the error. A hotel without an address ends the request, not the process.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from posixpath import normpath
from typing import Final

from aiopslab.apps.hotelres.data import single
from aiopslab.apps.hotelres.fields import atoi
from aiopslab.apps.hotelres.geojson import MissingAddress, collection
from aiopslab.apps.hotelres.messages import Booking, Login, Profile, ProfilesWanted, Stay, Wish
from aiopslab.apps.hotelres.services.places_in_source import ROOT
from aiopslab.apps.hotelres.services.startup import Startup, program
from simcloud.machine.files import FileError
from simcloud.machine.network import AddressInUse
from simcloud.machine.network.http import HttpRequest, HttpResponse
from simcloud.services.languages.golang import Panic, listen_error
from simcloud.services.rpc import GrpcError, HttpServer, Query, http_error, query_of
from simcloud.services.rpc.http import RequestHandler
from simcloud.services.tracing import SpanContext

PAGES: Final = "services/frontend/static"
CPU_S: Final = 0.0006
PAGE_CPU_S: Final = 0.0002
NO_DATES: Final = "Please specify inDate/outDate params"
NO_PLACE: Final = "Please specify location params"
NO_LOGIN: Final = "Please specify username and password"
WRONG_LOGIN: Final = "Failed. Please check your username and password. "
NIL_POINTER: Final = "runtime error: invalid memory address or nil pointer dereference"
PACKAGE: Final = "github.com/harlow/go-micro-services/services/frontend"
NIL_FRAMES: Final = (
    f"{PACKAGE}.geoJSONResponse({{0xc0003b2040, 0x1, 0x1}})",
    f"\t{ROOT}/services/frontend/server.go:415 +0x2f1",
    "net/http.(*conn).serve(0xc00022a000, {0xb8f770, 0xc0001c2030})",
    "\t/usr/local/go/src/net/http/server.go:1930 +0xb08",
)


QueryHandler = Callable[[Query, SpanContext], Awaitable[bytes]]


class BadQuery(Exception):
    """A request that lacks something; the sentence is its answer."""


class Frontend:
    """Answers the requests of users."""

    def __init__(self, startup: Startup) -> None:
        self._ctx = startup.ctx
        self._log = startup.log
        self._search = startup.channel("search")
        self._profile = startup.channel("profile")
        self._recommendation = startup.channel("recommendation")
        self._user = startup.channel("user")
        self._reservation = startup.channel("reservation")

    async def hotels(self, query: Query, span: SpanContext) -> bytes:
        """Hotels near a place that have rooms."""
        in_date, out_date = query["inDate"], query["outDate"]
        _need(in_date and out_date, NO_DATES)
        _need(query["lat"] and query["lon"], NO_PLACE)
        stay = Stay(single(_number(query["lat"])), single(_number(query["lon"])), in_date, out_date)
        found = await self._search.call("/search.Search/Nearby", stay, span)
        try:
            wanted = Booking("", found, in_date, out_date, 1)
            free = await self._reservation.call("/reservation.Reservation/CheckAvailability", wanted, span)
        except GrpcError:
            self._log.error("SearchHandler CheckAvailability failed", "services/frontend/server.go:213")
            raise
        try:
            profiles = await self._profiles(free, query, span)
        except GrpcError:
            self._log.error("SearchHandler GetProfiles failed", "services/frontend/server.go:227")
            raise
        return _drawn(profiles)

    async def recommendations(self, query: Query, span: SpanContext) -> bytes:
        """The best hotels by what somebody likes."""
        _need(query["lat"] and query["lon"], NO_PLACE)
        _need(query["require"] in ("dis", "rate", "price"), "Please specify require params")
        wish = Wish(query["require"], _number(query["lat"]), _number(query["lon"]))
        found = await self._recommendation.call(
            "/recommendation.Recommendation/GetRecommendations", wish, span
        )
        return _drawn(await self._profiles(found, query, span))

    async def user(self, query: Query, span: SpanContext) -> bytes:
        """Whether somebody may log in."""
        login = _login(query)
        return _message("Login successfully!" if await self._knows(login, span) else WRONG_LOGIN)

    async def reservation(self, query: Query, span: SpanContext) -> bytes:
        """Book a room. As in the original, a wrong password is told but does not keep anybody from it."""
        in_date, out_date, hotel = query["inDate"], query["outDate"], query["hotelId"]
        _need(in_date and out_date, NO_DATES)
        _need(_is_date(in_date) and _is_date(out_date), "Please check inDate/outDate format (YYYY-MM-DD)")
        _need(hotel, "Please specify hotelId params")
        _need(query["customerName"], "Please specify customerName params")
        login = _login(query)
        told = "Reserve successfully!" if await self._knows(login, span) else WRONG_LOGIN
        wanted = Booking(query["customerName"], [hotel], in_date, out_date, atoi(query["number"]))
        booked = await self._reservation.call("/reservation.Reservation/MakeReservation", wanted, span)
        return _message(told if booked else "Failed. Already reserved. ")

    async def page(self, request: HttpRequest, _span: SpanContext) -> HttpResponse:
        """A file of the web pages."""
        path = PAGES + normpath("/" + request.path.partition("?")[0])
        try:
            if self._ctx.files.is_dir(path):
                path = f"{path.rstrip('/')}/index.html"
            body = self._ctx.files.read(path)
        except FileError:
            return http_error(404, "404 page not found")
        return HttpResponse(200, body, {"Content-Type": "text/html; charset=utf-8"})

    async def _knows(self, login: Login, span: SpanContext) -> bool:
        known: bool = await self._user.call("/user.User/CheckUser", login, span)
        return known

    async def _profiles(self, hotels: list[str], query: Query, span: SpanContext) -> list[Profile]:
        wanted = ProfilesWanted(hotels, query["locale"] or "en")
        found: list[Profile] = await self._profile.call("/profile.Profile/GetProfiles", wanted, span)
        return found


async def _main(startup: Startup) -> None:
    await startup.tracing("FrontendPort")
    where = "services/frontend/server.go"
    startup.tell(f"{where}:49", "Initializing gRPC clients...")
    frontend = Frontend(startup)
    startup.tell(f"{where}:69", "Successfull")
    server = HttpServer(startup.ctx, startup.tracer)
    server.route("/", frontend.page, PAGE_CPU_S)
    for path, handler in (
        ("/hotels", frontend.hotels),
        ("/recommendations", frontend.recommendations),
        ("/user", frontend.user),
        ("/reservation", frontend.reservation),
    ):
        server.route(path, _answering(handler), CPU_S)
    startup.tell(f"{where}:92", "Serving http")
    try:
        server.listen(startup.port)
    except AddressInUse as error:
        startup.fatal(listen_error(error, startup.port))
    await startup.forever()


def _answering(handler: QueryHandler) -> RequestHandler:
    """A handler of queries as one of requests."""

    async def answer(request: HttpRequest, span: SpanContext) -> HttpResponse:
        try:
            response = HttpResponse(200, await handler(_readable(query_of(request)), span))
        except BadQuery as error:
            response = http_error(400, str(error))
        except GrpcError as error:
            response = http_error(500, str(error))
        response.headers["Access-Control-Allow-Origin"] = "*"
        return response

    return answer


def _readable(query: Query) -> Query:
    """Parameters as text that can be written again: half a character is replaced."""
    for name, value in query.items():
        if not value.isascii():
            query[name] = value.encode("utf-8", "replace").decode()
    return query


def _need(given: object, otherwise: str) -> None:
    if not given:
        raise BadQuery(otherwise)


def _login(query: Query) -> Login:
    _need(query["username"] and query["password"], NO_LOGIN)
    return Login(query["username"], query["password"])


def _drawn(profiles: list[Profile]) -> bytes:
    try:
        return collection(profiles)
    except MissingAddress:
        raise Panic(NIL_POINTER, NIL_FRAMES) from None


def _message(text: str) -> bytes:
    return f'{{"message":"{text}"}}\n'.encode()


def _number(text: str) -> float:
    """A number as Go reads it when it ignores the error."""
    try:
        return float(text)
    except ValueError:
        return 0.0


def _is_date(text: str) -> bool:
    return (
        len(text) == 10
        and text.isascii()
        and text[4] == text[7] == "-"
        and (text[:4] + text[5:7] + text[8:]).isdigit()
    )


frontend = program("frontend", _main)
