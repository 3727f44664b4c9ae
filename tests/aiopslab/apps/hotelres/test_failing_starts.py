"""What keeps services from starting, as it shows in life, and the usual repairs."""

from __future__ import annotations

import pytest

from aiopslab.apps.hotelres.releases import BAD_GEO
from tests.aiopslab.apps.hotelres.living import NEARBY, Living

NOBODY = "rpc error: code = Unavailable desc = there is no connection available\n"


@pytest.fixture
def living() -> Living:
    return Living()


def test_without_its_database_a_service_runs_on_until_it_is_restarted(living: Living) -> None:
    living.typed("k scale deploy/mongodb-geo --replicas=0")
    living.world.run_for(40)
    assert living.asked(NEARBY)[0] == 200
    living.typed("k delete pod -l io.kompose.service=geo")
    living.world.run_for(60)
    log = living.typed("k logs deploy/geo; k logs -p deploy/geo")
    assert " PNC cmd/geo/db.go:26 > no reachable servers\n" in log
    assert "panic: no reachable servers\n\ngoroutine 1 [running]:\n" in log
    assert f"\nmain.initializeDatabase({{0xc00001e0c0, {len('mongodb-geo:27017'):#x}}})\n" in log
    assert "Exit Code:    2" in living.typed("k describe pod -l io.kompose.service=geo")
    assert living.asked(NEARBY) == (500, NOBODY)
    living.typed("k scale deploy/mongodb-geo --replicas=1")
    living.world.run_for(20)
    living.typed("k delete pod -l io.kompose.service=geo")
    living.world.run_for(60)
    assert living.asked(NEARBY)[0] == 200


def test_a_release_with_a_wrong_port_is_rolled_back(living: Living) -> None:
    living.typed(f"k set image deploy/geo hotel-reserv-geo={BAD_GEO}")
    living.world.run_for(60)
    assert "Read database URL: mongodb-geo:27777" in living.typed("k logs deploy/geo")
    assert living.asked(NEARBY)[0] == 500
    living.typed("k rollout undo deploy/geo")
    living.world.run_for(30)
    assert living.asked(NEARBY)[0] == 200


def test_a_restarted_consul_has_forgotten_everybody(living: Living) -> None:
    living.typed("k delete pod -l io.kompose.service=consul")
    living.world.run_for(40)
    assert "srv-geo" not in living.typed("k exec deploy/consul -- consul catalog services")
    assert living.asked(NEARBY)[0] == 200
    services = "frontend search geo rate profile recommendation user reservation"
    living.typed(f"k rollout restart deploy {services}")
    living.world.run_for(60)
    assert living.asked(NEARBY)[0] == 200


@pytest.mark.slow(keep=1)
def test_what_a_service_lacks_at_its_start_ends_it(living: Living) -> None:
    def last_words(name: str) -> str:
        living.typed(f"k delete pod -l io.kompose.service={name}")
        living.world.run_for(8)
        return living.typed(f"k logs deploy/{name}; k logs -p deploy/{name}")

    living.typed("k delete svc memcached-rate")
    assert "\npanic: lookup memcached-rate on 10.96.0.10:53: no such host\n" in last_words("rate")
    living.typed("k scale deploy/consul --replicas=0")
    living.world.run_for(5)
    told = last_words("user")
    assert (
        ' FTL cmd/user/main.go:80 > failed register: Put "http://consul:8500/v1/agent/service/register": '
        in told
    )
    assert "connect: connection refused" in told
    assert "grpc/lb/consul: error retrieving instances from Consul: " in living.typed(
        "k logs deploy/frontend"
    )
    living.typed("k delete svc jaeger")
    told = last_words("recommendation")
    assert (
        " PNC cmd/recommendation/main.go:60 > Got error while initializing jaeger agent: lookup jaeger"
        in told
    )


def test_a_revoked_role_and_a_dropped_user_keep_geo_from_starting(living: Living) -> None:
    def mongo(who: str, line: str) -> str:
        login = f"mongo admin --quiet -u {who} -p {who} --authenticationDatabase admin"
        return living.typed(f'k exec deploy/mongodb-geo -- {login} --eval "{line}"')

    def last_words() -> str:
        living.typed("k delete pod -l io.kompose.service=geo")
        living.world.run_for(8)
        return living.typed("k logs deploy/geo; k logs -p deploy/geo")

    roles = "[{role: 'readWrite', db: 'geo-db'}]"
    mongo("admin", f"db.revokeRolesFromUser('admin', {roles})")
    told = ' FTL cmd/geo/db.go:35 > not authorized on geo-db to execute command { count: "geo", query: { hotelId: "1" }'
    assert told in last_words()
    assert "Exit Code:    1" in living.typed("k describe pod -l io.kompose.service=geo")
    mongo("admin", f"db.grantRolesToUser('admin', {roles})")
    assert "Successfully registered in consul" in last_words()
    living.world.run_for(5)
    assert living.asked(NEARBY)[0] == 200
    mongo("root", "db.dropUser('admin')")
    told = " PNC cmd/geo/db.go:26 > server returned error on SASL authentication step: Authentication failed."
    assert told in last_words()
    assert living.asked(NEARBY) == (500, NOBODY)
