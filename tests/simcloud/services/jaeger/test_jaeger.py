"""Jaeger in a container: spans from agents' clients in, found by curl, lost with the process."""

from __future__ import annotations

import json
from typing import Any

import pytest

from simcloud.machine.computer import EPOCH_S
from simcloud.machine.process import Context
from simcloud.services.jaeger import jaeger_image
from simcloud.services.tracing import Tracer
from simcloud.telemetry.sink import Telemetry
from tests.simcloud.datastores.small_world import SmallWorld

ADDRESS = "10.1.0.1"


@pytest.fixture
def world() -> SmallWorld:
    return SmallWorld(jaeger=ADDRESS)


async def _trace(ctx: Context, agent: str = "jaeger:6831") -> None:
    tracer = await Tracer.open(ctx, "geo", agent)
    span = tracer.begin("/geo.Geo/Nearby", tags=(("component", "gRPC"), ("span.kind", "server")))
    await ctx.sleep(0.02)
    span.finish()
    await ctx.sleep(2.0)


def _json(world: SmallWorld, url: str) -> Any:
    return json.loads(world.shell(f"curl -s '{url}'").stdout)


def test_spans_are_kept_and_found(world: SmallWorld) -> None:
    world.run("jaeger", ADDRESS, jaeger_image(), uid=10001)
    assert _json(world, "http://jaeger:16686/api/services")["data"] is None
    world.do(_trace)
    assert _json(world, "http://jaeger:16686/api/services")["data"] == ["geo"]
    found = _json(world, "http://jaeger:16686/api/traces?service=geo&lookback=1h")["data"]
    (span,) = found[0]["spans"]
    assert (span["operationName"], span["duration"]) == ("/geo.Geo/Nearby", 20_000)
    assert [each.operation for each in world.emitter.spans] == ["/geo.Geo/Nearby"]
    metrics = world.shell("curl -s http://jaeger:14269/metrics").stdout.decode()
    labels = 'debug="false",format="proto",svc="geo",transport="grpc"'
    assert f"jaeger_collector_spans_received_total{{{labels}}} 1\n" in metrics


def test_jaeger_traces_its_own_api_and_tells_nobody_else(world: SmallWorld) -> None:
    world.run("jaeger", ADDRESS, jaeger_image(), uid=10001)
    world.do(_trace)
    url = "http://jaeger:16686/api"
    assert _json(world, f"{url}/services")["data"] == ["geo"]
    world.shell(f"curl -s {url}/traces/12ab; curl -s {url}/nothing; curl -s http://jaeger:16686/search")
    world.kernel.run_for(5.0)
    assert sorted(_json(world, f"{url}/services")["data"]) == ["geo", "jaeger-all-in-one"]
    own = "jaeger-all-in-one"
    assert sorted(_json(world, f"{url}/services/{own}/operations")["data"]) == [
        "/api/services",
        "/api/traces/{traceID}",
    ]
    found = _json(world, f"{url}/traces?service={own}&operation=/api/services&lookback=1h")["data"]
    assert [trace["processes"]["p1"]["serviceName"] for trace in found] == [own]
    tags = {tag["key"]: tag["value"] for tag in found[0]["spans"][0]["tags"]}
    assert (tags["http.status_code"], tags["span.kind"], tags["internal.span.format"]) == (
        200,
        "server",
        "otlp",
    )
    assert _json(world, f"{url}/traces/{found[0]['traceID']}")["data"] == found
    assert [each.service for each in world.emitter.spans] == ["geo"]
    metrics = world.shell("curl -s http://jaeger:14269/metrics").stdout.decode()
    assert (
        'received_total{debug="false",format="unknown",svc="jaeger-all-in-one",transport="unknown"} 2\n'
        in metrics
    )


def test_names_come_in_the_order_of_a_map(world: SmallWorld) -> None:
    world.run("jaeger", ADDRESS, jaeger_image(), uid=10001)
    few, many = ["c", "a", "b"], [f"x{number:02}" for number in range(9)]

    async def work(ctx: Context) -> None:
        for service, names in (("few", few), ("many", many)):
            tracer = await Tracer.open(ctx, service, "jaeger:6831")
            for name in names:
                tracer.begin(name).finish()
        await ctx.sleep(2.0)

    world.do(work)
    url = "http://jaeger:16686/api/services/{}/operations"
    orders = [_json(world, url.format("few"))["data"] for _ in range(20)]
    seen = {"".join(order) for order in orders}
    assert len(seen) > 1 and seen <= {"cab", "abc", "bca"}
    orders = [_json(world, url.format("many"))["data"] for _ in range(3)]
    assert orders[0] != orders[1] and sorted(orders[0]) == sorted(orders[2]) == many


