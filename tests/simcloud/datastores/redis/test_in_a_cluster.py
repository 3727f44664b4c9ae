"""Redis in a pod behind a Service, as somebody at a terminal meets it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from simcloud.datastores.redis import add_redis
from simcloud.kubernetes.images import standard_registry
from simcloud.world.clusters import add_cluster
from simcloud.world.terminal import Terminal
from simcloud.world.world import World


@pytest.fixture(scope="module")
def terminal() -> Iterator[Terminal]:
    world = World(7)
    cluster = add_cluster(world, 2)
    registry = standard_registry()
    add_redis(registry)
    cluster.start(registry)
    world.run_for(40.0)
    terminal = Terminal(world, cluster, shown_bytes=1 << 20)
    terminal.run("kubectl create deployment home-timeline-redis --image=redis:6.2.4")
    terminal.run("kubectl expose deployment home-timeline-redis --port=6379")
    terminal.run("kubectl run cli --image=redis:6.2.4 -- sleep 100000")
    world.run_for(30.0)
    yield terminal


def _out(terminal: Terminal, line: str) -> str:
    done = terminal.run(line)
    return (done.stdout + done.stderr).decode()


def test_another_pod_reaches_it_by_name(terminal: Terminal) -> None:
    cli = "kubectl exec cli -- redis-cli -h home-timeline-redis"
    assert _out(terminal, f"{cli} zadd 1 5 post") == "1\n"
    assert _out(terminal, f"{cli} --no-raw zrevrange 1 0 -1 withscores") == '1) "post"\n2) "5"\n'


def test_the_server_runs_as_its_own_user_in_its_folder(terminal: Terminal) -> None:
    inside = "kubectl exec deploy/home-timeline-redis --"
    assert _out(terminal, f"{inside} redis-cli config get dir") == "dir\n/data\n"
    assert _out(terminal, f"{inside} redis-cli save") == "OK\n"
    assert _out(terminal, f"{inside} stat -c '%U %s' /data/dump.rdb").startswith("redis ")
    assert "Ready to accept connections" in _out(terminal, "kubectl logs deploy/home-timeline-redis")


def test_a_pod_that_is_made_anew_has_nothing(terminal: Terminal) -> None:
    terminal.run("kubectl exec deploy/home-timeline-redis -- redis-cli set kept no")
    terminal.run("kubectl rollout restart deployment home-timeline-redis")
    terminal.run("kubectl rollout status deployment home-timeline-redis; sleep 35")
    assert _out(terminal, "kubectl exec cli -- redis-cli -h home-timeline-redis dbsize") == "0\n"


def test_no_pod_behind_the_service(terminal: Terminal) -> None:
    terminal.run("kubectl scale deployment home-timeline-redis --replicas=0; sleep 35")
    said = _out(terminal, "kubectl exec cli -- redis-cli -h home-timeline-redis ping")
    assert said.startswith("Could not connect to Redis at home-timeline-redis:6379: Connection refused\n")
    terminal.run("kubectl scale deployment home-timeline-redis --replicas=1; sleep 20")
