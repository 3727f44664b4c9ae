"""What the application tells of itself: manifests that a cluster takes, a topology, journeys, objectives."""

from __future__ import annotations

from random import Random

import pytest

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.cloud.apps import apply_manifests
from simcloud.kubernetes.images import ImageRegistry
from simcloud.machine.network.http import HttpResponse
from simcloud.world.clusters import add_cluster
from simcloud.world.terminal import Terminal
from simcloud.world.world import World

APP = HotelReservation()
RETRYING = HotelReservation("retries")


def test_the_manifests_pass_a_strict_dry_run() -> None:
    world = World(1)
    cluster = add_cluster(world, 1)
    cluster.start()
    world.run_for(20)
    terminal = Terminal(world, cluster)
    apply_manifests(terminal, APP)
    done = terminal.run(f"kubectl apply --dry-run=server --validate=strict -f manifests/{APP.name}", 120.0)
    assert done.stderr == b""
    told = done.stdout.decode().splitlines()
    assert len(told) == len(APP.manifests()) == 54
    assert all(line.endswith("(server dry run)") for line in told)


def test_variants_differ_in_the_tag_of_the_image_only() -> None:
    changed = [
        (line, other)
        for name, text in APP.manifest_files.items()
        for line, other in zip(text.splitlines(), RETRYING.manifest_files[name].splitlines(), strict=True)
        if line != other
    ]
    image = "          image: yinfangchen/hotelreservation:"
    assert changed == [(f"{image}latest", f"{image}retries")] * 8


def test_there_is_a_deployment_and_a_service_for_every_component() -> None:
    found = {(one["kind"], one["metadata"]["name"]) for one in APP.manifests()}
    for component in APP.components:
        assert ("Deployment", component.name) in found
        assert ("Service", component.name) in found
    assert len(APP.components) == 19
    assert ("Service", "jaeger-out") in found


def test_no_container_has_probes_or_memory_settings() -> None:
    for one in APP.manifests():
        if one["kind"] == "Deployment":
            (container,) = one["spec"]["template"]["spec"]["containers"]
            assert not {"livenessProbe", "readinessProbe", "startupProbe"} & container.keys()
            assert container["resources"] == {"requests": {"cpu": "100m"}, "limits": {"cpu": "1000m"}}


@pytest.mark.parametrize("app", [APP, RETRYING], ids=["original", "retries"])
def test_every_image_is_published(app: HotelReservation) -> None:
    registry = ImageRegistry()
    app.publish(registry)
    for one in app.manifests():
        if one["kind"] == "Deployment":
            (container,) = one["spec"]["template"]["spec"]["containers"]
            assert registry.find(container["image"]) is not None, container["image"]


def test_the_topology_names_components_only() -> None:
    names = {component.name for component in APP.components}
    for component in APP.components:
        assert set(component.calls) <= names
        assert component.owner
    assert APP.find_callers("rate") == ["search"]
    assert APP.component("mongodb-rate").persistent
    with pytest.raises(KeyError):
        APP.component("billing")


def test_every_journey_has_a_weight_and_an_objective() -> None:
    assert sum(journey.weight for journey in APP.journeys) == pytest.approx(1.0)
    assert [one.journey for one in APP.objectives] == [journey.name for journey in APP.journeys]
    assert min(journey.weight for journey in APP.journeys) > 0.005


def test_a_journey_is_drawn_anew_each_time_and_the_same_for_one_seed() -> None:
    for journey in APP.journeys:
        paths = [journey.request(Random(seed)).path for seed in (1, 1, 2)]
        assert paths[0] == paths[1] != paths[2]
        assert not journey.accepts(HttpResponse(500, b"rpc error: code = Unavailable desc = \n"))
        assert not journey.accepts(HttpResponse(200, b"<html></html>"))


def test_the_front_door_is_reached_from_outside() -> None:
    assert APP.ns == APP.namespace == "test-hotel-reservation"
    assert APP.frontend_url == "http://172.18.0.2:30500"
