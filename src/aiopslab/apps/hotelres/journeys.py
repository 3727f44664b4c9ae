"""The journeys of HotelReservation's users, their frequencies and their objectives.

The parameters are those of the published load (dates in April 2015, points around San Francisco Bay). The mix is not: there
only one request in a hundred is a login or a booking, too few to notice when these fail.
"""

from __future__ import annotations

from random import Random
from typing import Final

from aiopslab.apps.base import Journey, Objective
from aiopslab.apps.hotelres.data import HOTELS, USERS
from aiopslab.apps.hotelres.nights import list_nights
from simcloud.machine.network import HttpRequest, HttpResponse
from simcloud.services.rpc import query_of

FIRST_DAY: Final = 9
LAST_DAY: Final = 24
RESERVED: Final = b'{"message":"Reserve successfully!"}\n'
FULL: Final = b'{"message":"Failed. Already reserved. "}\n'
HOST: Final = "hotel-reservation.example"


def _make_search(random: Random) -> HttpRequest:
    arrival = random.randint(FIRST_DAY, LAST_DAY - 1)
    leaving = random.randint(arrival + 1, LAST_DAY)
    return _build_request(
        "GET", f"/hotels?inDate={_format_date(arrival)}&outDate={_format_date(leaving)}&{_draw_point(random)}"
    )


def _make_recommendation(random: Random) -> HttpRequest:
    like = random.choice(("dis", "rate", "price"))
    return _build_request("GET", f"/recommendations?require={like}&{_draw_point(random)}")


def _make_login(random: Random) -> HttpRequest:
    return _build_request("POST", f"/user?{_draw_login(random)}")


def _make_reservation(random: Random) -> HttpRequest:
    arrival = random.randint(FIRST_DAY, LAST_DAY - 1)
    leaving = min(LAST_DAY, arrival + random.randint(1, 5))
    hotel, login = random.randint(1, HOTELS), _draw_login(random)
    name = login.partition("&")[0].removeprefix("username=")
    stay = f"inDate={_format_date(arrival)}&outDate={_format_date(leaving)}&lat=nil&lon=nil&hotelId={hotel}"
    return _build_request("POST", f"/reservation?{stay}&customerName={name}&{login}&number=1")


def _is_collection(response: HttpResponse) -> bool:
    return response.status == 200 and response.body.endswith(b'"type":"FeatureCollection"}\n')


def _has_hotels(response: HttpResponse) -> bool:
    return _is_collection(response) and b'"Feature"' in response.body


def _is_logged_in(response: HttpResponse) -> bool:
    return response.status == 200 and response.body == b'{"message":"Login successfully!"}\n'


def _is_reserved_or_full(response: HttpResponse) -> bool:
    """Return whether a booking was made or the hotel is full, which is also a correct answer."""
    return response.status == 200 and response.body in (RESERVED, FULL)


def _list_booked_nights(request: HttpRequest, response: HttpResponse) -> tuple[str, ...]:
    """Return the nights whose booking was acknowledged, as the application's audit prints them."""
    if response.body != RESERVED:
        return ()
    query = query_of(request)
    booked = list_nights(query["inDate"], query["outDate"])
    return tuple(
        f"{query['hotelId']}/{query['customerName']}/{evening}/{morning}" for evening, morning in booked
    )


JOURNEYS: Final = (
    Journey("search", 0.60, _make_search, _is_collection),
    Journey("recommend", 0.25, _make_recommendation, _has_hotels),
    Journey("user", 0.10, _make_login, _is_logged_in),
    Journey("reserve", 0.05, _make_reservation, _is_reserved_or_full, _list_booked_nights),
)

OBJECTIVES: Final = (
    Objective("search", success=0.999, p99_s=0.100),
    Objective("recommend", success=0.999, p99_s=0.060),
    Objective("user", success=0.999, p99_s=0.030),
    Objective("reserve", success=0.999, p99_s=0.150),
)


def _build_request(method: str, path: str) -> HttpRequest:
    return HttpRequest(method, path, {"Host": HOST})


def _format_date(day: int) -> str:
    return f"2015-04-{day:02d}"


def _draw_point(random: Random) -> str:
    lat = 38.0235 + (random.randint(0, 481) - 240.5) / 1000.0
    lon = -122.095 + (random.randint(0, 325) - 157.0) / 1000.0
    return f"lat={lat:.4f}&lon={lon:.3f}"


def _draw_login(random: Random) -> str:
    number = random.randrange(USERS)
    return f"username=Cornell_{number}&password={str(number) * 10}"
