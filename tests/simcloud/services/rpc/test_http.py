"""HTTP in net/http's manner: routes, panics, spans, and the words of a client that fails."""

from __future__ import annotations

from typing import Any

from simcloud.machine.network.http import HttpRequest, HttpResponse, respond
from simcloud.machine.process import Context, Program, Signal
from simcloud.services.languages.golang import Panic, go_program
from simcloud.services.rpc import (
    Capacity,
    CircuitBreaker,
    HttpClient,
    HttpError,
    HttpServer,
    RetryPolicy,
    http_error,
    query_of,
)
from simcloud.services.tracing import SpanContext, Tracer
from simcloud.sim import gather
from tests.simcloud.services.two_machines import SERVER, TwoMachines

PORT = 5000
URL = f"http://{SERVER}:{PORT}"


def server(**options: Any) -> Program:
    async def program(ctx: Context) -> int:
        http = HttpServer(ctx, Tracer(ctx, "frontend"), health="/healthz", **options)

        async def hotels(request: HttpRequest, span: SpanContext) -> HttpResponse:
            query = query_of(request)
            if not query["inDate"]:
                return http_error(400, "Please specify inDate/outDate params")
            return respond(200, f"hotels from {query['inDate']}\n")

        async def slow(request: HttpRequest, span: SpanContext) -> HttpResponse:
            await ctx.sleep(float(query_of(request)["s"]))
            return respond(200, "slept\n")

        async def panics(request: HttpRequest, span: SpanContext) -> HttpResponse:
            raise Panic("runtime error: invalid memory address or nil pointer dereference")

        async def files(request: HttpRequest, span: SpanContext) -> HttpResponse:
            return http_error(500, "rpc error: code = Unavailable desc = there is no address available")

        for path, handler in (("/hotels", hotels), ("/slow", slow), ("/panics", panics), ("/files/", files)):
            http.route(path, handler)
        return await http.serve(PORT)

    return go_program(program)


async def outcome(client: HttpClient, path: str, method: str = "GET", **options: Any) -> str:
    try:
        response = await client.request(method, f"{URL}{path}", **options)
    except HttpError as error:
        return str(error)
    return f"{response.status} {response.body.decode()}"


def test_routes_statuses_and_bodies_as_curl_sees_them() -> None:
    pair = TwoMachines()
    pair.serve(server())
    assert pair.shell(f"curl -s '{URL}/hotels?inDate=2015-04-09'") == "hotels from 2015-04-09\n"
    assert pair.shell(f"curl -s {URL}/hotels") == "Please specify inDate/outDate params\n"
    assert pair.shell(f"curl -s -w '%{{http_code}}' {URL}/nowhere") == "404 page not found\n404"
    assert pair.shell(f"curl -s {URL}/healthz") == "ok\n"
    head = pair.shell(f"curl -sI '{URL}/hotels?inDate=x'")
    assert "Date: Mon, 05 Jan 2026 09:00:0" in head
    assert "Content-Type: text/plain; charset=utf-8" in head


def test_a_request_is_a_span_with_the_tags_of_the_middleware() -> None:
    pair = TwoMachines()
    pair.serve(server())
    pair.shell(f"curl -s '{URL}/hotels?inDate=x'; curl -s {URL}/files/1; curl -s {URL}/healthz")
    good, bad = pair.emitter.spans
    assert (good.operation, good.error, good.parent_id) == ("HTTP GET /hotels", None, 0)
    assert good.tags == (
        ("component", "net/http"),
        ("http.method", "GET"),
        ("http.status_code", "200"),
        ("http.url", "/hotels?inDate=x"),
        ("sampler.param", "1"),
        ("sampler.type", "probabilistic"),
        ("span.kind", "server"),
    )
    assert (bad.operation, bad.error) == ("HTTP GET /files/", None)
    assert ("http.status_code", "500") in bad.tags


def test_a_span_is_passed_on_in_a_header() -> None:
    pair = TwoMachines()
    pair.serve(server())
    parent = SpanContext(0xABC, 0xDEF)
    pair.run(lambda ctx: outcome(HttpClient(ctx), "/hotels?inDate=x", parent=parent))
    assert (pair.emitter.spans[-1].trace_id, pair.emitter.spans[-1].parent_id) == parent


