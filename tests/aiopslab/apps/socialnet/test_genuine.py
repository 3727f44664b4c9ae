"""The genuine helm installs the chart, and the application comes up from it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from aiopslab.apps.socialnet import SocialNetwork
from aiopslab.cloud.apps import wait_until_ready
from simcloud.world.clusters import add_cluster
from simcloud.world.world import World
from tests.simcloud.kubectl.twins import LIFE_S, Genuine

pytestmark = pytest.mark.live("helm", "bash")


def test_genuine_helm_installs_it_and_upgrades_it(tmp_path: Path) -> None:
    world = World(7, epoch_s=float(int(time.time() - LIFE_S - 3600.0)))
    cluster = add_cluster(world, 2)
    cluster.start()
    world.run_for(LIFE_S)
    app = SocialNetwork()
    app.publish(cluster.registry)
    genuine = Genuine(world, cluster, tmp_path)
    try:
        for name, text in app.chart_files.items():
            genuine.put(f"chart/{name}", text)
        where = f"-n {app.ns}"
        values = "-f chart/values-populated.yaml"
        done = genuine.type(f"helm install {app.name} chart {where} --create-namespace {values}")
        assert (done.exit, done.stderr) == (0, "")
        done = genuine.type(
            f"helm upgrade {app.name} chart {where} --reuse-values --set text-service.replicas=2"
        )
        assert (done.exit, done.stderr) == (0, "")
    finally:
        genuine.stop()
    wait_until_ready(world, cluster, app, world.kernel.now + 200.0)
    pods = cluster.api.list(cluster.api.catalogue.find("pods"), app.ns)["items"]
    assert len(pods) == 28
