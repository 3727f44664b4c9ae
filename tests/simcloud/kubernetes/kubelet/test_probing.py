"""Probes: what they find, how often it takes, and what follows."""

from __future__ import annotations

from typing import Any

import pytest

from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.images import standard_registry
from simcloud.machine.image import Image
from simcloud.machine.network.grpc_health import HealthCheckResponse
from simcloud.machine.process import Context
from tests.simcloud.kubernetes.kubelet.world import World, is_ready


def run_with(
    world: World, name: str, kind: str, probe: Object, *args: str, image: str = "nginx:1.19"
) -> None:
    world.run(name, *args, image=image, terminationGracePeriodSeconds=1, container={kind: probe})


def test_readiness_follows_the_page(world: World) -> None:
    probe = {"httpGet": {"path": "/ready", "port": 80}, "periodSeconds": 2}
    run_with(world, "web", "readinessProbe", probe)
    world.kernel.run_for(10)
    assert not is_ready(world.pod("web"))
    assert "running" in world.status("web")["state"]
    record = next(iter(world.kubelet.node.runtime.pods.values())).containers[0]
    assert record.container is not None
    record.container.files.put("/usr/share/nginx/html/ready", b"yes")
    world.kernel.run_for(3)
    assert is_ready(world.pod("web"))
    record.container.files.remove("/usr/share/nginx/html/ready")
    world.kernel.run_for(3)
    assert is_ready(world.pod("web"))  # one failure is not enough
    world.kernel.run_for(6)
    assert not is_ready(world.pod("web"))
    assert world.status("web")["restartCount"] == 0


def test_a_ready_pod_is_found_ready_right_after_its_start(world: World) -> None:
    run_with(world, "web", "readinessProbe", {"httpGet": {"path": "/", "port": 80}, "periodSeconds": 60})
    world.kernel.run_for(4)
    assert is_ready(world.pod("web"))


def test_liveness_replaces_the_container(world: World) -> None:
    probe = {"exec": {"command": ["test", "-e", "/tmp/ok"]}, "periodSeconds": 2, "failureThreshold": 2}
    run_with(
        world, "app", "livenessProbe", probe, "sh", "-c", "touch /tmp/ok; sleep 5; rm /tmp/ok; sleep 999",
        image="busybox:1.36",
    )  # fmt: skip
    world.kernel.run_for(16)
    assert world.status("app")["restartCount"] == 1
    assert world.status("app")["lastState"]["terminated"]["exitCode"] == 137
    killing = "Container app failed liveness probe, will be restarted"
    assert (1, "Normal", "Killing", killing) in world.events("app")


def test_other_probes_wait_for_the_startup_probe(world: World) -> None:
    startup = {"exec": {"command": ["test", "-e", "/tmp/up"]}, "periodSeconds": 1, "failureThreshold": 30}
    live = {"exec": {"command": ["test", "-e", "/tmp/up"]}, "periodSeconds": 1, "failureThreshold": 1}
    world.run(
        "app",
        "sh",
        "-c",
        "sleep 8; touch /tmp/up; sleep 999",
        container={"startupProbe": startup, "livenessProbe": live},
    )
    world.kernel.run_for(7)
    assert world.status("app")["started"] is False
    assert not is_ready(world.pod("app"))
    world.kernel.run_for(7)
    assert world.status("app")["started"] is True
    assert is_ready(world.pod("app"))
    assert world.status("app")["restartCount"] == 0


def test_a_tcp_probe_needs_only_a_listener(world: World) -> None:
    run_with(world, "web", "readinessProbe", {"tcpSocket": {"port": 80}})
    run_with(world, "not", "readinessProbe", {"tcpSocket": {"port": 81}})
    world.kernel.run_for(5)
    assert is_ready(world.pod("web"))
    assert not is_ready(world.pod("not"))


def test_a_named_port_is_looked_up(world: World) -> None:
    world.run(
        "web",
        image="nginx:1.19",
        container={
            "ports": [{"name": "http", "containerPort": 80}],
            "readinessProbe": {"httpGet": {"port": "http"}},
        },
    )
    world.kernel.run_for(5)
    assert is_ready(world.pod("web"))


@pytest.mark.parametrize(("said", "ready"), [("SERVING", True), ("NOT_SERVING", False)])
def test_a_grpc_server_tells_its_health(said: str, ready: bool) -> None:
    async def serve(ctx: Context) -> int:
        listener = ctx.listen(9000, "grpc")

        def accept(connection: Any) -> None:
            connection.on_message = lambda _: connection.send(HealthCheckResponse(said))

        listener.on_accept = accept
        while True:
            await ctx.sleep(1000)

    registry = standard_registry()
    registry.add("rpc:1", Image("rpc", {"serve": serve}, entrypoint=["serve"]))
    world = World(registry=registry)
    run_with(world, "rpc", "readinessProbe", {"grpc": {"port": 9000}}, image="rpc:1")
    world.kernel.run_for(5)
    assert is_ready(world.pod("rpc")) is ready
    if not ready:
        told = 'Readiness probe failed: service unhealthy (responded with "NOT_SERVING")'
        assert told in [each[3] for each in world.events("rpc")]


def test_readiness_gates_are_others_words(world: World) -> None:
    world.run("web", image="nginx:1.19", readinessGates=[{"conditionType": "example.com/gate"}])
    world.kernel.run_for(5)
    ready = next(each for each in world.pod("web")["status"]["conditions"] if each["type"] == "Ready")
    assert (ready["status"], ready["reason"]) == ("False", "ReadinessGatesNotReady")
    assert (
        ready["message"] == 'corresponding condition of pod readiness gate "example.com/gate" does not exist.'
    )
    changed = copy(world.pod("web"))
    changed["status"]["conditions"].append({"type": "example.com/gate", "status": "True"})
    world.client.update_status(changed)
    world.kernel.run_for(5)
    assert is_ready(world.pod("web"))
    assert "example.com/gate" in [each["type"] for each in world.pod("web")["status"]["conditions"]]
