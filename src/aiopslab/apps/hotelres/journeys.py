"""What users of the hotels do, how often, and what they are promised.

The draws are those of the published load (dates in April 2015, points around San Francisco Bay). Its mix is not: there
only one request in a hundred logs in or books, too few for anybody to notice when that is broken.
"""

from __future__ import annotations

from random import Random
from typing import Final

from aiopslab.apps.base import Journey, Objective
from aiopslab.apps.hotelres.data import HOTELS, USERS
from aiopslab.apps.hotelres.nights import nights
from simcloud.machine.network.http import HttpRequest, HttpResponse
from simcloud.services.rpc import query_of

FIRST_DAY: Final = 9
LAST_DAY: Final = 24
RESERVED: Final = b'{"message":"Reserve successfully!"}\n'
FULL: Final = b'{"message":"Failed. Already reserved. "}\n'
HOST: Final = "hotel-reservation.example"


def _search(random: Random) -> HttpRequest:
    arrival = random.randint(FIRST_DAY, LAST_DAY - 1)
    leaving = random.randint(arrival + 1, LAST_DAY)
    return _request("GET", f"/hotels?inDate={_date(arrival)}&outDate={_date(leaving)}&{_point(random)}")


def _recommend(random: Random) -> HttpRequest:
    like = random.choice(("dis", "rate", "price"))
    return _request("GET", f"/recommendations?require={like}&{_point(random)}")


def _user(random: Random) -> HttpRequest:
    return _request("POST", f"/user?{_login(random)}")


def _reserve(random: Random) -> HttpRequest:
    arrival = random.randint(FIRST_DAY, LAST_DAY - 1)
    leaving = min(LAST_DAY, arrival + random.randint(1, 5))
    hotel, login = random.randint(1, HOTELS), _login(random)
    name = login.partition("&")[0].removeprefix("username=")
    stay = f"inDate={_date(arrival)}&outDate={_date(leaving)}&lat=nil&lon=nil&hotelId={hotel}"
    return _request("POST", f"/reservation?{stay}&customerName={name}&{login}&number=1")


def _hotels_found(response: HttpResponse) -> bool:
    return response.status == 200 and response.body.endswith(b'"type":"FeatureCollection"}\n')


def _some_found(response: HttpResponse) -> bool:
    return _hotels_found(response) and b'"Feature"' in response.body


def _logged_in(response: HttpResponse) -> bool:
    return response.status == 200 and response.body == b'{"message":"Login successfully!"}\n'


def _reserved(response: HttpResponse) -> bool:
    """A hotel that is full says so; that is a right answer, too."""
    return response.status == 200 and response.body in (RESERVED, FULL)


def _nights_booked(request: HttpRequest, response: HttpResponse) -> tuple[str, ...]:
    """The nights that somebody was told to have booked, as the application's audit prints them."""
    if response.body != RESERVED:
        return ()
    query = query_of(request)
    booked = nights(query["inDate"], query["outDate"])
    return tuple(
        f"{query['hotelId']}/{query['customerName']}/{evening}/{morning}" for evening, morning in booked
    )


JOURNEYS: Final = (
    Journey("search", 0.60, _search, _hotels_found),
    Journey("recommend", 0.25, _recommend, _some_found),
    Journey("user", 0.10, _user, _logged_in),
    Journey("reserve", 0.05, _reserve, _reserved, _nights_booked),
)

OBJECTIVES: Final = (
    Objective("search", success=0.999, p99_s=0.100),
    Objective("recommend", success=0.999, p99_s=0.060),
    Objective("user", success=0.999, p99_s=0.030),
    Objective("reserve", success=0.999, p99_s=0.150),
)


def _request(method: str, path: str) -> HttpRequest:
    return HttpRequest(method, path, {"Host": HOST})


def _date(day: int) -> str:
    return f"2015-04-{day:02d}"


def _point(random: Random) -> str:
    lat = 38.0235 + (random.randint(0, 481) - 240.5) / 1000.0
    lon = -122.095 + (random.randint(0, 325) - 157.0) / 1000.0
    return f"lat={lat:.4f}&lon={lon:.3f}"


def _login(random: Random) -> str:
    number = random.randrange(USERS)
    return f"username=Cornell_{number}&password={str(number) * 10}"