def test_what_was_received_is_lost_with_the_process(world: SmallWorld) -> None:
    container, process = world.run("jaeger", ADDRESS, jaeger_image(), uid=10001)
    world.do(_trace)
    world.shell("kill 1", container)
    world.kernel.run_for(1.0)
    assert process.status == 0
    messages = [json.loads(line.text)["msg"] for line in world.emitter.logs if line.text.startswith("{")]
    assert messages[0] == "Mounting metrics handler on admin server"
    assert messages[-1] == "Shutdown complete"
    container.start(jaeger_image().entrypoint)
    world.kernel.run_for(1.0)
    assert _json(world, "http://jaeger:16686/api/services")["data"] is None


def test_spans_sent_to_nobody_are_lost_without_a_word(world: SmallWorld) -> None:
    world.do(_trace)
    assert world.emitter.spans == []


def test_an_error_ends_with_a_newline_and_an_answer_does_not(world: SmallWorld) -> None:
    world.run("jaeger", ADDRESS, jaeger_image(), uid=10001)
    refusal = world.shell("curl -s http://jaeger:16686/api/traces").stdout
    assert refusal.endswith(b"}]}\n")
    assert json.loads(refusal)["errors"] == [{"code": 400, "msg": "parameter 'service' is required"}]
    assert world.shell("curl -s http://jaeger:16686/api/services").stdout.endswith(b"null}")


def test_memory_grows_with_what_is_kept(world: SmallWorld) -> None:
    container, _ = world.run("jaeger", ADDRESS, jaeger_image(), uid=10001)
    before = container.memory_bytes

    async def many(ctx: Context) -> None:
        tracer = await Tracer.open(ctx, "geo", "jaeger:6831")
        for _ in range(5000):
            tracer.begin("x").finish()
        await ctx.sleep(2.0)

    world.do(many)
    assert container.memory_bytes - before == 5000 * 1200


def test_memory_holds_what_was_counted_up_to_the_limit(world: SmallWorld) -> None:
    container, _ = world.run("jaeger", ADDRESS, jaeger_image(), uid=10001)
    world.shell("kill 1", container)
    process = container.start(jaeger_image().entrypoint, env={"MEMORY_MAX_TRACES": "500"})
    world.kernel.run_for(1.0)
    before = container.memory_bytes
    received = process.counted[1].owner
    received["geo"] = 4_000  # in a time that was skipped
    world.do(_trace)
    assert container.memory_bytes - before == 4_001 * 1200
    received["geo"] = 4_000_000
    world.do(_trace)
    assert container.memory_bytes - before == 500 * 12 * 1200
    messages = (json.loads(line.text) for line in world.emitter.logs if "MaxTraces" in line.text)
    assert [message["configuration"]["MaxTraces"] for message in messages] == [0, 500]


def test_the_other_ports(world: SmallWorld) -> None:
    world.run("jaeger", ADDRESS, jaeger_image(), uid=10001)
    assert _json(world, "http://jaeger:14269/")["status"] == "Server available"
    strategy = _json(world, "http://jaeger:5778/sampling?service=geo")
    assert strategy["probabilisticSampling"] == {"samplingRate": 0.001}
    refusal = world.shell("curl -s http://jaeger:5778/sampling").stdout
    assert refusal == b"'service' parameter must be provided once\n"
    assert b"Jaeger UI" in world.shell("curl -s http://jaeger:16686/search").stdout


def test_the_platform_keeps_spans_once_and_each_jaeger_knows_its_own() -> None:
    world = SmallWorld(jaeger=ADDRESS, other="10.1.0.2")
    platform = Telemetry(EPOCH_S)
    first, _ = world.run("jaeger", ADDRESS, jaeger_image())
    first.machine.emitter = platform
    world.shell("kill 1", first)
    first.start(jaeger_image().entrypoint)
    other, _ = world.run("other", "10.1.0.2", jaeger_image())
    used = other.memory_bytes
    for agent in ("jaeger:6831", "other:6831", "jaeger:6831"):
        world.do(lambda ctx, agent=agent: _trace(ctx, agent))
    assert len(platform.traces) == 3
    assert other.memory_bytes - used == 1200
    mine, others = (
        {one["traceID"] for one in _json(world, f"http://{name}:16686/api/traces?service=geo")["data"]}
        for name in ("jaeger", "other")
    )
    assert (len(mine), len(others)) == (2, 1)
    assert not mine & others
