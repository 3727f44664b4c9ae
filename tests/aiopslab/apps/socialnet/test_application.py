"""What the application tells of itself: a chart that genuine helm takes, a topology, journeys, objectives."""

from __future__ import annotations

from random import Random

import pytest
import yaml

from aiopslab.apps.socialnet import SocialNetwork
from aiopslab.cloud.apps import install_chart
from simcloud.kubernetes.images import ImageRegistry
from simcloud.machine.network.http import HttpResponse
from simcloud.world.clusters import add_cluster
from simcloud.world.terminal import Terminal
from simcloud.world.world import World
from tests.genuine import HELM, run

APP = SocialNetwork()
RENDER = f"helm template {APP.name} charts/{APP.name} -n {APP.ns} -f charts/{APP.name}/values-populated.yaml"


@pytest.fixture(scope="module")
def rendered() -> str:
    world = World(1)
    cluster = add_cluster(world, 1)
    cluster.start()
    world.run_for(20)
    terminal = Terminal(world, cluster, shown_bytes=1 << 20)
    install_chart(terminal, APP)
    done = terminal.run(RENDER, 120.0)
    assert done.status == 0, done.stderr
    return done.stdout.decode()


@pytest.fixture(scope="module")
def objects(rendered: str) -> list[dict[str, object]]:
    return [one for one in yaml.safe_load_all(rendered) if one]


def containers(objects: list[dict]) -> list[dict]:
    return [
        one["spec"]["template"]["spec"]["containers"][0] for one in objects if one["kind"] == "Deployment"
    ]


@pytest.mark.differential("helm")
def test_genuine_helm_renders_the_same(rendered: str) -> None:
    files = {f"charts/{APP.name}/{name}": text.encode() for name, text in APP.chart_files.items()}
    done = run(RENDER.split(), files=files, path=lambda: str(HELM.parent))
    assert done.status == 0
    assert done.stdout.decode() == rendered


def test_there_is_a_deployment_and_a_service_for_every_component(objects: list[dict]) -> None:
    found = {(one["kind"], one["metadata"]["name"]) for one in objects}
    for component in APP.components:
        assert ("Deployment", component.name) in found
        assert ("Service", component.name) in found
    assert len(APP.components) == 27
    assert ("Secret", "mongodb-tls") in found


def test_no_container_has_probes_or_resources_and_files_are_mounted_by_subpath(objects: list[dict]) -> None:
    for container in containers(objects):
        assert not {"livenessProbe", "readinessProbe", "startupProbe", "resources"} & container.keys()
        for mount in container.get("volumeMounts", []):
            assert "subPath" in mount or mount["mountPath"] == "/etc/tls"


def test_every_image_is_published(objects: list[dict]) -> None:
    registry = ImageRegistry()
    APP.publish(registry)
    for container in containers(objects):
        assert registry.find(container["image"]) is not None, container["image"]


def test_the_topology_names_components_only() -> None:
    names = {component.name for component in APP.components}
    for component in APP.components:
        assert set(component.calls) <= names
        assert component.owner
    assert APP.find_callers("text-service") == ["compose-post-service"]
    assert not APP.component("user-mongodb").persistent


def test_every_journey_has_a_weight_and_an_objective() -> None:
    assert sum(journey.weight for journey in APP.journeys) == pytest.approx(1.0)
    assert [one.journey for one in APP.objectives] == [journey.name for journey in APP.journeys]


def test_a_journey_is_drawn_anew_each_time_and_the_same_for_one_seed() -> None:
    for journey in APP.journeys:
        drawn = [journey.request(Random(seed)) for seed in (1, 1, 2)]
        told = [(one.path, one.body) for one in drawn]
        assert told[0] == told[1] != told[2]
        assert not journey.accepts(HttpResponse(500, b"compost_post failure: \n"))
        assert not journey.accepts(HttpResponse(200, b"<html></html>"))


def test_the_front_door_is_reached_from_outside() -> None:
    assert APP.ns == APP.namespace == "test-social-network"
    assert APP.frontend_url == "http://172.18.0.2:30080"
