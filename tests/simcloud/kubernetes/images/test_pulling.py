"""Pulls that fail, in the words of the recorded node."""

from __future__ import annotations

import pytest

from simcloud.kubernetes.images import Host, HostState, standard_registry
from tests.simcloud.kubernetes.kubelet.world import World

COULD_NOT = 'Failed to pull image "{0}": failed to pull and unpack image "{0}": failed to resolve image: '
ASKING = 'failed to do request: Head "https://{0}/v2/app/manifests/1": '


@pytest.mark.parametrize(
    ("image", "host", "why"),
    [
        (
            "registry.invalid.example/app:1",
            "registry.invalid.example",
            "dial tcp: lookup registry.invalid.example on 172.18.0.1:53: no such host",
        ),
        ("172.18.0.2:5999/app:1", "172.18.0.2:5999", "dial tcp 172.18.0.2:5999: connect: connection refused"),
    ],
)
def test_a_registry_that_cannot_be_reached(image: str, host: str, why: str) -> None:
    world = World()
    world.run("app", image=image)
    world.kernel.run_for(3)
    told = [each[3] for each in world.events("app") if each[2] == "Failed"]
    assert told[0] == COULD_NOT.format(image) + ASKING.format(host) + why


def test_a_registry_that_never_answers() -> None:
    world = World()
    world.run("app", image="192.0.2.77:5000/app:1")
    world.kernel.run_for(20)
    assert world.status("app")["state"]["waiting"]["reason"] == "ContainerCreating"
    world.kernel.run_for(15)
    (told,) = [each[3] for each in world.events("app") if each[3].startswith("Failed to pull")]
    assert told == (
        'Failed to pull image "192.0.2.77:5000/app:1": rpc error: code = DeadlineExceeded desc = '
        'failed to pull and unpack image "192.0.2.77:5000/app:1": failed to resolve image: '
        'failed to do request: Head "https://192.0.2.77:5000/v2/app/manifests/1": '
        "dial tcp 192.0.2.77:5000: i/o timeout"
    )


def test_an_outage_of_a_known_registry_ends() -> None:
    registry = standard_registry()
    registry.hosts["docker.io"] = Host(HostState.REFUSES, "203.0.113.9")
    world = World(registry=registry)
    world.run("web", image="nginx:1.19")
    world.kernel.run_for(20)
    assert world.status("web")["state"]["waiting"]["reason"] in ("ErrImagePull", "ImagePullBackOff")
    registry.hosts["docker.io"] = Host()
    world.run_until_ready(["web"], 60)
    assert world.status("web")["restartCount"] == 0


def test_an_image_that_is_there_needs_no_registry() -> None:
    registry = standard_registry()
    world = World(registry=registry)
    world.kubelet.node.images.preload("nginx:1.19")
    registry.hosts["docker.io"] = Host(HostState.SILENT)
    world.run("web", image="nginx:1.19")
    world.run("always", image="nginx:1.19", container={"imagePullPolicy": "Always"})
    world.kernel.run_for(5)
    assert world.status("web")["ready"]
    already = 'Container image "nginx:1.19" already present on machine and can be accessed by the pod'
    assert (1, "Normal", "Pulled", already) in world.events("web")


def test_an_invalid_name() -> None:
    world = World()
    world.run("app", image="MyApp:1.0")
    world.kernel.run_for(5)
    why = 'couldn\'t parse image name "MyApp:1.0": invalid reference format: repository name (library/MyApp) must be lowercase'
    told = f'Failed to apply default image tag "MyApp:1.0": {why}'
    assert world.status("app")["state"]["waiting"] == {"reason": "InvalidImageName", "message": told}
    assert ("Warning", "InspectFailed", told) in [each[1:] for each in world.events("app")]
    assert ("Warning", "Failed", "Error: InvalidImageName") in [each[1:] for each in world.events("app")]


def test_pauses_between_pulls_grow() -> None:
    world = World()
    world.run("app", image="nosuchimage:v1")
    world.kernel.run_for(400)
    (pulls,) = [each[0] for each in world.events("app") if each[2] == "Pulling"]
    assert 5 <= pulls <= 7


def test_an_image_that_was_taken_back_is_gone_for_new_nodes() -> None:
    registry = standard_registry()
    registry.remove("nginx:1.19")
    world = World(registry=registry)
    world.run("web", image="nginx:1.19")
    world.kernel.run_for(4)
    (told,) = [each[3] for each in world.events("web") if each[3].startswith("Failed to pull")]
    assert told.endswith("failed to resolve image: docker.io/library/nginx:1.19: not found")
