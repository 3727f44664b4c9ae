"""The severity signal: nothing when all is well, more when users suffer or things are broken, nothing again after."""

from __future__ import annotations

from aiopslab.cloud.environment import Environment
from aiopslab.orchestrator.evaluation import Health, health
from aiopslab.orchestrator.evaluation.severity import WINDOW_S, HealthMonitor, compute_severity
from simcloud.world.copies import Copy

NS = "test-hotel-reservation"


def typed(environment: Environment, *lines: str, wait_s: float = 35.0) -> Health:
    """How it is, some time after somebody typed something."""
    for line in lines:
        environment.operate(line)
    environment.run_for(wait_s)
    return health(environment)


def broken_and_mended(environment: Environment) -> tuple[Health, Health]:
    line = f"kubectl -n {NS} scale deployment/user --replicas="
    return typed(environment, line + "0"), typed(environment, line + "1")


def watched_and_looked_at(environment: Environment) -> list[tuple[Health, Health]]:
    """What somebody sees who watches all along, and somebody who comes anew each time: a process dies twice, a workload goes."""
    watch = HealthMonitor(environment)
    seen = [(watch.measure(), health(environment))]
    for line in (
        f"kubectl -n {NS} exec deploy/geo -- kill 1 || true",
        f"kubectl -n {NS} exec deploy/geo -- kill 1 || true",
        f"kubectl -n {NS} delete deployment rate",
    ):
        environment.operate(line)
        for _ in range(9):
            environment.run_for(WINDOW_S / 6)
            seen.append((watch.measure(), health(environment)))
    return seen


def power_cut(environment: Environment) -> Health:
    """A node's machine goes silent."""
    environment.machines["kind-worker"].lose()
    environment.run_for(60.0)
    return health(environment)


def test_all_is_well_at_first(hotels: Copy[Environment]) -> None:
    assert hotels.call(health) == Health(0.0, 0.0, 0.0, ())


def test_a_workload_scaled_to_nothing_shows_although_nothing_more_is_wanted(
    hotels: Copy[Environment],
) -> None:
    with hotels.branch() as copy:
        broken, mended = copy.call(broken_and_mended)
    assert {"deployments/user", "services/user"} <= set(broken.unhealthy)
    assert broken.failed > 0
    assert broken.severity > 0.3
    assert mended.unhealthy == ()
    assert mended.severity < 0.05


def test_what_was_deleted_shows(hotels: Copy[Environment]) -> None:
    with hotels.branch() as copy:
        after = copy.call(typed, f"kubectl -n {NS} delete deployment/recommendation service/geo")
    assert {"deployments/recommendation", "services/recommendation", "services/geo"} <= set(after.unhealthy)
    assert after.failed > 0.2


def test_a_pod_that_cannot_start_shows_and_so_does_its_workload(hotels: Copy[Environment]) -> None:
    with hotels.branch() as copy:
        after = copy.call(
            typed,
            f'kubectl -n {NS} patch deployment/geo -p \'{{"spec":{{"strategy":{{"type":"Recreate","rollingUpdate":null}}}}}}\'',
            f"kubectl -n {NS} set image deployment/geo '*=nowhere/nothing:1'",
        )
    assert "deployments/geo" in after.unhealthy
    assert any(one.startswith("pods/geo-") for one in after.unhealthy)


def test_who_watches_all_along_sees_what_anybody_sees(hotels: Copy[Environment]) -> None:
    with hotels.branch() as copy:
        seen = copy.call(watched_and_looked_at)
    assert [watched for watched, _ in seen] == [looked_at for _, looked_at in seen]
    crashing = [any(one.startswith("pods/geo") for one in now.unhealthy) for now, _ in seen]
    assert True in crashing[10:19], "a pod that runs again has crashed twice"
    assert not crashing[18], "half a minute later that is forgotten, though nobody has written anything"
    assert "deployments/rate" in seen[-1][0].unhealthy


def test_the_clusters_own_things_count_and_are_told_apart(hotels: Copy[Environment]) -> None:
    with hotels.branch() as copy:
        after = copy.call(typed, "kubectl -n kube-system scale deployment/coredns --replicas=0")
    assert "deployments/coredns (kube-system)" in after.unhealthy
    assert "services/kube-dns (kube-system)" in after.unhealthy


def test_a_node_without_power_shows(hotels: Copy[Environment]) -> None:
    with hotels.branch() as copy:
        assert "nodes/kind-worker" in copy.call(power_cut).unhealthy


def test_a_finished_helper_pod_is_not_unhealthy(hotels: Copy[Environment]) -> None:
    with hotels.branch() as copy:
        after = copy.call(typed, f"kubectl -n {NS} run helper --image=busybox --restart=Never -- true")
    assert after.unhealthy == ()


def test_severity_stays_between_0_and_1_and_grows_with_either_part() -> None:
    many = tuple(f"services/{number}" for number in range(1000))
    assert compute_severity(0.0, ()) == 0.0
    assert compute_severity(1.0, many) == 1.0
    assert 0.4 < compute_severity(0.0, many) < 0.5
    assert (
        compute_severity(0.2, ())
        < compute_severity(0.2, ("pods/a",))
        < compute_severity(0.2, ("nodes/a",))
        < compute_severity(0.6, ("nodes/a",))
    )
