"""Consul alive: registrations, blocking look-ups, DNS, its command line, a restart."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from simcloud.datastores.consul import ConsulAddresses, ConsulClient, ConsulError, consul_image
from simcloud.machine.image import Image
from simcloud.machine.network.dns import Question, Reply, ask
from simcloud.machine.network.http import HttpRequest, HttpResponse, respond, serve_http
from simcloud.machine.process import Container, Context, Process
from tests.simcloud.datastores.small_world import SmallWorld

ADDRESS = "10.1.0.1"
AGENT = ("agent", "-dev", "-client", "0.0.0.0")


@pytest.fixture
def world() -> SmallWorld:
    return SmallWorld(consul=ADDRESS)


def _start(world: SmallWorld, name: str = "consul-0") -> tuple[Container, Process]:
    return world.run(name, ADDRESS, consul_image(), *AGENT)


def _register(world: SmallWorld, name: str, id: str, address: str, port: int) -> None:
    async def work(ctx: Context) -> None:
        await ConsulClient(ctx, "consul:8500").register(name, id, address, port)

    world.do(work)


def _json(world: SmallWorld, path: str) -> object:
    return json.loads(world.shell(f"curl -s http://consul:8500{path}").stdout)


def test_the_agent_starts_as_it_does(world: SmallWorld) -> None:
    _start(world)
    lines = [line.text for line in world.emitter.logs]
    assert lines[0] == "==> Starting Consul agent..."
    assert "             Node name: 'consul-0'" in lines
    assert [line[25:] for line in lines if "agent: " in line][-1] == "[INFO]  agent: Synced node info"
    assert _json(world, "/v1/status/leader") == "127.0.0.1:8300"
    assert _json(world, "/v1/catalog/services") == {"consul": []}


def test_a_registered_service_is_found(world: SmallWorld) -> None:
    _start(world)
    _register(world, "srv-geo", "one", "10.1.0.7", 8083)
    services = _json(world, "/v1/agent/services")
    assert isinstance(services, dict)
    assert (services["one"]["Service"], services["one"]["Address"], services["one"]["Port"]) == (
        "srv-geo",
        "10.1.0.7",
        8083,
    )
    health = _json(world, "/v1/health/service/srv-geo?passing")
    assert isinstance(health, list)
    assert [(entry["Service"]["ID"], entry["Checks"][0]["CheckID"]) for entry in health] == [
        ("one", "serfHealth")
    ]


def test_names_in_dns(world: SmallWorld) -> None:
    _start(world)
    _register(world, "srv-geo", "one", "10.1.0.7", 8083)

    async def asked(ctx: Context, name: str, kind: str) -> Reply:
        return await ask(ctx.container.namespace, ADDRESS, Question(name, kind), 1.0, 8600)

    assert world.do(lambda ctx: asked(ctx, "srv-geo.service.consul", "A")).addresses == ["10.1.0.7"]
    places = world.do(lambda ctx: asked(ctx, "srv-geo.service.dc1.consul", "SRV"))
    assert [record.data for record in places.answers] == ["1 1 8083 0a010007.addr.dc1.consul."]
    assert world.do(lambda ctx: asked(ctx, "srv-none.service.consul", "A")).code == "NXDOMAIN"
    assert world.do(lambda ctx: asked(ctx, "example.com", "A")).code == "REFUSED"


def test_addresses_follow_the_registry(world: SmallWorld) -> None:
    _start(world)
    reports: list[tuple[float, list[str]]] = []

    async def watcher(ctx: Context) -> int:
        def tell(addresses: Sequence[str]) -> None:
            reports.append((round(ctx.kernel.now, 1), list(addresses)))

        ConsulAddresses(ctx, "consul:8500", "srv-geo").watch(tell)
        await ctx.sleep(1e9)
        return 0

    world.client.start(["watcher"], program=watcher)
    world.kernel.run_until(10.0)
    _register(world, "srv-geo", "one", "10.1.0.7", 8083)
    world.kernel.run_until(400.0)
    _register(world, "srv-rate", "other", "10.1.0.9", 8084)
    world.kernel.run_until(500.0)
    _register(world, "srv-geo", "two", "10.1.0.8", 8083)
    world.kernel.run_until(600.0)
    world.shell("curl -s -X PUT http://consul:8500/v1/agent/service/deregister/one")
    world.kernel.run_until(700.0)
    assert reports == [
        (1.0, []),
        (10.0, ["10.1.0.7:8083"]),
        (500.0, ["10.1.0.7:8083", "10.1.0.8:8083"]),
        (600.0, ["10.1.0.8:8083"]),
    ]


def test_a_lost_agent_is_told_in_the_log_and_addresses_stay(world: SmallWorld) -> None:
    container, process = _start(world)
    _register(world, "srv-geo", "one", "10.1.0.7", 8083)
    reports: list[list[str]] = []

    async def watcher(ctx: Context) -> int:
        ConsulAddresses(ctx, "consul:8500", "srv-geo").watch(
            lambda addresses: reports.append(list(addresses))
        )
        await ctx.sleep(1e9)
        return 0

    log = world.client.log
    assert log is not None
    world.client.start(["watcher"], program=watcher, streams={2: log.stream("stderr")})
    world.kernel.run_for(5.0)
    process.exit(0)
    world.kernel.run_for(1.0)
    lines = [line.text for line in world.emitter.logs if line.source == "client"]
    assert lines[0].endswith(
        'grpc/lb/consul: error retrieving instances from Consul: Get "http://consul:8500/v1/health/service/srv-geo'
        '?index=15&passing=1": dial tcp 10.1.0.1:8500: connect: connection refused'
    )
    assert 3 < len(lines) < 20
    assert reports == [["10.1.0.7:8083"]]
    container.start(["consul", *AGENT])
    world.kernel.run_for(60.0)
    # An empty registry with a low index: the blocking query waits, and nobody learns that the service is gone.
    assert reports == [["10.1.0.7:8083"]]
    world.kernel.run_for(400.0)
    assert reports == [["10.1.0.7:8083"], []]


def test_registration_without_an_agent_fails_in_gos_words(world: SmallWorld) -> None:
    async def work(ctx: Context) -> list[str]:
        words = []
        for server in ("consul:8500", "nowhere:8500"):
            try:
                await ConsulClient(ctx, server).register("srv-geo", "one", "10.1.0.7", 8083)
            except ConsulError as error:
                words.append(str(error))
        return words

    world.run("other", ADDRESS, consul_image(), "version")
    assert world.do(work) == [
        'Put "http://consul:8500/v1/agent/service/register": dial tcp 10.1.0.1:8500: connect: connection refused',
        'Put "http://nowhere:8500/v1/agent/service/register": dial tcp: lookup nowhere: no such host',
    ]


def test_the_command_line(world: SmallWorld) -> None:
    container, process = _start(world)
    _register(world, "srv-geo", "one", "10.1.0.7", 8083)
    assert world.shell("consul catalog services", container).stdout == b"consul\nsrv-geo\n"
    members = world.shell("consul members", container).stdout.decode().splitlines()
    assert members[0].split() == [
        "Node",
        "Address",
        "Status",
        "Type",
        "Build",
        "Protocol",
        "DC",
        "Partition",
        "Segment",
    ]
    assert members[1].split()[:4] == ["consul-0", "127.0.0.1:8301", "alive", "server"]
    world.shell("consul services deregister -id=one", container)
    assert world.shell("consul catalog services", container).stdout == b"consul\n"
    gone = world.shell("curl -s -X PUT http://consul:8500/v1/agent/service/deregister/one").stdout
    assert gone.startswith(b'Unknown service ID "one".')
    process.exit(0)
    down = world.shell("consul members", world.run("c2", "10.1.0.3", consul_image(), "version")[0])
    assert down.stderr == (
        b'Error retrieving members: Get "http://127.0.0.1:8500/v1/agent/members?segment=_all": '
        b"dial tcp 127.0.0.1:8500: connect: connection refused\n"
    )


def test_a_restart_empties_the_registry(world: SmallWorld) -> None:
    container, process = _start(world)
    _register(world, "srv-geo", "one", "10.1.0.7", 8083)
    world.shell("kill 1", container)
    world.kernel.run_for(1.0)
    assert process.status == 1
    container.start(["consul", *AGENT])
    world.kernel.run_for(1.0)
    assert _json(world, "/v1/catalog/services") == {"consul": []}


@pytest.mark.parametrize(
    "line",
    [
        "curl -s --path-as-is 'http://consul:8500//[x'",
        "curl -s http://consul:8500/v1/nothing",
        "curl -s -X POST http://consul:8500/v1/agent/service/register",
        "curl -s -X PUT http://consul:8500/v1/agent/service/register",
        "curl -s -X PUT -d '[1]' http://consul:8500/v1/agent/service/register",
        """curl -s -X PUT -d '{"Name": 7}' http://consul:8500/v1/agent/service/register""",
        """curl -s -X PUT -d '{"Name": "w", "Port": "x"}' http://consul:8500/v1/agent/service/register""",
        """curl -s -X PUT -d '{"Name": "w", "Check": {}}' http://consul:8500/v1/agent/service/register""",
        "curl -s 'http://consul:8500/v1/health/service/web?index=x'",
        "curl -s 'http://consul:8500/v1/health/service/web?index=99&wait=x'",
        "curl -s http://consul:8500/v1/health/state/odd",
        "printf 'GET /v1/health/service/\\377\\376 HTTP/1.1\\r\\n\\r\\n' | nc -q 1 consul 8500",
        "printf 'PUT /v1/agent/service/deregister/\\377 HTTP/1.1\\r\\nContent-Length: 1\\r\\n\\r\\nx' | nc -q 1 consul 8500",
    ],
)
def test_nonsense_is_refused_and_the_agent_lives_on(world: SmallWorld, line: str) -> None:
    _, process = _start(world)
    world.shell(line)
    assert process.alive
    assert _json(world, "/v1/status/leader") == "127.0.0.1:8300"


