"""gRPC in grpc-go's manner: answers, errors and their words, deadlines, balancing, reconnecting."""

from __future__ import annotations

from typing import Any

from simcloud.machine.emit import Histogram
from simcloud.machine.process import Context, Program, Signal
from simcloud.services.languages.golang import Panic, go_program
from simcloud.services.rpc import Call, Capacity, FixedAddresses, GrpcChannel, GrpcError, GrpcServer
from simcloud.services.tracing import Tracer
from simcloud.sim import gather
from tests.simcloud.services.two_machines import BARE, SERVER, TwoMachines

PORT = 7000


def server(graceful: bool = False, **options: Any) -> Program:
    async def program(ctx: Context) -> int:
        grpc = GrpcServer(ctx, Tracer(ctx, "server"), **options)

        async def slow(call: Call) -> Any:
            await ctx.sleep(call.payload)
            return "slept"

        async def broken(call: Call) -> Any:
            raise GrpcError("Internal", "out of order")

        async def panics(call: Call) -> Any:
            raise Panic("runtime error: index out of range [0] with length 0")

        async def echo(call: Call) -> Any:
            return call.payload

        for name, handler in (("Slow", slow), ("Broken", broken), ("Panics", panics), ("Echo", echo)):
            grpc.method(f"/test.Test/{name}", handler)
        return await grpc.serve(PORT, graceful=graceful)

    return go_program(program)


def channel(ctx: Context, *addresses: str, **options: Any) -> GrpcChannel:
    where = FixedAddresses(*(addresses or (f"{SERVER}:{PORT}",)))
    return GrpcChannel(ctx, Tracer(ctx, "client"), where, **options)


async def outcome(channel: GrpcChannel, method: str, payload: Any = None, **options: Any) -> str:
    try:
        return str(await channel.call(f"/test.Test/{method}", payload, **options))
    except GrpcError as error:
        return str(error)


async def ask(ctx: Context, method: str, payload: Any = None, *addresses: str, **options: Any) -> str:
    asked = channel(ctx, *addresses, **options)
    await ctx.sleep(0.01)
    return await outcome(asked, method, payload)


def unavailable(words: str) -> str:
    return f"rpc error: code = Unavailable desc = {words}"


def test_a_call_is_answered_traced_on_both_sides_and_measured() -> None:
    pair = TwoMachines()
    pair.serve(server())
    assert pair.run(lambda ctx: ask(ctx, "Echo", "hello")) == "hello"
    there, here = pair.emitter.spans
    assert (there.service, there.operation, there.error) == ("server", "/test.Test/Echo", None)
    assert there.tags == (("component", "gRPC"), ("span.kind", "server"))
    assert (here.service, here.tags[-1]) == ("client", ("span.kind", "client"))
    assert (there.trace_id, there.parent_id) == (here.trace_id, here.span_id)
    labels = (("method", "/test.Test/Echo"), ("service", "server"))
    metrics = next(iter(pair.emitter.exposed))
    latency = metrics.families["grpc_server_duration_seconds", labels]
    assert isinstance(latency, Histogram)
    assert latency.count == 1


def test_errors_come_back_with_their_code() -> None:
    pair = TwoMachines()
    pair.serve(server())
    assert pair.run(lambda ctx: ask(ctx, "Broken")) == "rpc error: code = Internal desc = out of order"
    tags = dict(pair.emitter.spans[-1].tags)
    assert (tags["response_code"], tags["response_class"]) == ("Internal", "5xx")
    expected = "rpc error: code = Unimplemented desc = unknown method Nothing"
    assert pair.run(lambda ctx: ask(ctx, "Nothing")) == expected


def test_nobody_there() -> None:
    pair = TwoMachines()
    assert pair.run(lambda ctx: ask(ctx, "Echo")) == unavailable("there is no connection available")
    dialling = (
        'connection error: desc = "transport: Error while dialing '
        f'dial tcp {SERVER}:{PORT}: connect: connection refused"'
    )
    assert pair.run(lambda ctx: ask(ctx, "Echo", waits_for_connection=True)) == unavailable(dialling)


def test_no_address_is_another_error_than_no_connection() -> None:
    pair = TwoMachines()

    async def nowhere(ctx: Context) -> str:
        return await outcome(GrpcChannel(ctx, Tracer(ctx, "client"), FixedAddresses()), "Echo")

    assert pair.run(nowhere) == unavailable("there is no address available")


def test_a_panic_ends_the_server_and_the_call_with_it() -> None:
    pair = TwoMachines()
    process = pair.serve(server())
    assert pair.run(lambda ctx: ask(ctx, "Panics")) == unavailable("transport is closing")
    assert (process.alive, process.status) == (False, 2)
    assert "panic: runtime error: index out of range [0] with length 0" in pair.log()


