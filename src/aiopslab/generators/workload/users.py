"""Users outside the cloud who send requests without pause and remember how each one went.

Arrivals are random (a Poisson process) and do not wait for answers: when the application slows down,
requests pile up, as they do in life.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from aiopslab.machine.process import Context
from aiopslab.service.rpc import Client, RpcError


class Outcome(NamedTuple):
    """One request: when it began, which journey, how long it took, and what went wrong if anything."""

    start: float
    journey: str
    latency_s: float
    error: str | None


class Journey(NamedTuple):
    """Something users do: how often among all they do, and what they send."""

    method: str
    weight: float
    payload: Callable[[Random], Any]


@dataclass
class Results:
    """What happened to the users' requests."""

    outcomes: list[Outcome] = field(default_factory=list)

    def between(self, start: float, end: float) -> Summary:
        """Requests that began in that span of virtual time, summed up."""
        chosen = [outcome for outcome in self.outcomes if start <= outcome.start < end]
        latencies = sorted(outcome.latency_s for outcome in chosen)
        errors = sum(outcome.error is not None for outcome in chosen)
        return Summary(len(chosen), errors, _quantile(latencies, 0.5), _quantile(latencies, 0.99))


class Summary(NamedTuple):
    """Requests, failed ones, and latencies in seconds."""

    requests: int
    errors: int
    p50_s: float
    p99_s: float

    @property
    def error_rate(self) -> float:
        """The share of requests that failed."""
        return self.errors / self.requests if self.requests else 0.0


class Users:
    """A crowd that brings ``rate`` requests a second to a front door."""

    def __init__(
        self, host: str, port: int, journeys: list[Journey], rate: float, timeout_s: float = 2.0
    ) -> None:
        self.results = Results()
        self.rate = rate
        self._host = host
        self._port = port
        self._journeys = journeys
        self._timeout_s = timeout_s
        self._requests = 0

    async def program(self, ctx: Context) -> int:
        """Run on a machine outside: send requests until killed."""
        chance = ctx.random("users")
        client = Client(ctx, self._host, self._port, timeout_s=self._timeout_s)
        weights = [journey.weight for journey in self._journeys]
        while True:
            await ctx.sleep(chance.expovariate(self.rate))
            journey = chance.choices(self._journeys, weights)[0]
            self._requests += 1
            ctx.spawn(
                self._send(ctx, client, journey, journey.payload(chance), self._requests), journey.method
            )

    async def _send(
        self, ctx: Context, client: Client, journey: Journey, payload: Any, trace_id: int
    ) -> None:
        start, error = ctx.kernel.now, None
        try:
            await client.call(journey.method, payload, trace_id=trace_id, parent_span=0)
        except RpcError as failure:
            error = str(failure)
        self.results.outcomes.append(Outcome(start, journey.method, ctx.kernel.now - start, error))


def _quantile(values: list[float], share: float) -> float:
    """The value below which that share of a sorted list lies; 0 for an empty one."""
    return values[min(len(values) - 1, int(len(values) * share))] if values else 0.0