def test_a_service_with_a_check_is_not_registered(world: SmallWorld) -> None:
    _start(world)
    body = '{"Name": "web", "Check": {"TTL": "5s"}}'
    said = world.shell(f"curl -s -X PUT -d '{body}' http://consul:8500/v1/agent/service/register").stdout
    assert said == b"Invalid check: TTL must be > 0 for TTL checks"
    assert _json(world, "/v1/catalog/services") == {"consul": []}


def test_something_else_where_consul_should_be(world: SmallWorld) -> None:
    page = Image("web", {"web": _web})
    world.run("web", ADDRESS, page, "web")

    async def work(ctx: Context) -> str:
        try:
            await ConsulClient(ctx, "consul:8500").healthy("srv-geo")
        except ConsulError as error:
            return str(error)
        return "answered"

    assert "JSON is malformed" in world.do(work)
    container, _ = world.run("cli", "10.1.0.3", consul_image(), "version")
    done = world.shell("CONSUL_HTTP_ADDR=consul:8500 consul members", container)
    assert done.status == 1


async def _web(ctx: Context) -> int:
    async def page(request: HttpRequest) -> HttpResponse:
        return respond(200, "<html>")

    serve_http(ctx, 8500, page)
    await ctx.sleep(1e9)
    return 0


def test_services_are_registered_from_files(world: SmallWorld) -> None:
    container, _ = _start(world)
    done = world.shell(
        """echo '{"service": {"name": "web"}}' > /tmp/web.json; consul services register /tmp/web.json""",
        container,
    )
    assert done.stdout == b"Registered service: web\n"
    assert _json(world, "/v1/catalog/services") == {"consul": [], "web": []}
    missing = world.shell("consul services register /tmp/none.json", container)
    assert (missing.status, missing.stderr) == (1, b"Error: open /tmp/none.json: no such file or directory\n")


def test_an_agent_that_is_not_told_to_begin_alone_has_no_leader(world: SmallWorld) -> None:
    _, process = world.run("nowhere", "10.1.0.4", consul_image(), "consul", "agent", "-server")
    assert process.status == 1
    world.run("consul-0", ADDRESS, consul_image(), "agent", "-server", "-client=0.0.0.0")
    assert world.shell("curl -s http://consul:8500/v1/catalog/services").stdout == b"No cluster leader"
    said = world.shell(
        'curl -s -X PUT -d \'{"Name": "a"}\' http://consul:8500/v1/agent/service/register'
    ).stdout
    assert said == b"No cluster leader"
    assert world.shell("nc -z consul 8300").status == 1
    assert world.shell("nc -z consul 8502").status == 0