def test_the_caller_gives_up_at_its_deadline_and_only_then() -> None:
    pair = TwoMachines()
    pair.serve(server())
    start = pair.kernel.now
    assert pair.run(lambda ctx: ask(ctx, "Slow", 300.0)) == "slept"
    assert pair.kernel.now - start > 300
    start = pair.kernel.now
    expected = "rpc error: code = DeadlineExceeded desc = context deadline exceeded"
    assert pair.run(lambda ctx: ask(ctx, "Slow", 60.0, timeout_s=0.5)) == expected
    assert pair.kernel.now - start < 0.6


def test_a_deadline_is_passed_on_and_one_that_has_passed_sends_nothing() -> None:
    pair = TwoMachines()
    pair.serve(server())

    async def calls(ctx: Context) -> list[str]:
        asked = channel(ctx, timeout_s=60.0)
        await ctx.sleep(0.1)
        soon, start = ctx.kernel.now + 0.5, ctx.kernel.now
        first = await outcome(asked, "Slow", 5.0, deadline=soon)
        assert ctx.kernel.now - start < 0.51
        return [first, await outcome(asked, "Echo", "x", deadline=soon)]

    assert pair.run(calls) == ["rpc error: code = DeadlineExceeded desc = context deadline exceeded"] * 2
    pair.kernel.run_for(10.0)
    assert [span.operation for span in pair.emitter.spans if span.service == "server"] == ["/test.Test/Slow"]


def test_what_fits_neither_workers_nor_queue_is_turned_away() -> None:
    pair = TwoMachines()
    pair.serve(server(capacity=Capacity(workers=2, queue=3)))

    async def burst(ctx: Context) -> list[str]:
        asked = channel(ctx)
        await ctx.sleep(0.1)
        return await gather(ctx.kernel, (outcome(asked, "Slow", 1.0) for _ in range(8)), "burst")

    outcomes = pair.run(burst)
    assert outcomes[:5] == ["slept"] * 5
    assert all("code = ResourceExhausted" in each for each in outcomes[5:])


def test_a_connection_carries_only_as_many_calls_as_its_server_allows() -> None:
    pair = TwoMachines()
    pair.serve(server(max_streams=2))

    async def burst(ctx: Context) -> tuple[list[str], float]:
        asked = channel(ctx)
        await ctx.sleep(0.1)
        start = ctx.kernel.now
        answers = await gather(ctx.kernel, (outcome(asked, "Slow", 1.0) for _ in range(6)), "burst")
        return answers, ctx.kernel.now - start

    answers, duration_s = pair.run(burst)
    assert answers == ["slept"] * 6
    assert 3.0 < duration_s < 3.1


def test_who_leaves_the_line_for_a_stream_does_not_take_it_along() -> None:
    pair = TwoMachines()
    pair.serve(server(max_streams=1))

    async def calls(ctx: Context) -> str:
        asked = channel(ctx)
        await ctx.sleep(0.1)
        ctx.spawn(outcome(asked, "Slow", 1.0), "first")
        leaver = ctx.spawn(outcome(asked, "Echo", "second"), "second")
        ctx.kernel.call_later(0.5, lambda _: leaver.drop())
        await ctx.sleep(0.1)
        return await outcome(asked, "Echo", "third")

    assert pair.run(calls) == "third"


def test_a_lost_server_fails_calls_and_is_dialled_again() -> None:
    pair = TwoMachines()
    process = pair.serve(server())

    async def calls(ctx: Context) -> list[str]:
        asked = channel(ctx)
        ctx.kernel.call_later(1.0, lambda _: process.send(Signal.KILL))
        await ctx.sleep(0.1)
        first = await outcome(asked, "Slow", 5.0)
        second = await outcome(asked, "Echo", "x")
        pair.server.start(["server"], program=server())
        await ctx.sleep(3.0)
        return [first, second, await outcome(asked, "Echo", "back")]

    assert pair.run(calls) == [
        unavailable("transport is closing"),
        unavailable("there is no connection available"),
        "back",
    ]


def test_a_dead_address_is_passed_over_while_another_stands() -> None:
    pair = TwoMachines()
    pair.serve(server())
    good, stale = f"{SERVER}:{PORT}", "10.1.0.77:7000"

    async def calls(ctx: Context) -> list[str]:
        asked = channel(ctx, good, stale)
        await ctx.sleep(0.1)
        return [await outcome(asked, "Echo", str(n)) for n in range(4)]

    assert pair.run(calls) == ["0", "1", "2", "3"]


