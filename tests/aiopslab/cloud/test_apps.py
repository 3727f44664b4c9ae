"""Deploying applications: a small one comes up; one that is refused or never gets ready is told."""

from __future__ import annotations

import pytest

from aiopslab.apps.base import Application, FrontDoor
from aiopslab.cloud.apps import DeployFailed, NotReady, deploy
from simcloud.kubernetes.cluster import Cluster
from simcloud.kubernetes.images import ImageRegistry
from simcloud.world.clusters import add_cluster
from simcloud.world.world import World

SITE = """\
apiVersion: v1
kind: Namespace
metadata: {name: site}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: site}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: "IMAGE"}]
"""


class Site(Application):
    """One Deployment."""

    name = "site"
    namespace = "site"
    front_door = FrontDoor("web", 80, 30080)

    def __init__(self, text: str) -> None:
        self.manifest_files = {"site.yaml": text}

    def publish(self, registry: ImageRegistry) -> None:
        """It runs what is published already."""


@pytest.fixture
def started() -> tuple[World, Cluster]:
    world = World(2)
    cluster = add_cluster(world, 2)
    cluster.start()
    world.run_for(20)
    return world, cluster


def test_it_is_ready_when_its_pods_have_stood_for_a_while(started: tuple[World, Cluster]) -> None:
    world, cluster = started
    app = Site(SITE.replace("IMAGE", "nginx:1.19"))
    assert 15 < deploy(world, cluster, app) < 30
    assert [one["metadata"]["name"] for one in app.manifests()] == ["site", "web"]


def test_a_pod_that_never_runs_is_named(started: tuple[World, Cluster]) -> None:
    world, cluster = started
    with pytest.raises(NotReady, match="site: not ready: web"):
        deploy(world, cluster, Site(SITE.replace("IMAGE", "nobody/has:this")), timeout_s=40.0)


def test_a_pod_that_runs_and_dies_is_not_ready(started: tuple[World, Cluster]) -> None:
    world, cluster = started
    dying = SITE.replace('image: "IMAGE"', 'image: "busybox:1.36", command: [sleep, "4"]')
    with pytest.raises(NotReady):
        deploy(world, cluster, Site(dying), timeout_s=60.0)


def test_manifests_that_are_refused_fail_in_kubectls_words(started: tuple[World, Cluster]) -> None:
    world, cluster = started
    with pytest.raises(DeployFailed, match=r'unknown field "spec\.replicaz"'):
        deploy(world, cluster, Site(SITE.replace("replicas", "replicaz")))
