"""Databases whose pods come to another node: what they hold comes along."""

from __future__ import annotations

import pytest

from tests.aiopslab.apps.hotelres.living import Living


@pytest.mark.slow
def test_databases_keep_what_they_have_when_they_move() -> None:
    living = Living(nodes=4)
    login = "username=Cornell_3&password=3333333333"
    booking = f"/reservation?inDate=2015-04-09&outDate=2015-04-10&hotelId=9&customerName=Ada&{login}&number=1"
    assert living.asked(booking, "POST")[0] == 200
    before = living.typed("k get pods -l io.kompose.service=mongodb-reservation -o jsonpath={..nodeName}")
    living.typed(f"kubectl cordon {before}; k delete pod -l io.kompose.service=mongodb-reservation")
    living.world.run_for(20)
    after = living.typed("k get pods -l io.kompose.service=mongodb-reservation -o jsonpath={..nodeName}")
    assert after != before
    assert "9/Ada/2015-04-09/2015-04-10" in living.typed(living.app.audit).splitlines()


@pytest.mark.slow
def test_databases_outlive_the_machine_they_run_on() -> None:
    living = Living(nodes=4)
    node = living.typed("k get pods -l io.kompose.service=mongodb-geo -o jsonpath={..nodeName}")
    living.world.machines[node].lose()
    living.world.run_for(420)
    found = living.typed("k get pods -l io.kompose.service=mongodb-geo -o wide --no-headers")
    pod = next(line.split()[0] for line in found.splitlines() if node not in line.split())
    log = living.typed(f"k logs {pod}")
    assert "Waiting for connections" in log
    assert "docker-entrypoint-initdb.d" not in log
