"""Memcached, Consul and Jaeger in pods behind Services, as somebody at a terminal meets them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from simcloud.datastores.consul import add_consul
from simcloud.datastores.memcached import add_memcached
from simcloud.kubernetes.images import standard_registry
from simcloud.services.jaeger import add_jaeger
from simcloud.world.clusters import add_cluster
from simcloud.world.terminal import Terminal
from simcloud.world.world import World


@pytest.fixture(scope="module")
def terminal() -> Iterator[Terminal]:
    world = World(7)
    cluster = add_cluster(world, 2)
    registry = standard_registry()
    for add in (add_memcached, add_consul, add_jaeger):
        add(registry)
    cluster.start(registry)
    world.run_for(40.0)
    terminal = Terminal(world, cluster, shown_bytes=1 << 20)
    for name, image, port in (
        ("memcached-rate", "memcached", 11211),
        ("consul", "hashicorp/consul:latest", 8500),
        ("jaeger", "jaegertracing/all-in-one:1.57", 16686),
    ):
        terminal.run(f"kubectl create deployment {name} --image={image}")
        terminal.run(f"kubectl expose deployment {name} --port={port}")
    terminal.run("kubectl run cli --image=busybox:1.36 -- sleep 100000")
    world.run_for(30.0)
    yield terminal


def _out(terminal: Terminal, line: str) -> str:
    return terminal.run(line).stdout.decode()


def test_all_of_them_run_with_the_images_own_entry_points(terminal: Terminal) -> None:
    phases = _out(terminal, "kubectl get pods -o jsonpath='{.items[*].status.phase}'")
    assert phases.split() == ["Running"] * 4


def test_a_pod_types_at_memcached_through_its_service(terminal: Terminal) -> None:
    said = _out(
        terminal,
        "kubectl exec cli -- sh -c \"printf 'set a 0 0 2\\r\\nhi\\r\\nget a\\r\\nquit\\r\\n' | nc memcached-rate 11211\"",
    )
    assert said == "STORED\r\nVALUE a 0 2\r\nhi\r\nEND\r\n"


def test_consul_is_asked_over_http_and_by_its_own_command(terminal: Terminal) -> None:
    leader = _out(terminal, "kubectl exec cli -- wget -qO- http://consul:8500/v1/status/leader")
    assert leader == '"127.0.0.1:8300"\n'
    terminal.run("kubectl exec deploy/consul -- consul services register -name=web -port=80")
    assert _out(terminal, "kubectl exec deploy/consul -- consul catalog services") == "consul\nweb\n"
    assert "Consul agent running!" in _out(terminal, "kubectl logs deploy/consul")
    terminal.run(
        "kubectl rollout restart deployment consul && kubectl rollout status deployment consul; sleep 3"
    )
    assert _out(terminal, "kubectl exec deploy/consul -- consul catalog services") == "consul\n"


def test_jaeger_answers_its_api(terminal: Terminal) -> None:
    said = _out(terminal, "kubectl exec cli -- wget -qO- http://jaeger:16686/api/services")
    assert said == '{"data":null,"total":0,"limit":0,"offset":0,"errors":null}'


def test_a_limit_below_what_memcached_fills_kills_it(terminal: Terminal) -> None:
    terminal.run("kubectl set resources deployment memcached-rate --limits=memory=8Mi")
    terminal.run("kubectl rollout status deployment memcached-rate; sleep 5")
    fill = "for i in 1 2 3 4 5 6 7 8; do printf 'set k%d 0 0 900000\\r\\n' $i; head -c 900000 /dev/zero; printf '\\r\\n'; done"
    terminal.run(f"kubectl exec -i cli -- sh -s <<'EOF'\n({fill}) | nc memcached-rate 11211\nEOF\nsleep 3")
    reason = _out(
        terminal,
        "kubectl get pods -l app=memcached-rate "
        "-o jsonpath='{.items[*].status.containerStatuses[0].lastState.terminated.reason}'",
    )
    assert reason == "OOMKilled"
