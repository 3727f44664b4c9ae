"""The shell where people use it: in a pod, through kubectl, from the terminal."""

from __future__ import annotations

import pytest

from simcloud.datastores.mongodb.image import images
from simcloud.kubernetes.images import standard_registry
from simcloud.world.terminal import Terminal
from tests.simcloud.kubernetes.lab import Lab


@pytest.fixture(scope="module")
def terminal() -> Terminal:
    registry = standard_registry()
    for reference, image in images().items():
        registry.add(reference, image, args=["mongod"])
    lab = Lab(nodes=2, registry=registry)
    lab.deploy("mongodb-geo", "mongo:4.4.6", 1)
    lab.create(
        "Service", "mongodb-geo", spec={"selector": {"app": "mongodb-geo"}, "ports": [{"port": 27017}]}
    )
    lab.world.run_for(30)
    return Terminal(lab.world, lab.cluster)


def test_a_command_on_the_command_line(terminal: Terminal) -> None:
    done = terminal.run(
        """kubectl exec deploy/mongodb-geo -- mongo geo-db --quiet --eval 'db.geo.insert({hotelId: "1"}); db.geo.count()'"""
    )
    assert (done.status, done.stdout) == (0, b"1\n")


def test_a_script_on_standard_input(terminal: Terminal) -> None:
    done = terminal.run(
        "kubectl exec -i deploy/mongodb-geo -- mongo --quiet <<'EOF'\nuse geo-db\ndb.geo.find({}, {_id: 0})\nEOF"
    )
    assert done.stdout == b'switched to db geo-db\n{ "hotelId" : "1" }\n'


def test_the_database_by_its_services_name(terminal: Terminal) -> None:
    done = terminal.run(
        "kubectl exec deploy/mongodb-geo -- mongo mongodb-geo:27017/geo-db --quiet --eval 'db.geo.count()'"
    )
    assert (done.status, done.stdout) == (0, b"1\n")


def test_a_failure_is_kubectls_too(terminal: Terminal) -> None:
    done = terminal.run("kubectl exec deploy/mongodb-geo -- mongo --quiet --eval 'nosuch()'")
    assert done.status == 252
    assert done.stdout.startswith(
        b"uncaught exception: ReferenceError: nosuch is not defined :\n@(shell eval):1:1\n"
    )
    assert b"command terminated with exit code 252" in done.stderr


def test_an_endless_script_ends(terminal: Terminal) -> None:
    done = terminal.run("kubectl exec deploy/mongodb-geo -- mongo --quiet --eval 'while (true) {}'")
    assert done.status == 125


def test_without_standard_input_it_leaves_at_once(terminal: Terminal) -> None:
    done = terminal.run("kubectl exec deploy/mongodb-geo -- mongo")
    assert done.status == 0
    assert done.stdout.endswith(b"MongoDB server version: 4.4.6\nbye\n")
