"""Overload as it happens: queues, time-outs and retries make it, and what ends it is less load or more sense.

One server does 100 calls a second at best; its callers bring 80. For ten seconds it is ten times slower. Whether
it comes back afterwards depends on the callers' retries and on what the server does with those who left.
"""

from __future__ import annotations

from typing import Any

from simcloud.machine.process import Context, Program
from simcloud.services.rpc import (
    Call,
    Capacity,
    CircuitBreaker,
    FixedAddresses,
    GrpcChannel,
    GrpcError,
    GrpcServer,
    RetryBudget,
    RetryPolicy,
)
from simcloud.services.tracing import Tracer
from tests.simcloud.services.two_machines import SERVER, TwoMachines

PORT = 7000
WORK = "/work.Work/Do"
QUEUE = 600
PERSISTENT = RetryPolicy(attempts=4, attempt_s=1.0, pause_s=0.05)


def server(**capacity: Any) -> Program:
    async def program(ctx: Context) -> int:
        grpc = GrpcServer(ctx, Tracer(ctx, "server"), capacity=Capacity(workers=4, queue=QUEUE, **capacity))

        async def work(call: Call) -> str:
            return "done"

        grpc.method(WORK, work, cpu_s=0.04)
        return await grpc.serve(PORT)

    return program


class Crowd:
    """Callers that bring ``rate`` calls a second, whatever comes back."""

    def __init__(self, pair: TwoMachines, **options: Any) -> None:
        self.pair = pair
        self.rate = 80.0
        self._options = options
        self._outcomes: list[tuple[float, str]] = []
        pair.client.start(["crowd"], program=self._program)

    async def _program(self, ctx: Context) -> int:
        where = FixedAddresses(f"{SERVER}:{PORT}")
        channel = GrpcChannel(ctx, None, where, **self._options)
        await ctx.sleep(0.1)
        while True:
            await ctx.sleep(1.0 / self.rate)
            ctx.spawn(self._call(ctx, channel), "call")

    async def _call(self, ctx: Context, channel: GrpcChannel) -> None:
        start, code = ctx.kernel.now, "OK"
        try:
            await channel.call(WORK)
        except GrpcError as error:
            code = error.code
        self._outcomes.append((start, code))

    def success(self, seconds: float) -> float:
        """Let time pass; the share of the calls begun in it that went well (as far as they have ended)."""
        begin = self.pair.kernel.now
        self.pair.kernel.run_for(seconds)
        codes = [code for start, code in self._outcomes if start >= begin]
        return codes.count("OK") / max(1, len(codes))

    def trouble(self) -> None:
        """Ten seconds of a slow machine."""
        cpu = self.pair.machines[0].cpu
        cpu.speed = 0.1
        self.pair.kernel.run_for(10.0)
        cpu.speed = 1.0


def overloaded(capacity: dict[str, Any] | None = None, **options: Any) -> Crowd:
    pair = TwoMachines()
    pair.serve(server(**(capacity or {})))
    crowd = Crowd(pair, **options)
    assert crowd.success(20.0) == 1.0
    crowd.trouble()
    return crowd


def test_a_retry_storm_outlives_its_trigger_until_load_is_shed() -> None:
    crowd = overloaded(retry=PERSISTENT)
    assert crowd.success(60.0) < 0.1
    crowd.rate = 15.0
    crowd.pair.kernel.run_for(30.0)
    crowd.rate = 80.0
    assert crowd.success(30.0) > 0.99


def test_without_retries_it_heals_as_soon_as_the_queue_is_worked_off() -> None:
    crowd = overloaded(timeout_s=1.0)
    crowd.pair.kernel.run_for(60.0)
    assert crowd.success(20.0) > 0.99


def test_a_retry_budget_prevents_the_storm() -> None:
    crowd = overloaded(retry=PERSISTENT, budget=RetryBudget(share=0.1))
    crowd.pair.kernel.run_for(90.0)
    assert crowd.success(20.0) > 0.99


def test_a_server_that_passes_over_expired_calls_heals() -> None:
    crowd = overloaded({"sheds_expired": True}, retry=PERSISTENT)
    crowd.pair.kernel.run_for(20.0)
    assert crowd.success(20.0) > 0.99


def test_a_circuit_breaker_gives_the_server_time() -> None:
    crowd = overloaded(timeout_s=1.0, breaker=CircuitBreaker(failures=5, open_s=8.0))
    crowd.pair.kernel.run_for(30.0)
    assert crowd.success(20.0) > 0.99


def test_a_short_queue_turns_calls_away_and_serves_the_rest_in_time() -> None:
    pair = TwoMachines()
    pair.serve(server())
    short = TwoMachines()

    async def program(ctx: Context) -> int:
        grpc = GrpcServer(ctx, Tracer(ctx, "server"), capacity=Capacity(workers=4, queue=20))

        async def work(call: Call) -> str:
            return "done"

        grpc.method(WORK, work, cpu_s=0.04)
        return await grpc.serve(PORT)

    short.serve(program)
    patient, brisk = Crowd(pair, timeout_s=1.0), Crowd(short, timeout_s=1.0)
    patient.rate = brisk.rate = 200.0
    patient.pair.kernel.run_for(20.0)
    brisk.pair.kernel.run_for(20.0)
    assert patient.success(20.0) < 0.05
    assert 0.45 < brisk.success(20.0) < 0.55


def test_a_slow_callee_fills_its_callers_hands_and_fails_what_never_needed_it() -> None:
    pair = TwoMachines()

    async def callee(ctx: Context) -> int:
        grpc = GrpcServer(ctx, Tracer(ctx, "callee"))

        async def hang(call: Call) -> str:
            await ctx.sleep(60.0)
            return "at last"

        grpc.method(WORK, hang)
        return await grpc.serve(PORT + 1)

    async def caller(ctx: Context) -> int:
        grpc = GrpcServer(ctx, Tracer(ctx, "caller"), capacity=Capacity(workers=5, queue=5))
        below = GrpcChannel(ctx, Tracer(ctx, "caller"), FixedAddresses(f"{SERVER}:{PORT + 1}"))

        async def needs_it(call: Call) -> Any:
            return await below.call(WORK, None, call.span)

        async def does_not(call: Call) -> str:
            return "done"

        grpc.method(WORK, needs_it)
        grpc.method("/work.Work/Easy", does_not)
        return await grpc.serve(PORT)

    pair.serve(callee)
    pair.serve(caller)

    async def calls(ctx: Context) -> list[str]:
        channel = GrpcChannel(ctx, None, FixedAddresses(f"{SERVER}:{PORT}"), timeout_s=1.0)
        await ctx.sleep(0.1)
        seen = [await _code(channel, "/work.Work/Easy")]
        for _ in range(7):
            ctx.spawn(_code(channel, WORK), "call")
        await ctx.sleep(0.01)
        seen += [await _code(channel, "/work.Work/Easy") for _ in range(5)]
        await ctx.sleep(120.0)
        return [*seen, await _code(channel, "/work.Work/Easy")]

    late, full = "DeadlineExceeded", "ResourceExhausted"
    assert pair.run(calls) == ["OK", late, late, late, full, full, "OK"]


async def _code(channel: GrpcChannel, method: str) -> str:
    try:
        await channel.call(method)
    except GrpcError as error:
        return error.code
    return "OK"
