"""Users at an HTTP front door, in virtual time."""

from __future__ import annotations

from itertools import takewhile
from random import Random

import pytest

from aiopslab.apps.base import Journey
from aiopslab.generators.workload.arrivals import OpenLoop, Replay, read_arrivals
from aiopslab.generators.workload.shapes import Bursts, Daily, Dial, Ramp, Steady, Steps
from aiopslab.generators.workload.users import WRONG, ClosedUsers, Users
from aiopslab.generators.workload.wrk import Report, Wrk
from simcloud.machine.image import Image
from simcloud.machine.network.http import HttpRequest, HttpResponse, respond, serve_http
from simcloud.machine.process import Context
from simcloud.services.front_doors import HttpDoor
from simcloud.world.world import World

PORT = 30500


class Site:
    """A web server on two nodes, and a machine outside."""

    def __init__(self, seed: int = 1, delay_s: float = 0.02) -> None:
        self.world = World(seed)
        self.delay_s = delay_s
        self.nodes = [self.world.add_machine(name) for name in ("node-1", "node-2")]
        self.served = {node.name: 0 for node in self.nodes}
        for node in self.nodes:
            node.host.start(["web"], program=self.web)
        outside = self.world.add_machine("internet", address="203.0.113.10")
        self.crowd = outside.create_container("users", Image("users", {}), address="203.0.113.11")
        self.door = HttpDoor([node.host.namespace.address for node in self.nodes], PORT)
        self.world.run_for(0.1)

    async def web(self, ctx: Context) -> int:
        async def answer(request: HttpRequest) -> HttpResponse:
            self.served[ctx.machine.name] += 1
            await ctx.sleep(self.delay_s)
            return respond(500, "broken\n") if request.path == "/broken" else respond(200, "hello\n")

        serve_http(ctx, PORT, answer)
        await ctx.sleep(1e9)
        return 0

    def run(self, users: Users | ClosedUsers, seconds: float) -> None:
        self.crowd.start(["users"], program=users.program)
        self.world.run_for(seconds)


def get(path: str) -> Journey:
    return Journey(
        path, 1.0, lambda _chance: HttpRequest("GET", path), lambda answer: answer.body == b"hello\n"
    )


def test_users_are_served_at_their_rate() -> None:
    site = Site()
    users = Users(site.door, [get("/")], OpenLoop(Steady(20.0)))
    site.run(users, 60.0)
    summary = users.results.between(0.0, 50.0)
    assert 850 < summary.requests < 1150
    assert summary.errors == summary.unfinished == 0
    assert 0.02 < summary.p50_s <= summary.p99_s < 0.05
    assert len(users.results) == sum(site.served.values())


def test_users_that_only_read_make_no_journeys_that_change_data() -> None:
    site = Site()
    write = Journey(
        "write", 1.0, lambda _chance: HttpRequest("POST", "/"), promises=lambda _request, _answer: [1]
    )
    users = Users(site.door, [get("/"), write], OpenLoop(Steady(20.0)))
    users.only_read = True
    site.run(users, 20.0)
    assert not users.results.promised and sum(site.served.values()) > 300
    users.only_read = False
    site.world.run_for(20.0)
    assert 120 < len(users.results.promised) < 280


def test_what_goes_wrong_is_written_down_by_its_kind() -> None:
    site = Site()
    odd = Journey("odd", 1.0, lambda _chance: HttpRequest("GET", "/"), lambda answer: False)
    users = Users(site.door, [get("/"), get("/broken"), odd], OpenLoop(Steady(30.0), "constant"))
    site.run(users, 10.0)
    assert users.results.between(0.0, 9.0, "/").errors == 0
    assert set(users.results.between(0.0, 9.0, "/broken").kinds) == {"HTTP 500"}
    assert set(users.results.between(0.0, 9.0, "odd").kinds) == {WRONG}