def test_a_graceful_server_finishes_what_it_has_begun() -> None:
    pair = TwoMachines()
    process = pair.serve(server(graceful=True))

    async def call(ctx: Context) -> str:
        ctx.kernel.call_later(0.5, lambda _: process.send(Signal.TERM))
        return await ask(ctx, "Slow", 2.0)

    assert pair.run(call) == "slept"
    pair.kernel.run_for(1.0)
    assert (process.alive, process.status) == (False, 0)


def test_curl_is_told_that_this_is_no_http() -> None:
    pair = TwoMachines()
    pair.serve(server())
    assert "Received HTTP/0.9 when not allowed" in pair.shell(f"curl -sS http://{SERVER}:{PORT}/")


def test_a_machine_lost_in_silence_is_noticed_by_keepalive_only() -> None:
    pair = TwoMachines()
    pair.serve(server())

    async def call(ctx: Context) -> tuple[str, float]:
        asked = channel(ctx)
        await ctx.sleep(0.1)
        start = ctx.kernel.now
        ctx.kernel.call_later(1.0, lambda _: pair.machines[0].lose())
        return await outcome(asked, "Slow", 3600.0), ctx.kernel.now - start

    answer, waited_s = pair.run(call)
    assert answer == unavailable("transport is closing")
    assert 120 < waited_s < 180


def test_memory_of_calls_under_way_can_be_the_end_of_a_server() -> None:
    pair = TwoMachines()
    pair.server.memory_limit_bytes = 64 << 20

    async def program(ctx: Context) -> int:
        grpc = GrpcServer(ctx, Tracer(ctx, "server"))

        async def hold(call: Call) -> str:
            await ctx.sleep(1.0)
            return "held"

        grpc.method("/test.Test/Hold", hold, memory_bytes=8 << 20)
        return await grpc.serve(PORT)

    process = pair.serve(program)

    async def calls(ctx: Context, count: int) -> list[str]:
        asked = channel(ctx)
        await ctx.sleep(0.1)
        return await gather(ctx.kernel, (outcome(asked, "Hold") for _ in range(count)), "calls")

    assert pair.run(lambda ctx: calls(ctx, 5)) == ["held"] * 5
    assert pair.run(lambda ctx: calls(ctx, 5)) == ["held"] * 5
    assert set(pair.run(lambda ctx: calls(ctx, 12))) == {unavailable("transport is closing")}
    assert (process.alive, process.status) == (False, 137)


def test_health_can_be_asked() -> None:
    pair = TwoMachines()
    pair.serve(server(health=True))

    async def check(ctx: Context) -> Any:
        asked = channel(ctx)
        await ctx.sleep(0.1)
        return await asked.call("/grpc.health.v1.Health/Check")

    assert pair.run(check) == "SERVING"


def test_tls_and_plain_do_not_understand_each_other() -> None:
    pair = TwoMachines()
    pair.serve(server())

    async def speak_tls(ctx: Context) -> str:
        asked = channel(ctx, protocol="grpcs", waits_for_connection=True)
        return await outcome(asked, "Echo")

    assert pair.run(speak_tls) == unavailable(
        'connection error: desc = "transport: authentication handshake failed: '
        'tls: first record does not look like a TLS handshake"'
    )


def test_calls_go_round_the_addresses_that_stand_and_follow_changes() -> None:
    pair = TwoMachines()
    pair.serve(server())
    other = pair.machines[1].create_container("other", BARE, address="10.1.0.3")
    other.start(["server"], program=server())
    first, second = f"{SERVER}:{PORT}", f"10.1.0.3:{PORT}"

    class Registry:
        def watch(self, tell: Any) -> None:
            self.tell = tell
            tell([])

    async def calls(ctx: Context) -> list[int]:
        registry = Registry()
        asked = GrpcChannel(ctx, None, registry)
        seen = []
        for addresses in ([first, second], [second]):
            registry.tell(addresses)
            await ctx.sleep(0.1)
            before = len(pair.emitter.spans)
            for _ in range(4):
                await outcome(asked, "Echo")
            served = pair.emitter.spans[before:]
            seen.append(sum(dict(span.process)["hostname"] == "other" for span in served))
        return seen

    assert pair.run(calls) == [2, 4]


def test_the_same_seed_gives_the_same_spans() -> None:
    def spans(seed: int) -> list[Any]:
        pair = TwoMachines(seed)
        pair.serve(server())
        pair.run(lambda ctx: ask(ctx, "Echo", "hello"))
        return list(pair.emitter.spans)

    assert spans(1) == spans(1)
    assert spans(1)[0].trace_id != spans(2)[0].trace_id
