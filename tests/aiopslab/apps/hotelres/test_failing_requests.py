"""What breaks while requests are served, as users and logs show it."""

from __future__ import annotations

import json
import re

import pytest

from tests.aiopslab.apps.hotelres.living import NEARBY, Living

NOBODY = "rpc error: code = Unavailable desc = there is no connection available\n"


@pytest.fixture
def living() -> Living:
    return Living()


def test_a_cache_that_is_gone_ends_the_service_that_asks_it(living: Living) -> None:
    living.asked(NEARBY)
    living.typed("k scale deploy/memcached-rate --replicas=0")
    living.world.run_for(35)
    status, body = living.asked(NEARBY)
    assert (status, body) == (500, "rpc error: code = Unavailable desc = transport is closing\n")
    living.world.run_for(3)
    log = living.typed("k logs -p deploy/rate")
    assert " PNC services/rate/server.go:134 > Memmcached error while trying to get hotel [id: [" in log
    assert "]]= EOF\npanic: Memmcached error " in log
    trace = re.findall(r"^\t\S+/(\S+\.go:\d+) ", log, re.MULTILINE)
    assert trace[:5] == ["log.go:405", "event.go:158", "event.go:131", "server.go:134", "rate.pb.go:253"]
    assert trace[5:] == [
        "server.go:61",
        "rate.pb.go:255",
        "server.go:920",
        "server.go:1142",
        "server.go:637",
        "server.go:635",
    ]  # as a program built from the public sources
    assert living.asked(NEARBY)[0] == 500
    living.world.run_for(3)
    log = living.typed("k logs deploy/rate; k logs -p deploy/rate")
    assert ":11211: connect: connection refused\npanic: Memmcached error " in log


def test_a_hotel_that_cannot_be_read_ends_the_request_alone(living: Living) -> None:
    line = "db.getSiblingDB('profile-db').hotels.deleteOne({id: '2'})"
    living.typed(f'k exec deploy/mongodb-profile -- mongo --quiet --eval "{line}"')
    assert living.asked("/recommendations?require=price&lat=1&lon=2")[0] == 0
    assert "ERR services/profile/server.go:167 > Failed get hotels data: " in living.typed(
        "k logs deploy/profile"
    )
    assert "http: panic serving " in living.typed("k logs deploy/frontend")
    assert json.loads(living.asked(NEARBY.replace("37.7867", "38.1195").replace("122.4112", "121.962"))[1])
    assert " 0 " in living.typed("k get pods -l io.kompose.service=frontend --no-headers")


def test_booking_a_hotel_that_does_not_exist_ends_the_process(living: Living) -> None:
    login = "username=Cornell_3&password=3333333333"
    booking = (
        f"/reservation?inDate=2015-04-09&outDate=2015-04-10&hotelId=999&customerName=Ada&{login}&number=1"
    )
    assert living.asked(booking, "POST") == (
        500,
        "rpc error: code = Unavailable desc = transport is closing\n",
    )
    living.world.run_for(5)
    told = "Tried to find hotelId [999], but got error%!(EXTRA string=not found)"
    assert f" PNC services/reservation/server.go:186 > {told}\n" in living.typed(
        "k logs -p deploy/reservation"
    )
    assert living.asked(NEARBY)[0] == 200


def test_the_wrong_binary_runs_and_serves_nobody(living: Living) -> None:
    patch = '[{"op": "replace", "path": "/spec/template/spec/containers/0/command", "value": ["geo"]}]'
    living.typed(f"k patch deploy profile --type=json -p '{patch}'")
    living.world.run_for(60)
    assert " 1/1 " in living.typed("k get pods -l io.kompose.service=profile --no-headers")
    assert "cmd/geo/main.go:79 > Starting server..." in living.typed("k logs deploy/profile")
    assert living.asked(NEARBY) == (500, NOBODY)
    assert "ERR services/frontend/server.go:227 > SearchHandler GetProfiles failed" in living.typed(
        "k logs deploy/frontend"
    )
    living.typed("k rollout undo deploy/profile")
    living.world.run_for(30)
    assert living.asked(NEARBY)[0] == 200
