"""The release with retries: a burst of load throws it into a failure that stays when the burst is long gone.

Its search manages some sixty requests a second; users bring two dozen. When its queue is full once, all who are
served have left before, and ask again: four times two dozen is more than it manages. Only less load ends that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.cloud.environment import Environment
from aiopslab.cloud.outside import start_outside
from aiopslab.generators.workload.wrk import Wrk
from simcloud.machine.process import Context
from simcloud.world.copies import Copy

RATE = 40.0
BURST_RATE = 120.0
BURST_S = 20.0
AFTER_S = 300.0
ENDED_S = 2.5
"""By then every request has got its answer or has been given up."""


def prepared(seed: int) -> Environment:
    """Users at their normal rate, and all is well."""
    environment = Environment(HotelReservation("retries"), seed, nodes=2, rate=RATE)
    environment.settle()
    return environment


def burst(environment: Environment) -> None:
    """Many more users for a while; what they sent is over when this returns."""
    wrk = Wrk(BURST_RATE, duration=BURST_S, connections=200)

    async def program(ctx: Context) -> int:
        await wrk.run(ctx, environment.door, environment.app.journeys, environment.app.frontend_url)
        return 0

    crowd = start_outside(environment.world, "burst", program)
    environment.run_for(BURST_S + ENDED_S)
    assert not crowd.processes


def failed(environment: Environment, seconds: float, journey: str = "search") -> float:
    """Let time pass; the share of a journey's requests in it that failed."""
    begun = environment.now
    environment.run_for(seconds)
    fared = environment.users.results.between(begun, environment.now - ENDED_S, journey)
    assert fared.requests > 0
    return fared.error_rate


def metric(environment: Environment, query: str) -> float:
    """The one number that monitoring answers."""
    (found,) = environment.monitoring.api.answer("query", {"query": [query]})["data"]["result"]
    return float(found["value"][1])


def halve_load(environment: Environment) -> None:
    environment.load.share = 0.5
    environment.run_for(30.0)
    environment.load.share = 1.0


def close_front_door(environment: Environment) -> None:
    scale = f"kubectl -n {environment.namespace} scale deployment/frontend --replicas="
    environment.operate(f"{scale}0")
    environment.run_for(30.0)
    environment.operate(f"{scale}1")
    environment.run_for(20.0)


def restart_search(environment: Environment) -> None:
    environment.operate(f"kubectl -n {environment.namespace} rollout restart deployment/search")
    environment.run_for(30.0)


@pytest.fixture(scope="module")
def settled() -> Iterator[Copy[Environment]]:
    with Copy.of(prepared, 2) as copy:
        yield copy


@pytest.fixture(scope="module")
def storming(settled: Copy[Environment]) -> Iterator[Copy[Environment]]:
    with settled.branch(burst) as copy:
        yield copy


@pytest.mark.slow
def test_without_a_burst_users_are_served_well(settled: Copy[Environment]) -> None:
    with settled.branch() as copy:
        assert copy.call(failed, 30.0) == 0.0


@pytest.mark.slow
def test_the_failure_stays_for_minutes_and_is_one_of_retries(storming: Copy[Environment]) -> None:
    with storming.branch() as copy:
        for _ in range(int(AFTER_S / 60.0)):
            assert copy.call(failed, 60.0) > 0.95
        # What search does not matter for goes well all the while.
        assert copy.call(failed, 20.0, "recommend") == 0.0
        asked = copy.call(metric, 'sum(rate(grpc_server_requests_total{service="search"}[1m]))')
        meant = copy.call(metric, 'sum(rate(grpc_client_requests_total{peer="search"}[1m]))')
        assert asked > 3.0 * meant
        busy = 'sum(rate(container_cpu_usage_seconds_total{container="hotel-reserv-search"}[1m]))'
        assert copy.call(metric, busy) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("shed", [halve_load, close_front_door, restart_search])
def test_shedding_load_heals_for_good(
    storming: Copy[Environment], shed: Callable[[Environment], None]
) -> None:
    with storming.branch() as copy:
        assert copy.call(failed, 30.0) > 0.95
        copy.call(shed)
        assert copy.call(failed, 60.0) == 0.0
