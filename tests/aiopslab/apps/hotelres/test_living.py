"""The application on a cluster that nothing is wrong with: it comes up, serves every journey, logs and traces."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random

import pytest

from tests.aiopslab.apps.hotelres.living import NEARBY, Living

SERVICES = ("frontend", "search", "geo", "rate", "profile", "recommendation", "user", "reservation")


@pytest.fixture(scope="module")
def living() -> Living:
    return Living()


def test_it_comes_up_in_time(living: Living) -> None:
    assert living.took_s < 120
    told = living.typed("k get pods --no-headers").splitlines()
    assert len(told) == 20  # 19 workloads, one of which somebody gave a second pod
    assert all(re.search(r" 1/1 +Running ", line) for line in told)


@pytest.mark.parametrize("number", range(4))
def test_every_journey_succeeds_from_outside(living: Living, number: int) -> None:
    journey, random = living.app.journeys[number], Random(7)
    for _ in range(12):
        request = journey.request(random)
        response = living.sent(request)
        assert journey.accepts(response), (request.path, response.status, response.body)


def test_hotels_are_features_of_a_map(living: Living) -> None:
    status, body = living.asked(NEARBY)
    assert status == 200
    features = json.loads(body)["features"]
    assert [one["id"] for one in features] == ["2", "1", "3"] or sorted(one["id"] for one in features) == [
        "1",
        "2",
        "3",
    ]
    clift = next(one for one in features if one["id"] == "1")
    assert clift["geometry"] == {"coordinates": [-122.4112, 37.7867], "type": "Point"}
    assert clift["properties"] == {"name": "Clift Hotel", "phone_number": "(415) 775-4700"}


def test_recommendations_are_the_best_by_each_measure(living: Living) -> None:
    def ids(require: str) -> list[str]:
        _, body = living.asked(f"/recommendations?require={require}&lat=37.7831&lon=-122.4181")
        return sorted(feature["id"] for feature in json.loads(body)["features"])

    assert ids("price") == ["2"]
    assert ids("rate") == ["24", "39", "54", "69", "9"]
    assert ids("dis") == ["5"]


def test_a_query_that_lacks_something_is_refused_in_plain_text(living: Living) -> None:
    assert living.asked("/hotels?lat=1&lon=2") == (400, "Please specify inDate/outDate params\n")
    assert living.asked("/recommendations?lat=1&lon=2") == (400, "Please specify require params\n")
    assert living.asked("/user?username=x") == (400, "Please specify username and password\n")
    assert living.asked("/reservation?inDate=1&outDate=2") == (
        400,
        "Please check inDate/outDate format (YYYY-MM-DD)\n",
    )
    assert living.asked("/nowhere") == (404, "404 page not found\n")


def test_a_wrong_password_is_told(living: Living) -> None:
    told = '{"message":"Failed. Please check your username and password. "}\n'
    assert living.asked("/user?username=Cornell_1&password=2", "POST") == (200, told)


def test_a_booked_night_is_in_the_database_and_gone_from_searches(living: Living) -> None:
    where = "lat=38.1195&lon=-121.9620"
    search = f"/hotels?inDate=2015-04-20&outDate=2015-04-21&{where}"
    before = {one["id"] for one in json.loads(living.asked(search)[1])["features"]}
    assert "57" in before or before
    hotel = min(before)
    login = "username=Cornell_3&password=3333333333"
    booking = (
        f"/reservation?inDate=2015-04-20&outDate=2015-04-21&hotelId={hotel}&customerName=Ada&{login}&number=1"
    )
    assert living.asked(booking, "POST") == (200, '{"message":"Reserve successfully!"}\n')
    after = {one["id"] for one in json.loads(living.asked(search)[1])["features"]}
    assert after == before - {hotel}
    line = "db.getSiblingDB('reservation-db').reservation.count({customerName: 'Ada'})"
    assert living.typed(f'k exec deploy/mongodb-reservation -- mongo --quiet --eval "{line}"').strip() == "1"


def test_a_hotel_that_is_full_takes_nobody(living: Living) -> None:
    login = "username=Cornell_3&password=3333333333"
    booking = (
        f"/reservation?inDate=2015-04-22&outDate=2015-04-23&hotelId=80&customerName=Bo&{login}&number=9999"
    )
    assert living.asked(booking, "POST") == (200, '{"message":"Failed. Already reserved. "}\n')


def test_services_say_how_they_started(living: Living) -> None:
    log = living.typed("k logs deploy/geo").splitlines()
    assert [json.loads(line)["message"] for line in log[:3]] == [
        "TLS disabled.",
        "Set global log level: info",
        "Tune: setGCPercent to 100",
    ]


def test_consul_knows_the_pods(living: Living) -> None:
    told = living.typed("k exec deploy/consul -- consul catalog services").split()
    assert [f"srv-{name}" for name in sorted(SERVICES) if name != "frontend"] == [
        name for name in told if name.startswith("srv-")
    ]


def test_a_search_is_one_trace_through_all_its_services(living: Living) -> None:
    living.asked(NEARBY)
    living.world.run_for(3)
    line = (
        "curl -s 'http://jaeger:16686/api/traces?service=frontend&operation=HTTP%20GET%20%2Fhotels&limit=1'"
    )
    found = json.loads(living.typed(f"k exec deploy/geo -- {line}"))["data"][0]
    names = {process["serviceName"] for process in found["processes"].values()}
    assert names == {"frontend", "search", "geo", "rate", "reservation", "profile"}
    operations = [span["operationName"] for span in found["spans"]]
    for operation in (
        "/search.Search/Nearby",
        "/geo.Geo/Nearby",
        "/rate.Rate/GetRates",
        "/reservation.Reservation/CheckAvailability",
        "/profile.Profile/GetProfiles",
    ):
        assert operations.count(operation) == 2
    for operation in (
        "HTTP GET /hotels",
        "memcached_get_multi_rate",
        "memcached_capacity_get_multi_number",
        "memcached_reserve_get_multi_number",
        "memcached_get_profile",
    ):
        assert operation in operations


def test_what_users_were_promised_is_in_the_audit(living: Living) -> None:
    journey, random = living.app.journeys[3], Random(11)
    promised: list[str] = []
    for _ in range(5):
        request = journey.request(random)
        assert journey.promises is not None
        promised += journey.promises(request, living.sent(request))
    assert len(promised) >= 5
    assert set(promised) <= set(living.typed(living.app.audit).splitlines())


def test_caches_can_be_emptied(living: Living) -> None:
    def looked_up() -> int:
        """How often the rates' database was asked, one more search included."""
        living.asked(NEARBY)
        living.world.run_for(3)
        line = "curl -s 'http://jaeger:16686/api/traces?service=rate&operation=mongo_rate&limit=1000'"
        return int(living.typed(f"k exec deploy/geo -- {line} | grep -o mongo_rate | wc -l"))

    looked_up()
    warm = looked_up()
    assert looked_up() == warm
    for line in living.app.cooling:
        assert living.typed(line).strip() == "OK"
    living.world.run_for(2)
    assert looked_up() == warm + 5


def test_services_log_their_start_as_the_public_programs_do(living: Living) -> None:
    """The genuine lines are of programs built from the public sources, in a network of their own."""
    for name, lines in read_start_lines().items():
        log = living.typed(f"k logs deploy/{name}").splitlines()
        said = [line.partition(" INF ")[2] for line in log if " INF " in line]
        masked = [re.sub(r"id: \S+, address: [\d.]+:", "id: ID, address: IP:", line) for line in said]
        assert masked == lines, name


def read_start_lines() -> dict[str, list[str]]:
    """Return the genuine lines by service."""
    text = Path(__file__).with_name("start_lines.genuine.txt").read_text()
    found = {}
    for section in text.removeprefix("# ").split("\n# "):
        name, *lines = section.splitlines()
        found[name] = [subtract_notice(line) if name in ("geo", "rate") else line for line in lines]
    return found


def subtract_notice(line: str) -> str:
    """Return a line with the position that it has in the published image, older than a notice in two files of the sources."""
    return re.sub(r"(?<=db\.go:)\d+", lambda number: str(int(number[0]) - 4), line)