def test_a_node_that_is_lost_costs_users_a_moment() -> None:
    site = Site()
    users = Users(site.door, [get("/")], OpenLoop(Steady(20.0)))
    site.run(users, 10.0)
    lost_at = site.world.kernel.now
    site.nodes[0].lose()
    site.world.run_for(40.0)
    assert users.results.between(0.0, lost_at - 1.0).errors == 0
    assert users.results.between(lost_at, lost_at + 2.0).errors > 0
    assert users.results.between(lost_at + 20.0, lost_at + 38.0).errors == 0


def test_a_node_that_stays_lost_is_tried_less_and_less() -> None:
    site = Site()
    users = Users(site.door, [get("/")], OpenLoop(Steady(20.0)))
    site.nodes[0].lose()
    site.run(users, 605.0)

    def count_slow(start: float) -> int:
        return sum(outcome.latency_s > 0.9 for outcome in users.results.outcomes(start, start + 200.0))

    assert count_slow(0.0) > 2 * count_slow(400.0) > 0


def test_visitors_come_over_whichever_node_is_next() -> None:
    site = Site()
    site.run(Users(site.door, [get("/")], OpenLoop(Steady(1.0), "constant")), 100.0)
    assert min(site.served.values()) > 30


def test_a_slow_application_times_users_out() -> None:
    site = Site(delay_s=5.0)
    users = Users(site.door, [get("/")], OpenLoop(Steady(2.0)))
    site.run(users, 30.0)
    summary = users.results.between(0.0, 27.0)
    assert summary.errors == summary.requests > 0
    assert summary.kinds == {"timeout": summary.errors}
    assert users.results.between(28.5, 40.0).unfinished > 0


def test_nobody_listens() -> None:
    site = Site()
    users = Users(HttpDoor([site.nodes[0].host.namespace.address], 1), [get("/")], OpenLoop(Steady(5.0)))
    site.run(users, 5.0)
    assert list(users.results.between(0.0, 4.0).kinds) == ["connect: Connection refused"]


def test_users_of_a_closed_loop_wait_for_their_answers() -> None:
    site = Site(delay_s=1.0)
    users = ClosedUsers(site.door, [get("/")], users=10, think_s=1.0)
    site.run(users, 100.0)
    assert (
        400 < users.results.between(0.0, 100.0).requests < 560
    )  # ten users, one request every two seconds each


