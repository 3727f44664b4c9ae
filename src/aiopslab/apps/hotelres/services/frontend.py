"""frontend: the web server, which calls the services and answers in JSON.

An error of a service becomes a 500 with the error as body. A hotel without an address ends the request, not the process.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from posixpath import normpath
from random import Random
from typing import Final

from aiopslab.apps.hotelres.data import to_single
from aiopslab.apps.hotelres.fields import atoi
from aiopslab.apps.hotelres.geojson import MissingAddress, encode_collection
from aiopslab.apps.hotelres.messages import (
    Booking,
    Login,
    Profile,
    ProfilesRequest,
    RecommendationRequest,
    Stay,
)
from aiopslab.apps.hotelres.services.source_positions import ROOT
from aiopslab.apps.hotelres.services.startup import Startup, make_program
from simcloud.machine import HOUR_S, log_occasionally
from simcloud.machine.files import FileError
from simcloud.machine.network import HTTP, HTTPS, AddressInUse, HttpRequest, HttpResponse
from simcloud.services import SpanContext
from simcloud.services.languages import golang
from simcloud.services.rpc import GrpcChannel, GrpcError, HttpServer, Query, http_error, query_of
from simcloud.services.rpc.http import RequestHandler

SERVER: Final = "services/frontend/server.go"
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
    f"\t{ROOT}/{SERVER}:412 +0x2f1",
    "net/http.(*conn).serve(0xc00022a000, {0xb8f770, 0xc0001c2030})",
    "\t/usr/local/go/src/net/http/server.go:1930 +0xb08",
)


SEMICOLON: Final = (
    "http: URL query contains semicolon, which is no longer a supported separator; parts of the query may be stripped "
    "when parsed; see golang.org/issue/25192"
)

QueryHandler = Callable[[Query, SpanContext], Awaitable[bytes]]


class BadQuery(Exception):
    """A parameter is missing; the message is the response."""


class Frontend:
    """The request handlers."""

    def __init__(self, startup: Startup) -> None:
        self._ctx = startup.ctx
        self._log = startup.log
        self._search = _connect(startup, "search")
        self._profile = _connect(startup, "profile")
        self._recommendation = _connect(startup, "recommendation")
        self._user = _connect(startup, "user")
        self._reservation = _connect(startup, "reservation")

    async def hotels(self, query: Query, span: SpanContext) -> bytes:
        """Return hotels near a place that have rooms."""
        in_date, out_date = query["inDate"], query["outDate"]
        _require(in_date and out_date, NO_DATES)
        _require(query["lat"] and query["lon"], NO_PLACE)
        stay = Stay(to_single(_number(query["lat"])), to_single(_number(query["lon"])), in_date, out_date)
        found = await self._search.call("/search.Search/Nearby", stay, span)
        try:
            wanted = Booking("", found, in_date, out_date, 1)
            free = await self._reservation.call("/reservation.Reservation/CheckAvailability", wanted, span)
        except GrpcError:
            self._log.error("SearchHandler CheckAvailability failed", f"{SERVER}:213")
            raise
        try:
            profiles = await self._profiles(free, query, span)
        except GrpcError:
            self._log.error("SearchHandler GetProfiles failed", f"{SERVER}:227")
            raise
        return _encode(profiles)

    async def recommendations(self, query: Query, span: SpanContext) -> bytes:
        """Return the best hotels by a criterion."""
        _require(query["lat"] and query["lon"], NO_PLACE)
        _require(query["require"] in ("dis", "rate", "price"), "Please specify require params")
        request = RecommendationRequest(query["require"], _number(query["lat"]), _number(query["lon"]))
        found = await self._recommendation.call(
            "/recommendation.Recommendation/GetRecommendations", request, span
        )
        return _encode(await self._profiles(found, query, span))

    async def user(self, query: Query, span: SpanContext) -> bytes:
        """Check a login."""
        login = _login(query)
        return _message("Login successfully!" if await self._check_login(login, span) else WRONG_LOGIN)

    async def reservation(self, query: Query, span: SpanContext) -> bytes:
        """Book a room. As in the original, a wrong password is reported but does not prevent the booking."""
        in_date, out_date, hotel = query["inDate"], query["outDate"], query["hotelId"]
        _require(in_date and out_date, NO_DATES)
        _require(_is_date(in_date) and _is_date(out_date), "Please check inDate/outDate format (YYYY-MM-DD)")
        _require(hotel, "Please specify hotelId params")
        _require(query["customerName"], "Please specify customerName params")
        login = _login(query)
        message = "Reserve successfully!" if await self._check_login(login, span) else WRONG_LOGIN
        wanted = Booking(query["customerName"], [hotel], in_date, out_date, atoi(query["number"]))
        booked = await self._reservation.call("/reservation.Reservation/MakeReservation", wanted, span)
        return _message(message if booked else "Failed. Already reserved. ")

    async def page(self, request: HttpRequest, _span: SpanContext) -> HttpResponse:
        """Return a static file."""
        path = PAGES + normpath("/" + request.path.partition("?")[0])
        try:
            if self._ctx.files.is_dir(path):
                path = f"{path.rstrip('/')}/index.html"
            body = self._ctx.files.read(path)
        except FileError:
            return http_error(404, "404 page not found")
        return HttpResponse(200, body, {"Content-Type": "text/html; charset=utf-8"})

    async def _check_login(self, login: Login, span: SpanContext) -> bool:
        is_valid: bool = await self._user.call("/user.User/CheckUser", login, span)
        return is_valid

    async def _profiles(self, hotels: list[str], query: Query, span: SpanContext) -> list[Profile]:
        wanted = ProfilesRequest(hotels, query["locale"] or "en")
        found: list[Profile] = await self._profile.call("/profile.Profile/GetProfiles", wanted, span)
        return found


async def _main(startup: Startup) -> None:
    await startup.connect_tracing("FrontendPort")
    startup.log_info(f"{SERVER}:45", "Initializing gRPC clients...")
    frontend = Frontend(startup)
    startup.log_info(f"{SERVER}:65", "Successfull")
    server = HttpServer(startup.ctx, startup.tracer)
    server.route("/", frontend.page, PAGE_CPU_S)
    for path, handler in (
        ("/hotels", frontend.hotels),
        ("/recommendations", frontend.recommendations),
        ("/user", frontend.user),
        ("/reservation", frontend.reservation),
    ):
        server.route(path, _handle_queries(handler), CPU_S)
    startup.log_info(
        f"{SERVER}:{83 if startup.uses_tls else 87}", f"Serving {'https' if startup.uses_tls else 'http'}"
    )
    try:
        server.listen(startup.port, HTTPS if startup.uses_tls else HTTP)
    except AddressInUse as error:
        startup.fatal(golang.listen_error(error, startup.port))
    log_occasionally(startup.ctx, 6 * HOUR_S, _describe_semicolon, "stderr")
    await startup.run_forever()


def _connect(startup: Startup, service: str) -> GrpcChannel:
    """Return a channel to a service; the log has its name before the domain of Knative, which is empty."""
    for line, text in (
        (138, "get Grpc conn is :"),
        (139, ""),
        (140, f"{startup.get_registered_name(service)}."),
    ):
        startup.log_info(f"{SERVER}:{line}", text)
    return startup.open_channel(service)


def _describe_semicolon(time_s: float, _random: Random) -> str:
    """A crawler has asked for a page that does not exist, in an old form of parameters."""
    return golang.format_plain(time_s, SEMICOLON)


def _handle_queries(handler: QueryHandler) -> RequestHandler:
    """Turn a handler of queries into a handler of requests."""

    async def answer(request: HttpRequest, span: SpanContext) -> HttpResponse:
        try:
            response = HttpResponse(200, await handler(_replace_surrogates(query_of(request)), span))
        except BadQuery as error:
            response = http_error(400, str(error))
        except GrpcError as error:
            response = http_error(500, str(error))
        response.headers["Access-Control-Allow-Origin"] = "*"
        return response

    return answer


def _replace_surrogates(query: Query) -> Query:
    """Replace lone surrogates in parameters, so that they can be encoded again."""
    for name, value in query.items():
        if not value.isascii():
            query[name] = value.encode("utf-8", "replace").decode()
    return query


def _require(value: object, message: str) -> None:
    if not value:
        raise BadQuery(message)


def _login(query: Query) -> Login:
    _require(query["username"] and query["password"], NO_LOGIN)
    return Login(query["username"], query["password"])


def _encode(profiles: list[Profile]) -> bytes:
    try:
        return encode_collection(profiles)
    except MissingAddress:
        raise golang.Panic(NIL_POINTER, NIL_FRAMES) from None


def _message(text: str) -> bytes:
    return f'{{"message":"{text}"}}\n'.encode()


def _number(text: str) -> float:
    """Parse a number as Go does if its error is ignored."""
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


frontend = make_program("frontend", _main)
