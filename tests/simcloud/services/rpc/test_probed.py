"""A kubelet probes servers of the model."""

from __future__ import annotations

import pytest

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.images import standard_registry
from simcloud.machine.image import Image
from simcloud.machine.process import Context, Program
from simcloud.services.rpc import GrpcServer, HttpServer
from simcloud.services.tracing import Tracer
from tests.simcloud.kubernetes.kubelet.world import World, is_ready

PORT = 9000


def grpc_server(health: bool, healthy: bool = True) -> Program:
    async def serve(ctx: Context) -> int:
        server = GrpcServer(ctx, Tracer(ctx, "app"), health=health)
        server.healthy = healthy
        return await server.serve(PORT)

    return serve


async def http_server(ctx: Context) -> int:
    return await HttpServer(ctx, Tracer(ctx, "app"), health="/healthz").serve(PORT)


@pytest.mark.parametrize(
    ("program", "probe", "ready"),
    [
        (grpc_server(health=True), {"grpc": {"port": PORT}}, True),
        (grpc_server(health=True, healthy=False), {"grpc": {"port": PORT}}, False),
        (grpc_server(health=False), {"grpc": {"port": PORT}}, False),
        (http_server, {"httpGet": {"port": PORT, "path": "/healthz"}}, True),
        (http_server, {"httpGet": {"port": PORT, "path": "/"}}, False),
    ],
)
def test_a_probe_finds_the_health_a_server_tells(program: Program, probe: Object, ready: bool) -> None:
    registry = standard_registry()
    registry.add("app:1", Image("app", {"serve": program}, entrypoint=["serve"]))
    world = World(registry=registry)
    world.run("app", image="app:1", container={"readinessProbe": probe})
    world.kernel.run_for(5)
    assert is_ready(world.pod("app")) is ready
