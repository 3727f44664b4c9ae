"""The seeded documents, and what is computed from them."""

from __future__ import annotations

from random import Random
from urllib.parse import parse_qs, urlsplit

from aiopslab.apps.hotelres import data
from aiopslab.apps.hotelres.journeys import JOURNEYS
from aiopslab.apps.hotelres.nights import list_nights
from aiopslab.apps.hotelres.places import find_closest, find_nearest, read_places


def test_there_are_as_many_documents_as_in_the_original() -> None:
    counts = [
        len(made())
        for made in (data.build_points, data.build_plans, data.build_profiles, data.build_recommendations)
    ]
    assert counts == [80, 27, 80, 80]
    assert (len(data.build_rooms()), len(data.build_reservations()), len(data.build_users())) == (80, 1, 501)


def test_a_made_hotel_follows_from_its_number() -> None:
    assert data.build_points()[9] == {"hotelId": "10", "lat": 37.7835 + 0.06, "lon": -122.41 + 0.08}
    plan = next(one for one in data.build_plans() if one["hotelId"] == "9")
    assert (plan["outDate"], plan["roomType"]["totalRate"]) == ("2015-04-24", 232.0)
    assert data.build_profiles()[79]["phoneNumber"] == "(415) 284-4080"
    assert [one["numberOfRoom"] for one in data.build_rooms()[6:9]] == [300, 250, 200]


def test_passwords_are_stored_as_hashes() -> None:
    user = data.build_users()[500]
    assert user["username"] == "Cornell_500"
    assert user["password"] == data.hash_password("500" * 10)
    assert len(user["password"]) == 64


def test_the_nearest_come_first_and_none_from_afar() -> None:
    known = read_places(data.build_points())
    assert find_nearest(known, 37.7867, -122.4112, 10.0, 5)[0] == "1"
    assert len(find_nearest(known, 37.7867, -122.4112, 10.0, 5)) == 5
    assert find_nearest(known, 0.0, 0.0, 10.0, 5) == []
    assert find_nearest(known, float("nan"), -122.0, 10.0, 5) == []
    assert find_closest(known, 38.2, -121.8) != []


def test_searches_find_none_one_or_two_hotels_as_often_as_in_the_original() -> None:
    known, priced = read_places(data.build_points()), {plan["hotelId"] for plan in data.build_plans()}
    search, random = JOURNEYS[0], Random(1)
    counts = [0] * 6
    for _ in range(4000):
        query = parse_qs(urlsplit(search.request(random).path).query)
        near = find_nearest(known, float(query["lat"][0]), float(query["lon"][0]), 10.0, 5)
        counts[len([hotel for hotel in near if hotel in priced])] += 1
    shares = [round(100 * count / 4000) for count in counts]
    assert abs(shares[0] - 48) <= 3
    assert abs(shares[1] - 18) <= 3
    assert abs(shares[2] - 34) <= 3


def test_nights_of_a_stay() -> None:
    assert list_nights("2015-04-09", "2015-04-11") == (
        ("2015-04-09", "2015-04-10"),
        ("2015-04-10", "2015-04-11"),
    )
    assert list_nights("2015-04-11", "2015-04-09") == ()
    assert list_nights("nonsense", "2015-04-09")[0][0] == "0001-01-01"
    assert len(list_nights("nonsense", "2015-04-09")) == 400
