"""The system's objects are taken by the API, and their programs run from their images."""

from __future__ import annotations

from typing import Any

import pytest

from simcloud.kubernetes.addons import system_images, system_objects
from simcloud.machine.network.http import HttpRequest, HttpResponse, respond
from simcloud.machine.process import Process, Signal
from tests.simcloud.kubernetes.network.conftest import World, frozen_objects

__all__ = ["frozen_objects"]


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def installed(world: World) -> World:
    nodes = world.client.list("nodes")
    for obj in system_objects(nodes):
        world.client.create(obj)
    return world


def test_an_operator_sees_the_pods_of_the_control_plane(installed: World) -> None:
    pods = {pod["metadata"]["name"]: pod for pod in installed.client.list("pods", "kube-system")}
    assert sorted(pods) == [
        "etcd-kind-control-plane",
        "kube-apiserver-kind-control-plane",
        "kube-controller-manager-kind-control-plane",
        "kube-scheduler-kind-control-plane",
    ]
    for pod in pods.values():
        annotations = pod["metadata"]["annotations"]
        assert annotations["kubernetes.io/config.mirror"] == annotations["kubernetes.io/config.hash"]
        assert annotations["kubernetes.io/config.source"] == "file"
        assert pod["metadata"]["ownerReferences"][0]["kind"] == "Node"
        assert pod["spec"]["nodeName"] == "kind-control-plane" and pod["spec"]["hostNetwork"]


def test_the_addons_of_kubeadm_and_kind_are_there(installed: World) -> None:
    client = installed.client
    service = client.get("services", "kube-system", "kube-dns")
    assert service is not None and service["spec"]["clusterIP"] == "10.96.0.10"
    assert [each["metadata"]["name"] for each in client.list("daemonsets.apps")] == ["kindnet", "kube-proxy"]
    assert client.get("deployments.apps", "kube-system", "coredns") is not None
    standard = client.get("storageclasses.storage.k8s.io", "", "standard")
    assert standard is not None and standard["provisioner"] == "rancher.io/local-path"


def containers(obj: Any) -> list[Any]:
    spec = obj["spec"] if obj["kind"] == "Pod" else obj["spec"]["template"]["spec"]
    found: list[Any] = spec["containers"]
    return found


def test_every_image_that_is_named_can_be_had_and_has_its_command(world: World) -> None:
    images = system_images(world.api, world.pods, world.services)
    running = [
        obj
        for obj in system_objects(world.client.list("nodes"))
        if obj["kind"] in ("Pod", "Deployment", "DaemonSet")
    ]
    assert len(running) == 8
    for obj in running:
        for container in containers(obj):
            image = images[container["image"]]
            program = (container.get("command") or image.entrypoint)[0]
            assert program.rpartition("/")[2] in image.programs


def start(world: World, reference: str, program: str, machine: int = 0) -> Process:
    image = system_images(world.api, world.pods, world.services)[reference]
    host = world.machines[machine]
    container = host.create_container(program, image, namespace=host.host.namespace)
    process = container.start([program])
    world.settle()
    return process


@pytest.mark.parametrize(
    ("reference", "program", "port", "protocol", "path"),
    [
        ("registry.k8s.io/etcd:3.6.8-0", "etcd", 2381, "http", "/readyz"),
        ("registry.k8s.io/kube-apiserver:v1.36.4", "kube-apiserver", 6443, "https", "/livez"),
        ("registry.k8s.io/kube-controller-manager:v1.36.4", "kube-controller-manager", 10257, "https", "/healthz"),
        ("registry.k8s.io/kube-scheduler:v1.36.4", "kube-scheduler", 10259, "https", "/livez"),
        ("registry.k8s.io/kube-proxy:v1.36.4", "kube-proxy", 10256, "http", "/healthz"),
    ],
)  # fmt: skip
def test_programs_answer_their_probes_and_end_when_told(
    world: World, reference: str, program: str, port: int, protocol: str, path: str
) -> None:
    process = start(world, reference, program)
    host = world.machines[0].host.namespace

    async def probe() -> int:
        connection = await host.dial("127.0.0.1", port, protocol, 1.0)
        connection.send(HttpRequest("GET", path))
        response = await connection.receive(1.0)
        return int(response.status)

    assert world.run(probe()) == 200
    process.send(Signal.TERM, outside=True)
    world.settle()
    assert not process.alive and process.status == 0


def test_the_rules_of_a_node_follow_the_api_while_its_proxy_runs(world: World) -> None:
    node = "kind-worker"
    world.services.stop_on(node)
    process = start(world, "registry.k8s.io/kube-proxy:v1.36.4", "kube-proxy", machine=1)
    assert world.services.runs_on(node)
    process.send(Signal.KILL, outside=True)
    world.settle()
    assert not world.services.runs_on(node)


def test_the_api_server_passes_on_what_is_not_about_its_health(world: World) -> None:
    async def version(request: HttpRequest) -> HttpResponse:
        return respond(200, f"you asked for {request.path}")

    world.api.door = version
    images = system_images(world.api, world.pods, world.services)
    host = world.machines[0]
    image = images["registry.k8s.io/kube-apiserver:v1.36.4"]
    host.create_container("apiserver", image, namespace=host.host.namespace).start(["kube-apiserver"])
    client = world.pod("client")
    world.settle()

    async def ask() -> bytes:
        connection = await client.dial("10.96.0.1", 443, "https", 1.0)
        connection.send(HttpRequest("GET", "/version"))
        response: HttpResponse = await connection.receive(1.0)
        return response.body

    assert world.run(ask()) == b"you asked for /version"
