"""The embedded world: one seed, one outcome; faults are met by their consequences."""

from __future__ import annotations

from collections.abc import Iterator

from aiopslab.apps.synthetic import STORE
from aiopslab.cloud.scenarios import SyntheticCloud, build_synthetic_cloud
from simcloud.sim.determinism import check_determinism
from simcloud.telemetry.traces import TraceView
from simcloud.telemetry.traces.view import EVER_US


def small_cloud(seed: int) -> Iterator[str]:
    """A scenario for the determinism check: an app, users, a shell, a lost machine."""
    cloud = build_synthetic_cloud(seed, services=9, rate=10.0)
    cloud.world.run_for(5.0)
    yield cloud.world.shell("node-1", "ps aux | sort; echo $RANDOM; mktemp; df; ls -l /tmp").stdout.decode()
    cloud.world.machines["node-2"].lose()
    cloud.world.run_for(5.0)
    yield repr(cloud.users.results.between(0.0, 1e9))
    yield cloud.world.fingerprint()


def test_the_synthetic_app_is_deterministic_under_any_hash_seed() -> None:
    report = check_determinism(small_cloud, seed=5)
    assert report.steps > 1_000
    assert report.draws > 50
    assert report.observations == 3


def test_users_are_served_and_every_call_is_traced() -> None:
    cloud = build_synthetic_cloud(1, services=9, rate=20.0)
    cloud.world.run_for(10.0)
    summary = cloud.users.results.between(0.0, 10.0)
    assert summary.requests > 100
    assert summary.errors == 0
    traces: dict[int, set[str]] = {}
    for span in TraceView(cloud.world.emitter.traces).spans_between(0, EVER_US):
        traces.setdefault(span.trace_id, set()).add(span.shape.group.service)
    assert len(traces) > 100
    assert all("front" in services for services in traces.values())


def test_a_world_goes_the_same_way_unwatched() -> None:
    watched, unwatched = (
        build_synthetic_cloud(1, services=9, rate=20.0, telemetry=telemetry_on)
        for telemetry_on in (True, False)
    )
    for cloud in (watched, unwatched):
        cloud.world.run_for(5.0)
    assert repr(watched.users.results.between(0, 9)) == repr(unwatched.users.results.between(0, 9))
    assert len(unwatched.world.emitter.traces) == len(unwatched.world.emitter.logs) == 0


def test_another_seed_is_another_world() -> None:
    def fingerprint(seed: int) -> str:
        cloud = build_synthetic_cloud(seed, services=3)
        cloud.world.run_for(5.0)
        return cloud.world.fingerprint()

    assert fingerprint(1) == fingerprint(1) != fingerprint(2)


def failed_since(cloud: SyntheticCloud, seconds: float) -> set[str]:
    start = cloud.world.kernel.now
    cloud.world.run_for(seconds)
    return {o.journey for o in cloud.users.results.outcomes(start) if o.error is not None}


def test_a_failing_disk_fails_writes_and_only_those() -> None:
    cloud = build_synthetic_cloud(1, services=9, rate=20.0)
    cloud.world.machines["node-3"].disk.fail_writes = True
    assert failed_since(cloud, 20.0) == {"write"}
    cloud.world.machines["node-3"].disk.fail_writes = False
    cloud.world.run_for(1.0)
    assert failed_since(cloud, 20.0) == set()


def test_a_stopped_store_fails_everything_that_needs_it_and_comes_back() -> None:
    cloud = build_synthetic_cloud(1, services=9, rate=20.0)
    cloud.app.stop(STORE)
    assert failed_since(cloud, 20.0) == {"read", "write"}
    cloud.app.start_store(cloud.world.machines["node-2"])
    cloud.world.run_for(20.0)  # those who lost it look again ever less often
    assert failed_since(cloud, 20.0) == set()


def test_services_are_spread_over_the_machines() -> None:
    cloud = build_synthetic_cloud(1, services=9)
    homes = [cloud.app.containers[name].machine.name for name in ("front", "svc-1", "svc-2", "svc-3")]
    assert homes == ["node-1", "node-2", "node-3", "node-1"]


def test_half_a_character_in_a_typed_line_does_no_harm() -> None:
    cloud = build_synthetic_cloud(1, services=3)
    assert cloud.world.shell("node-1", "echo a\ud800b").stdout.decode() == "a\ufffdb\n"