@pytest.mark.parametrize(
    ("shape", "spans", "expected"),
    [
        (Daily(10.0, 0.5, 1000.0), [(0, 100), (450, 550)], [520, 1490]),
        (Bursts(1.0, 50.0, 100.0, 10.0), [(0, 100), (100, 110), (110, 200)], [100, 500, 90]),
        (Ramp(0.0, 20.0, 100.0), [(0, 50), (50, 100), (100, 150)], [250, 750, 1000]),
        (Steps(((10.0, 10.0), (50.0, 0.0), (90.0, 20.0))), [(0, 10), (10, 50), (50, 90), (90, 100)], [0, 400, 0, 200]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("spacing", ["exponential", "constant", "normal"])
def test_load_has_the_shape_it_should(
    shape: Steady, spans: list[tuple[float, float]], expected: list[int], spacing: str
) -> None:
    times: list[float] = []
    for arrival in OpenLoop(shape, spacing).draw(Random(7)):
        if arrival.t > 1000 or len(times) > 30_000:
            break
        times.append(arrival.t)
    for (start, end), count in zip(spans, expected, strict=True):
        seen = sum(start <= t < end for t in times)
        assert abs(seen - count) <= max(4 * count**0.5, 22), (start, end)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("spacing", ["exponential", "constant"])
def test_a_load_that_comes_to_nothing_for_good_ends(spacing: str) -> None:
    times = [arrival.t for arrival in OpenLoop(Steps(((0.0, 10.0), (5.0, 0.0))), spacing).draw(Random(7))]
    assert 25 <= len(times) <= 75
    assert times[-1] < 5.2


def test_a_dial_is_turned_while_the_load_runs() -> None:
    dial = Dial(20.0)
    arrivals = OpenLoop(dial).draw(Random(7))
    for share, until, expected in ((1.0, 100.0, 2000), (0.25, 200.0, 500), (1.0, 300.0, 2000)):
        dial.share = share
        seen = len(list(takewhile(lambda arrival, until=until: arrival.t < until, arrivals)))
        assert abs(seen - expected) <= 4 * expected**0.5


@pytest.mark.parametrize("share", [0.0, 1.5, -1.0])
def test_a_dial_has_its_ends(share: float) -> None:
    with pytest.raises(ValueError, match=r"between 0\.001 and 1"):
        Dial(20.0).share = share


def test_an_unknown_spacing_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="Choose one of: constant, "):
        OpenLoop(Steady(1.0), "weird")


def test_a_recorded_trace_comes_again(tmp_path: object) -> None:
    from pathlib import Path

    folder = Path(str(tmp_path))
    (folder / "trace.csv").write_text("t,journey\n100.0,/\n100.5,/broken\n102.0,\n")
    (folder / "trace.jsonl").write_text(
        '{"t": 7, "journey": "/"}\n{"t": 7.5, "journey": "/broken"}\n{"t": 9}\n'
    )
    told = [read_arrivals(folder / name) for name in ("trace.csv", "trace.jsonl")]
    assert told[0] == told[1]
    assert [arrival.t for arrival in told[0].arrivals] == [0.0, 0.5, 2.0]
    site = Site()
    users = Users(site.door, [get("/"), get("/broken")], told[0])
    begun = site.world.kernel.now
    site.run(users, 5.0)
    went = list(users.results.outcomes())
    assert [round(outcome.start - begun, 6) for outcome in went] == [0.0, 0.5, 2.0]
    assert [outcome.journey for outcome in went[:2]] == ["/", "/broken"]
    (folder / "wrong.csv").write_text("when\n1\n")
    with pytest.raises(ValueError, match=r"wrong\.csv, arrival 1"):
        read_arrivals(folder / "wrong.csv")


def wrk_at(site: Site, wrk: Wrk, path: str = "/") -> Report:
    told: list[Report] = []

    async def main(ctx: Context) -> int:
        told.append(await wrk.run(ctx, site.door, [get(path)], "http://10.96.0.9:5000"))
        return 0

    site.crowd.start(["wrk"], program=main)
    site.world.run_for(30.0)
    return told[0]


def test_wrk_reports_as_wrk2_does() -> None:
    site = Site()
    report = wrk_at(site, Wrk(rate=10, duration=10, dist="constant"))
    lines = str(report).splitlines()
    assert lines[:3] == [
        "Running 10s test @ http://10.96.0.9:5000",
        "  2 threads and 2 connections",
        "  Thread Stats   Avg      Stdev     99%   +/- Stdev",
    ]
    assert lines[3].split()[0] == "Latency"
    assert lines[4].split() == ["Req/Sec", "9.90", "0.30", "10.00", "90.00%"]
    assert "  Latency Distribution (HdrHistogram - Recorded Latency)" in lines
    assert "#[Buckets =           27, SubBuckets     =         2048]" in lines
    assert lines[-3].startswith("  100 requests in 10.00s, ")
    assert lines[-2] == "Requests/sec:     10.00"


def test_wrk_counts_what_failed() -> None:
    assert "  Non-2xx or 3xx responses: 100" in str(
        wrk_at(Site(), Wrk(10, "constant", duration=10), "/broken")
    )
    slow = str(wrk_at(Site(delay_s=9.0), Wrk(10, "constant", duration=10)))
    assert "  Socket errors: connect 0, read 0, write 0, timeout " in slow


def test_wrk_counts_waiting_from_the_moment_a_request_was_due() -> None:
    """Two connections and half a second each serve four a second; ten are due."""
    report = wrk_at(Site(delay_s=0.5), Wrk(10, "constant", duration=10))
    assert report.latencies.at(50) > 2_000_000


def test_one_seed_one_crowd() -> None:
    def story(seed: int) -> list[object]:
        site = Site(seed)
        users = Users(site.door, [get("/"), get("/broken")], OpenLoop(Steady(20.0)))
        site.run(users, 10.0)
        return list(users.results.outcomes())

    assert story(3) == story(3) != story(4)


def test_replayed_arrivals_are_plain_data() -> None:
    assert list(Replay(()).draw(Random(1))) == []
