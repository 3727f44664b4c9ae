"""Users outside the cloud who send requests without pause and remember how each one went.

Those of an open loop come by themselves, whatever the application does; those of a closed loop send their next request
when they have had an answer and have thought about it. Several crowds may share one ``Results``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from random import Random
from typing import Any, Final, NoReturn

from aiopslab.apps.base import Journey
from aiopslab.generators.workload.arrivals import Arrivals
from aiopslab.generators.workload.outcomes import Results
from simcloud.machine.process import Context
from simcloud.services.front_doors import FrontDoor, Sender, SendFailed

TIMEOUT_S: Final = 2.0
ENDING_S: Final = 0.1
"""After the last time-out, so much is left for writing it down."""
WRONG: Final = "wrong answer"


class Mix:
    """Journeys by their weights, and the sending of one."""

    def __init__(self, journeys: Sequence[Journey], results: Results) -> None:
        self.journeys = list(journeys)
        self.results = results
        self._named = {journey.name: number for number, journey in enumerate(self.journeys)}
        self._numbers = [results.journey(journey.name) for journey in self.journeys]
        self._weights = list(accumulate(journey.weight for journey in self.journeys))

    def choose(self, chance: Random, name: str | None = None) -> int:
        """One of the journeys: the named one if there is one of that name, else by chance."""
        if name is not None and name in self._named:
            return self._named[name]
        return chance.choices(range(len(self.journeys)), cum_weights=self._weights)[0]

    async def make(self, ctx: Context, sender: Sender, number: int, chance: Random, timeout_s: float) -> None:
        """Send one journey's request; whatever happens to it is written down and is no matter of the caller's."""
        try:
            await self.record(ctx, sender, number, chance, timeout_s, ctx.kernel.now)
        except SendFailed:
            pass

    async def record(
        self, ctx: Context, sender: Sender, number: int, chance: Random, timeout_s: float, due: float
    ) -> tuple[int, Any]:
        """Send one journey's request and write down how it went, as of the moment at which it was due.

        Its status and answer; raises ``SendFailed`` when there is none.
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
    """Users who make journeys through a front door; ``results`` tells how they fared."""

    def __init__(
        self, door: FrontDoor, journeys: Sequence[Journey], timeout_s: float, results: Results | None
    ) -> None:
        self.results = results if results is not None else Results()
        self._mix = Mix(journeys, self.results)
        self._door = door
        self._timeout_s = timeout_s


class Users(Crowd):
    """A crowd that comes as ``arrivals`` say."""

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

    async def program(self, ctx: Context) -> int:
        """Run on a machine outside: send requests until killed, or until there are no more arrivals."""
        chance, begun = ctx.random("users"), ctx.kernel.now
        sender, mix = self._door.open(ctx), self._mix
        for arrival in self._arrivals.draw(chance):
            await ctx.sleep(begun + arrival.t - ctx.kernel.now)
            number = mix.choose(chance, arrival.journey)
            ctx.spawn(mix.make(ctx, sender, number, chance, self._timeout_s), "request")
        await ctx.sleep(self._timeout_s + ENDING_S)
        return 0


class ClosedUsers(Crowd):
    """So many users, each of whom thinks for a while after every answer."""

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
        """Run on a machine outside, until killed."""
        sender = self._door.open(ctx)
        users = [
            ctx.spawn(self._user(ctx, sender, number), f"user {number}") for number in range(self._users)
        ]
        for user in users:
            await user
        return 0

    async def _user(self, ctx: Context, sender: Sender, number: int) -> NoReturn:
        chance = ctx.random(f"user {number}")
        while True:
            await ctx.sleep(chance.expovariate(1 / self._think_s))
            await self._mix.make(ctx, sender, self._mix.choose(chance), chance, self._timeout_s)
