"""A server that cannot be reached: the genuine sentences, and as much virtual time as the attempts take."""

from __future__ import annotations

import re

import pytest

from simcloud.world.clusters import add_cluster
from simcloud.world.terminal import Terminal
from simcloud.world.world import World

LOGGED = re.compile(r"^E\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ memcache\.go:265\] \"Unhandled Error\" err=", re.M)


@pytest.fixture
def terminal() -> Terminal:
    """The operator's host beside a young cluster."""
    world = World(5)
    cluster = add_cluster(world, 4)
    cluster.start()
    world.run_for(60)
    return Terminal(world, cluster)


def test_a_server_that_was_never_seen_is_asked_several_times(terminal: Terminal) -> None:
    done = terminal.run("kubectl get pods --server=http://127.0.0.1:1")
    told = done.stderr.decode()
    assert done.status == 1 and len(LOGGED.findall(told)) == 5
    assert told.endswith(
        "The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?\n"
    )


def test_what_a_server_serves_is_remembered_for_ten_minutes(terminal: Terminal) -> None:
    line = "kubectl get nodes 2>&1 | grep -c memcache"
    assert terminal.run(line).stdout == b"0\n"  # reached, and known from now on
    terminal.machine.host.namespace.down()
    assert terminal.run(line).stdout == b"0\n"
    terminal.machine.host.kernel.run_for(601)
    assert terminal.run(line).stdout == b"5\n"


def test_a_name_that_nobody_knows(terminal: Terminal) -> None:
    told = terminal.run("kubectl version --server=http://nowhere.example").stderr.decode()
    assert told.startswith("Unable to connect to the server: dial tcp: lookup nowhere.example")
    assert told.endswith(": no such host\n")


def test_an_address_where_nobody_answers_takes_its_time(terminal: Terminal) -> None:
    before = terminal.machine.host.kernel.now
    told = terminal.run(
        "kubectl auth whoami --server=http://172.18.9.9:8080 --request-timeout=2s"
    ).stderr.decode()
    assert told.startswith("Unable to connect to the server: ")
    assert terminal.machine.host.kernel.now - before < 5
