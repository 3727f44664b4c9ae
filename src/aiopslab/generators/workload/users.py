"""Simulated users outside the cloud, which send requests continuously and record each result.

Open-loop users arrive independently of the application's answers; closed-loop users send their next request some time after
they get an answer. Several groups of users may share one ``Results``.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from itertools import accumulate
from random import Random
from typing import Any, Final, NoReturn

from aiopslab.apps import Journey
from aiopslab.generators.workload.arrivals import Arrivals
from aiopslab.generators.workload.outcomes import Results
from simcloud.machine.process import Context
from simcloud.services import FrontDoor, Sender, SendFailed

TIMEOUT_S: Final = 2.0
ENDING_S: Final = 0.1
"""Time after the last timeout to record its result."""
WRONG: Final = "wrong answer"


class Mix:
    """Chooses journeys by their weights, and sends and records their requests."""

    def __init__(self, journeys: Sequence[Journey], results: Results) -> None:
        self.journeys = list(journeys)
        self.results = results
        self._named = {journey.name: number for number, journey in enumerate(self.journeys)}
        self._numbers = [results.register_journey(journey.name) for journey in self.journeys]
        self._weights = list(accumulate(journey.weight for journey in self.journeys))

    def choose(self, chance: Random, name: str | None = None) -> int:
        """Return the number of the journey with that name, or of a random one if there is none."""
        if name is not None and name in self._named:
            return self._named[name]
        return bisect(self._weights, chance.random() * self._weights[-1], 0, len(self._weights) - 1)

    def find_read(self, number: int) -> int:
        """Return a journey that changes no data: this one, or else the most frequent one."""
        reads = [each for each in self.journeys if each.promises is None]
        if not reads or self.journeys[number] in reads:
            return number
        return self._named[max(reads, key=lambda journey: journey.weight).name]

    async def make(self, ctx: Context, sender: Sender, number: int, chance: Random, timeout_s: float) -> None:
        """Send and record a journey's request; never raises ``SendFailed``."""
        try:
            await self.record(ctx, sender, number, chance, timeout_s, ctx.kernel.now)
        except SendFailed:
            pass

    async def record(
        self, ctx: Context, sender: Sender, number: int, chance: Random, timeout_s: float, due: float
    ) -> tuple[int, Any]:
        """Send and record a journey's request, with the latency counted from the time it was due.

        Returns its status and answer; raises ``SendFailed`` if there is none.
        """
        journey, results = self.journeys[number], self.results
        request = journey.request(chance)
        row = results.begin(due, self._numbers[number])
        try:
            status, answer = await sender.send(request, timeout_s)
        except SendFailed as failure:
            results.finish(row, ctx.kernel.now - due, 0, str(failure))
            raise
        if status >= 400:
            error: str | None = f"HTTP {status}"
        else:
            error = None if journey.accepts(answer) else WRONG
            if error is None and journey.promises is not None:
                results.promised.extend(journey.promises(request, answer))
        results.finish(row, ctx.kernel.now - due, status, error)
        return status, answer


class Crowd:
    """Base class of users that make journeys through a front door; ``results`` has their results."""

    def __init__(
        self, door: FrontDoor, journeys: Sequence[Journey], timeout_s: float, results: Results | None
    ) -> None:
        self.results = results if results is not None else Results()
        self._mix = Mix(journeys, self.results)
        self._door = door
        self._timeout_s = timeout_s


class Users(Crowd):
    """Open-loop users that arrive at the times of ``arrivals``."""

    def __init__(
        self,
        door: FrontDoor,
        journeys: Sequence[Journey],
        arrivals: Arrivals,
        timeout_s: float = TIMEOUT_S,
        results: Results | None = None,
    ) -> None:
        super().__init__(door, journeys, timeout_s, results)
        self._arrivals = arrivals
        self.only_read = False
        """Whether they make no journeys that change data, for now."""

    async def program(self, ctx: Context) -> int:
        """Run on a machine outside the cluster: send requests until killed or until there are no more arrivals."""
        chance, started_s = ctx.random("users"), ctx.kernel.now
        sender, mix = self._door.open(ctx), self._mix
        for arrival in self._arrivals.draw(chance):
            await ctx.sleep(started_s + arrival.t - ctx.kernel.now)
            number = mix.choose(chance, arrival.journey)
            if self.only_read:
                number = mix.find_read(number)
            ctx.spawn(mix.make(ctx, sender, number, chance, self._timeout_s), "request")
        await ctx.sleep(self._timeout_s + ENDING_S)
        return 0


class ClosedUsers(Crowd):
    """A fixed number of closed-loop users with a random think time between requests."""

    def __init__(
        self,
        door: FrontDoor,
        journeys: Sequence[Journey],
        users: int,
        think_s: float = 1.0,
        timeout_s: float = TIMEOUT_S,
        results: Results | None = None,
    ) -> None:
        super().__init__(door, journeys, timeout_s, results)
        self._users = users
        self._think_s = think_s

    async def program(self, ctx: Context) -> int:
        """Run on a machine outside the cluster, until killed."""
        sender = self._door.open(ctx)
        users = [
            ctx.spawn(self._run_user(ctx, sender, number), f"user {number}") for number in range(self._users)
        ]
        for user in users:
            await user
        return 0

    async def _run_user(self, ctx: Context, sender: Sender, number: int) -> NoReturn:
        chance = ctx.random(f"user {number}")
        while True:
            await ctx.sleep(chance.expovariate(1 / self._think_s))
            await self._mix.make(ctx, sender, self._mix.choose(chance), chance, self._timeout_s)
