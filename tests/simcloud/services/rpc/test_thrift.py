"""Thrift in the manner of C++ services: threads, pools, exceptions, and what the library prints."""

from __future__ import annotations

from typing import Any

from simcloud.machine.network import ConnectionRefused
from simcloud.machine.process import Context, Program, Signal
from simcloud.services.rpc.call import Call
from simcloud.services.rpc.thrift import ServiceError, ThriftError, ThriftPool, ThriftServer, lua_words
from simcloud.services.tracing import Tracer
from simcloud.sim import gather
from tests.simcloud.services.two_machines import TwoMachines

PORT = 9090


def server(**options: Any) -> Program:
    async def program(ctx: Context) -> int:
        thrift = ThriftServer(ctx, Tracer(ctx, "text-service"), **options)

        async def slow(call: Call) -> Any:
            await ctx.sleep(call.payload)
            return "slept"

        async def broken(call: Call) -> Any:
            raise ServiceError("SE_MONGODB_ERROR", "Failed to insert")

        async def fails(call: Call) -> Any:
            raise ThriftError("TException - service has thrown")

        for name, handler in (("Slow", slow), ("Broken", broken), ("Fails", fails)):
            thrift.method(name, handler, f"{name.lower()}_server")
        return await thrift.serve(PORT)

    return program


def pool(ctx: Context, host: str = "server", **options: Any) -> ThriftPool:
    return ThriftPool(ctx, Tracer(ctx, "compose-post-service"), "text-service-client", host, PORT, **options)


async def outcome(pool: ThriftPool, method: str, payload: Any = None) -> str:
    try:
        return str(await pool.call(method, payload, operation=f"{method.lower()}_client"))
    except ThriftError as error:
        return f"{type(error).__name__}: {error}"


def test_a_call_is_answered_and_traced_from_client_to_server() -> None:
    pair = TwoMachines()
    pair.serve(server())
    assert pair.run(lambda ctx: outcome(pool(ctx), "Slow", 0.01)) == "slept"
    there, here = pair.emitter.spans
    assert (here.operation, there.operation) == ("slow_client", "slow_server")
    assert there.parent_id == here.span_id


def test_exceptions_come_back_as_what_they_are_and_spans_know_nothing_of_them() -> None:
    pair = TwoMachines()
    pair.serve(server())
    assert pair.run(lambda ctx: outcome(pool(ctx), "Broken")) == "ServiceError: Failed to insert"
    undeclared = "ApplicationError: TException - service has thrown"
    assert pair.run(lambda ctx: outcome(pool(ctx), "Fails")) == undeclared
    unknown = "ApplicationError: Invalid method name: 'Nothing'"
    assert pair.run(lambda ctx: outcome(pool(ctx), "Nothing")) == unknown
    assert all(span.error is None for span in pair.emitter.spans)


def test_what_is_printed_when_nobody_is_there() -> None:
    pair = TwoMachines()
    refused = "NoConnection: connect() failed: Connection refused"
    assert pair.run(lambda ctx: outcome(pool(ctx), "Slow", 1)) == refused
    unknown = "NoConnection: Could not resolve host for client socket."
    assert pair.run(lambda ctx: outcome(pool(ctx, "nowhere"), "Slow", 1)) == unknown
    lines = pair.log("client")
    assert lines[0] == (
        "Thrift: Mon Jan  5 09:00:00 2026 "
        "TSocket::open() connect() <Host: server Port: 9090>: Connection refused"
    )
    assert lines[1].endswith("<error>: (ClientPool.h:114:Pop) Failed to connect text-service-client")
    assert lines[2].endswith(
        "TSocket::open() getaddrinfo() <Host: nowhere Port: 9090>Name or service not known"
    )


def test_a_peer_that_dies_ends_the_call() -> None:
    pair = TwoMachines()
    process = pair.serve(server())

    async def call(ctx: Context) -> str:
        ctx.kernel.call_later(1.0, lambda _: process.send(Signal.KILL))
        return await outcome(pool(ctx), "Slow", 60)

    assert pair.run(call) == "TransportError: No more data to read."


def test_a_slow_callee_takes_all_connections_of_its_caller() -> None:
    pair = TwoMachines()
    pair.serve(server())

    async def burst(ctx: Context) -> list[str]:
        shared = pool(ctx, most=2)
        return await gather(ctx.kernel, (outcome(shared, "Slow", 60.0) for _ in range(4)), "burst")

    late = "NoClient: Failed to connect to text-service-client"
    assert pair.run(burst) == ["slept", "slept", late, late]
    assert any("ClientPool pop timeout" in line for line in pair.log("client"))


def test_connections_beyond_the_threads_wait_unheard() -> None:
    pair = TwoMachines()
    pair.serve(server(threads=1))

    async def burst(ctx: Context) -> float:
        start = ctx.kernel.now
        await gather(
            ctx.kernel, (outcome(pool(ctx, keepalive_s=0.0), "Slow", 1.0) for _ in range(3)), "burst"
        )
        return ctx.kernel.now - start

    assert 3.0 < pair.run(burst) < 3.1


def test_an_old_connection_is_dropped_when_it_is_given_back() -> None:
    pair = TwoMachines()
    pair.serve(server())

    async def calls(ctx: Context) -> list[int]:
        shared, open_connections = pool(ctx), []
        for seconds in (1.0, 12.0):
            await outcome(shared, "Slow", seconds)
            open_connections.append(sum(i.state == "ESTAB" for i in ctx.container.namespace.sockets()))
        return open_connections

    assert pair.run(calls) == [1, 0]


def test_lua_has_its_own_words() -> None:
    assert lua_words(ConnectionRefused(), "compose-post-service", PORT, False) == (
        "TTransportException: Could not connect to compose-post-service:9090 (connection refused)"
    )
    assert lua_words(ConnectionRefused(), "x", PORT, True) == "TTransportException:0: Default (unknown)"
