"""Remote calls: answers, errors, time-outs, queues, retries, and what is recorded of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from aiopslab.machine.computer import Machine
from aiopslab.machine.emit import Histogram, MemoryEmitter
from aiopslab.machine.image import Image
from aiopslab.machine.network import HostsResolver, Network
from aiopslab.machine.process import Context, Process, Signal
from aiopslab.service.rpc import Call, Client, RpcError, Server
from aiopslab.sim import Kernel, gather

BARE = Image("bare", {})


class Pair:
    """A server and a client on two machines."""

    def __init__(self) -> None:
        self.kernel = Kernel(1)
        self.emitter = MemoryEmitter()
        network = Network(self.kernel)
        resolver = HostsResolver({"server": "10.1.0.1"})
        machines = [
            Machine(self.kernel, network, name, address, BARE, emitter=self.emitter, resolver=resolver)
            for name, address in (("left", "10.0.0.1"), ("right", "10.0.0.2"))
        ]
        self.server = machines[0].create_container("server", BARE, address="10.1.0.1")
        self.client = machines[1].create_container("client", BARE, address="10.1.0.2")

    def serve(self, *, workers: int = 64, queue: int = 256) -> Process:
        async def program(ctx: Context) -> int:
            server = Server(ctx, "server", 7000, workers=workers, queue=queue)

            async def slow(call: Call) -> Any:
                await ctx.sleep(call.payload)
                return "slept"

            async def broken(call: Call) -> Any:
                raise RpcError("INTERNAL", "out of order")

            async def echo(call: Call) -> Any:
                return call.payload

            for name, handler in (("slow", slow), ("broken", broken), ("echo", echo)):
                server.method(name, handler)
            return await server.serve()

        self.server.start(["pause"], program=_pause)
        process = self.server.start(["server"], program=program)
        self.kernel.run_for(0.1)
        return process

    def run(self, work: Callable[[Context], Awaitable[Any]]) -> Any:
        result = []

        async def program(ctx: Context) -> int:
            result.append(await work(ctx))
            return 0

        process = self.client.start(["client"], program=program)
        self.kernel.run_task(self.kernel.spawn(process.wait(), "client"))
        return result[0]


async def _pause(ctx: Context) -> int:
    await ctx.sleep(1e9)
    return 0


async def _outcome(client: Client, method: str, payload: Any = None) -> str:
    try:
        return str(await client.call(method, payload, trace_id=1, parent_span=0))
    except RpcError as error:
        return error.code


def test_a_call_is_answered_and_traced() -> None:
    pair = Pair()
    pair.serve()
    assert pair.run(lambda ctx: _outcome(Client(ctx, "server", 7000), "echo", "hello")) == "hello"
    span = pair.emitter.spans[-1]
    assert (span.service, span.operation, span.error) == ("server", "echo", None)
    latency = pair.emitter.metrics["rpc_server_duration_seconds", (("service", "server"),)]
    assert isinstance(latency, Histogram)
    assert latency.count == 1


def test_errors_come_back_with_their_code_and_are_logged() -> None:
    pair = Pair()
    pair.serve()
    assert pair.run(lambda ctx: _outcome(Client(ctx, "server", 7000), "broken")) == "INTERNAL"
    assert pair.run(lambda ctx: _outcome(Client(ctx, "server", 7000), "nothing")) == "UNIMPLEMENTED"
    assert "out of order" in pair.emitter.logs[-2].text


def test_the_caller_gives_up_at_its_time_out() -> None:
    pair = Pair()
    pair.serve()
    start = pair.kernel.now
    assert (
        pair.run(lambda ctx: _outcome(Client(ctx, "server", 7000, timeout_s=0.5), "slow", 60))
        == "DEADLINE_EXCEEDED"
    )
    assert pair.kernel.now - start < 0.6


def test_nobody_there() -> None:
    pair = Pair()
    assert pair.run(lambda ctx: _outcome(Client(ctx, "server", 7000), "echo")) == "UNAVAILABLE"
    assert pair.run(lambda ctx: _outcome(Client(ctx, "elsewhere", 7000), "echo")) == "UNAVAILABLE"


def test_what_fits_neither_workers_nor_queue_is_turned_away() -> None:
    pair = Pair()
    pair.serve(workers=2, queue=3)

    async def burst(ctx: Context) -> list[str]:
        client = Client(ctx, "server", 7000, timeout_s=10.0)
        await client.call("echo", trace_id=1, parent_span=0)
        return await gather(ctx.kernel, (_outcome(client, "slow", 1.0) for _ in range(8)), "burst")

    outcomes = pair.run(burst)
    assert outcomes == ["slept"] * 5 + ["RESOURCE_EXHAUSTED"] * 3


def test_calls_under_way_fail_when_the_server_is_killed_and_the_next_connects_again() -> None:
    pair = Pair()
    process = pair.serve()

    async def calls(ctx: Context) -> list[str]:
        client = Client(ctx, "server", 7000, timeout_s=10.0)
        ctx.kernel.call_later(1.0, lambda _: process.send(Signal.KILL))
        first = await _outcome(client, "slow", 5.0)
        second = await _outcome(client, "echo", "x")
        return [first, second]

    assert pair.run(calls) == ["UNAVAILABLE", "UNAVAILABLE"]
    pair.serve()
    assert pair.run(lambda ctx: _outcome(Client(ctx, "server", 7000), "echo", "back")) == "back"


def test_a_retry_finds_the_server_that_has_come_up_meanwhile() -> None:
    pair = Pair()
    pair.kernel.call_later(0.2, lambda _: None)

    async def late(ctx: Context) -> str:
        ctx.kernel.call_later(0.1, lambda _: pair.server.start(["server"], program=_echo_server))
        return await _outcome(Client(ctx, "server", 7000, retries=3, backoff_s=0.1), "echo", "at last")

    assert pair.run(late) == "at last"


async def _echo_server(ctx: Context) -> int:
    server = Server(ctx, "server", 7000)

    async def echo(call: Call) -> Any:
        return call.payload

    server.method("echo", echo)
    return await server.serve()


def test_sigterm_lets_a_server_finish_what_it_has_begun() -> None:
    pair = Pair()
    process = pair.serve()

    async def call(ctx: Context) -> str:
        client = Client(ctx, "server", 7000, timeout_s=10.0)
        ctx.kernel.call_later(0.5, lambda _: process.send(Signal.TERM))
        return await _outcome(client, "slow", 2.0)

    assert pair.run(call) == "slept"
    pair.kernel.run_for(1.0)
    assert (process.alive, process.status) == (False, 0)