def test_a_panic_is_recovered_logged_and_seen_as_the_end_of_the_connection() -> None:
    pair = TwoMachines()
    process = pair.serve(server())

    async def twice(ctx: Context) -> list[str]:
        client = HttpClient(ctx)
        return [await outcome(client, "/panics", "POST"), await outcome(client, "/hotels?inDate=x")]

    assert pair.run(twice) == [f'Post "{URL}/panics": EOF', "200 hotels from x\n"]
    assert process.alive
    assert "http: panic serving 10.1.0.2:" in next(line for line in pair.log() if "panic" in line)
    assert "Empty reply from server" in pair.shell(f"curl -sS {URL}/panics")


def test_connections_are_kept_and_a_lost_one_goes_unnoticed() -> None:
    pair = TwoMachines()
    process = pair.serve(server())

    async def calls(ctx: Context) -> list[Any]:
        client = HttpClient(ctx)
        seen: list[Any] = []
        for _ in range(3):
            await outcome(client, "/hotels?inDate=x")
        seen.append(sum(info.state == "ESTAB" for info in ctx.container.namespace.sockets()))
        process.send(Signal.KILL)
        pair.server.start(["server"], program=server())
        seen.append(await outcome(client, "/hotels?inDate=y"))
        return seen

    assert pair.run(calls) == [1, "200 hotels from y\n"]


def test_what_clients_say_when_it_fails() -> None:
    pair = TwoMachines()

    async def calls(ctx: Context) -> list[str]:
        client = HttpClient(ctx, timeout_s=1.0)
        refused = await outcome(client, "/")
        try:
            await client.get("http://nowhere/")
            unknown = ""
        except HttpError as error:
            unknown = str(error)
        pair.server.start(["server"], program=server())
        await ctx.sleep(0.1)
        return [refused, unknown, await outcome(client, "/slow?s=5")]

    assert pair.run(calls) == [
        f'Get "{URL}/": dial tcp {SERVER}:{PORT}: connect: connection refused',
        'Get "http://nowhere/": dial tcp: lookup nowhere: no such host',
        f'Get "{URL}/slow?s=5": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
    ]


def test_what_does_not_fit_gets_503() -> None:
    pair = TwoMachines()
    pair.serve(server(capacity=Capacity(workers=1, queue=1)))

    async def burst(ctx: Context) -> list[str]:
        client = HttpClient(ctx)
        return await gather(ctx.kernel, (outcome(client, "/slow?s=1") for _ in range(4)), "burst")

    assert pair.run(burst) == ["200 slept\n"] * 2 + ["503 Service Unavailable\n"] * 2


def test_a_retry_finds_the_server_that_has_come_up_meanwhile() -> None:
    pair = TwoMachines()

    async def late(ctx: Context) -> list[str]:
        ctx.kernel.call_later(0.3, lambda _: pair.server.start(["server"], program=server()))
        retry = RetryPolicy(attempts=5, pause_s=0.2, factor=1.0)
        once = await outcome(HttpClient(ctx), "/hotels?inDate=x")
        return [once[-18:], await outcome(HttpClient(ctx, retry=retry), "/hotels?inDate=x")]

    assert pair.run(late) == ["connection refused", "200 hotels from x\n"]


def test_an_open_circuit_sends_nothing() -> None:
    pair = TwoMachines()

    async def calls(ctx: Context) -> list[str]:
        client = HttpClient(ctx, breaker=CircuitBreaker(failures=2, open_s=10.0))
        said = [(await outcome(client, "/"))[-18:] for _ in range(3)]
        pair.server.start(["server"], program=server())
        await ctx.sleep(11.0)
        return [*said, await outcome(client, "/healthz")]

    assert pair.run(calls) == ["connection refused", "connection refused", "it breaker is open", "200 ok\n"]


def test_parameters_are_read_as_go_reads_them() -> None:
    query = query_of(HttpRequest("GET", "/x?name=Ann%20Lee&name=Bob&city=New+York&flag&empty=&&a=b=c"))
    assert query == {"name": "Ann Lee", "city": "New York", "flag": "", "empty": "", "a": "b=c"}
    assert query["missing"] == ""
    assert query_of(HttpRequest("GET", "/x")) == {}


def test_bytes_typed_by_hand_are_answered_too() -> None:
    pair = TwoMachines()
    pair.serve(server())
    answer = pair.shell(f"printf 'GET /healthz HTTP/1.0\\r\\n\\r\\n' | nc -w 2 {SERVER} {PORT}")
    assert answer.startswith("HTTP/1.1 200 OK")
    assert answer.endswith("ok\n")
