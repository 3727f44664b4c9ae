"""What the databases hold from the first start on: eighty hotels, their rates, rooms and users, made by formulas.

Each service inserts whatever is absent when it starts, so that a database that lost documents gets them back by a
restart of its service. Documents are new dictionaries at each call: whoever gets them may keep them.
"""

from __future__ import annotations

from hashlib import sha256
from math import copysign, inf
from struct import pack, unpack
from typing import Any, Final

Document = dict[str, Any]

HOTELS: Final = 80
USERS: Final = 501
FIRST_MADE: Final = 7
"""Hotels from this number on follow from their number; those before are known by name."""

POINTS: Final = (
    (37.7867, -122.4112),
    (37.7854, -122.4005),
    (37.7854, -122.4071),
    (37.7936, -122.3930),
    (37.7831, -122.4181),
    (37.7863, -122.4015),
)
RATES: Final = {
    0: (109.0, 123.17),
    1: (120.0, 140.0),
    2: (124.0, 144.0),
    3: (132.0, 158.0),
    4: (232.0, 258.0),
}
"""The rate and the inclusive rate of a made hotel, by its number modulo five."""

RECOMMENDED: Final = (
    (37.7867, -122.4112, 109.0, 150.0),
    (37.7854, -122.4005, 139.0, 120.0),
    (37.7834, -122.4071, 109.0, 190.0),
    (37.7936, -122.3930, 129.0, 160.0),
    (37.7831, -122.4181, 119.0, 140.0),
    (37.7863, -122.4015, 149.0, 200.0),
)
TOWER: Final = (
    "St. Regis Museum Tower is a 42-story, 484 ft skyscraper in the South of Market district of San Francisco, "
    "California, adjacent to Yerba Buena Gardens, Moscone Center, PacBell Building and the San Francisco Museum of "
    "Modern Art."
)
NAMED: Final = (
    ("Clift Hotel", "(415) 775-4700", "495", "Geary St", "94102", 37.7867, -122.4112,
     "A 6-minute walk from Union Square and 4 minutes from a Muni Metro station, this luxury hotel designed by "
     "Philippe Starck features an artsy furniture collection in the lobby, including work by Salvador Dali."),
    ("W San Francisco", "(415) 777-5300", "181", "3rd St", "94103", 37.7854, -122.4005,
     "Less than a block from the Yerba Buena Center for the Arts, this trendy hotel is a 12-minute walk from Union "
     "Square."),
    ("Hotel Zetta", "(415) 543-8555", "55", "5th St", "94103", 37.7834, -122.4071,
     "A 3-minute walk from the Powell Street cable-car turnaround and BART rail station, this hip hotel 9 minutes from "
     "Union Square combines high-tech lodging with artsy touches."),
    ("Hotel Vitale", "(415) 278-3700", "8", "Mission St", "94105", 37.7936, -122.3930,
     "This waterfront hotel with Bay Bridge views is 3 blocks from the Financial District and a 4-minute walk from the "
     "Ferry Building."),
    ("Phoenix Hotel", "(415) 776-1380", "601", "Eddy St", "94109", 37.7831, -122.4181,
     "Located in the Tenderloin neighborhood, a 10-minute walk from a BART rail station, this retro motor lodge has "
     "hosted many rock musicians and other celebrities since the 1950s. It’s a 4-minute walk from the historic Great "
     "American Music Hall nightclub."),
    ("St. Regis San Francisco", "(415) 284-4000", "125", "3rd St", "94109", 37.7863, -122.4015, TOWER),
)  # fmt: skip


def points() -> list[Document]:
    """Where each hotel is: ``geo-db.geo``."""
    return [
        {"hotelId": str(number), "lat": lat, "lon": lon}
        for number, (lat, lon) in enumerate([*POINTS, *map(_place, _made())], start=1)
    ]


def plans() -> list[Document]:
    """What a night costs, for those hotels that have a plan: ``rate-db.inventory``."""
    found = [
        _plan(1, "2015-04-10", "KNG", "King sized bed", 109.0, 123.17),
        _plan(2, "2015-04-10", "QN", "Queen sized bed", 139.0, 153.09),
        _plan(3, "2015-04-10", "KNG", "King sized bed", 109.0, 123.17),
    ]
    for number in _made():
        if number % 3 == 0:
            until = "2015-04-17" if number % 2 == 0 else "2015-04-24"
            found.append(_plan(number, until, "KNG", "King sized bed", *RATES[number % 5]))
    return found


def profiles() -> list[Document]:
    """What each hotel is called and where its door is: ``profile-db.hotels``. Places are of single precision."""
    made = [("St. Regis San Francisco", f"(415) 284-40{number}", "125", "3rd St", "94109", *_place(number), TOWER)
            for number in _made()]  # fmt: skip
    return [
        {
            "id": str(number),
            "name": name,
            "phoneNumber": phone,
            "description": description,
            "address": {
                "streetNumber": house,
                "streetName": street,
                "city": "San Francisco",
                "state": "CA",
                "country": "United States",
                "postalCode": code,
                "lat": single(lat),
                "lon": single(lon),
            },
        }
        for number, (name, phone, house, street, code, lat, lon, description) in enumerate(
            [*NAMED, *made], start=1
        )
    ]


def recommendations() -> list[Document]:
    """What each hotel is recommended by: ``recommendation-db.recommendation``."""
    made = [
        (*_place(number), *(RATES[number % 5] if number % 3 == 0 else (135.0, 179.0))) for number in _made()
    ]
    return [
        {"hotelId": str(number), "lat": lat, "lon": lon, "rate": rate, "price": price}
        for number, (lat, lon, rate, price) in enumerate([*RECOMMENDED, *made], start=1)
    ]


def rooms() -> list[Document]:
    """How many rooms each hotel has: ``reservation-db.number``."""
    sizes = {0: 200, 1: 300, 2: 250}
    return [
        {"hotelId": str(number), "numberOfRoom": 200 if number < FIRST_MADE else sizes[number % 3]}
        for number in range(1, HOTELS + 1)
    ]


def reservations() -> list[Document]:
    """The one reservation of the first day: ``reservation-db.reservation``."""
    return [
        {
            "hotelId": "4",
            "customerName": "Alice",
            "inDate": "2015-04-09",
            "outDate": "2015-04-10",
            "number": 1,
        }
    ]


def users() -> list[Document]:
    """Who may log in: ``user-db.user``."""
    return [
        {"username": f"Cornell_{number}", "password": hashed(str(number) * 10)} for number in range(USERS)
    ]


def hashed(password: str) -> str:
    """A password as it is stored."""
    return sha256(password.encode("utf-8", "surrogatepass")).hexdigest()


def single(number: float) -> float:
    """A number as it is after it went through one of single precision."""
    try:
        value: float = unpack("f", pack("f", number))[0]
    except OverflowError:
        return copysign(inf, number)
    return value


def _made() -> range:
    return range(FIRST_MADE, HOTELS + 1)


def _place(number: int) -> tuple[float, float]:
    return 37.7835 + number / 500.0 * 3, -122.41 + number / 500.0 * 4


def _plan(number: int, until: str, code: str, room: str, rate: float, inclusive: float) -> Document:
    return {
        "hotelId": str(number),
        "code": "RACK",
        "inDate": "2015-04-09",
        "outDate": until,
        "roomType": {
            "bookableRate": rate,
            "code": code,
            "roomDescription": room,
            "totalRate": rate,
            "totalRateInclusive": inclusive,
        },
    }
