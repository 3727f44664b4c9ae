"""Releases are common property: what one helm stored, the other reads, upgrades and removes."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from simcloud.world.clusters import add_cluster
from simcloud.world.world import World
from tests.simcloud.helm.rendering import chart_files
from tests.simcloud.kubectl.twins import LIFE_S, Genuine, Ours

pytestmark = pytest.mark.live("helm", "kubectl", "bash")


def test_each_reads_what_the_other_stored(tmp_path: Path) -> None:
    world = World(7, epoch_s=float(int(time.time() - LIFE_S - 3600.0)))
    cluster = add_cluster(world, 4)
    cluster.start()
    world.run_for(LIFE_S)
    ours = Ours(world, cluster)
    for name, text in chart_files("shop").items():
        ours.put(f"shop/{name}", text)
    assert ours.type("helm install web shop --set greeting=ours").exit == 0
    told = [ours.type(line) for line in READING]
    genuine = Genuine(world, cluster, tmp_path)
    try:
        for name, text in chart_files("shop").items():
            genuine.put(f"shop/{name}", text)
        for line, wanted in zip(READING, told, strict=True):
            assert genuine.type(line).normal() == wanted.normal(), line
        upgraded = genuine.type("helm upgrade web shop --reuse-values --set replicaCount=2")
        assert (upgraded.exit, upgraded.stderr) == (0, "")
        told = [genuine.type(line) for line in READING]
    finally:
        genuine.stop()
    for line, wanted in zip(READING, told, strict=True):
        assert ours.type(line).normal() == wanted.normal(), line
    assert ours.type("helm rollback web 1").exit == 0
    assert ours.type("kubectl get deploy web-shop -o jsonpath='{.spec.replicas}'").stdout == "1"
    assert ours.type("helm uninstall web").stdout == 'release "web" uninstalled\n'


READING = (
    "helm list",
    "helm status web",
    "helm history web",
    "helm get values web",
    "helm get values web -a",
    "helm get manifest web",
    "helm get hooks web",
    "helm get all web",
    "helm get metadata web -o json",
    "helm status web -o json",
)
