"""Retries: policies, budgets and circuit breakers.

Retries multiply the load of an overloaded service. A budget limits them to a share of all calls; a circuit breaker
stops all calls for a while after too many consecutive failures.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from random import Random
from typing import Any, Final, NamedTuple

from simcloud.machine.process import Context

UNAVAILABLE: Final = "Unavailable"
DEADLINE_EXCEEDED: Final = "DeadlineExceeded"
RESOURCE_EXHAUSTED: Final = "ResourceExhausted"
DEFAULT_CODES: Final = frozenset({UNAVAILABLE, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED})


class CallError(Exception):
    """A remote call failed. ``code`` is gRPC's code for the error, for every protocol."""

    def __init__(self, text: str, code: str) -> None:
        super().__init__(text)
        self.code = code


class RetryPolicy(NamedTuple):
    """A limited number of attempts with growing pauses; only errors with these codes are retried.

    ``attempt_s`` is the timeout of each attempt; without it only the deadline of the whole call applies.
    """

    attempts: int = 3
    attempt_s: float | None = None
    pause_s: float = 0.05
    factor: float = 2.0
    longest_pause_s: float = 1.0
    jitter: float = 0.2
    codes: frozenset[str] = DEFAULT_CODES

    def pause(self, failures: int, chance: Random) -> float:
        """Return how long to wait after that number of failures."""
        pause_s = min(self.longest_pause_s, self.pause_s * self.factor ** (failures - 1))
        return pause_s * (1.0 + self.jitter * (2.0 * chance.random() - 1.0))


class RetryBudget:
    """Tokens for retries: each retry takes one, each call adds a share of one, up to ``most``."""

    __slots__ = ("_most", "_share", "tokens")

    def __init__(self, share: float = 0.1, most: float = 10.0) -> None:
        self._share = share
        self._most = most
        self.tokens = most

    def record_call(self) -> None:
        """Record a call that is not a retry."""
        self.tokens = min(self._most, self.tokens + self._share)

    def spend(self) -> bool:
        """Take a token for a retry. Return False if there is none."""
        if self.tokens < 1.0:
            return False
        self.tokens -= 1.0
        return True


class CircuitBreaker:
    """Opens after a number of consecutive failures; after ``open_s`` one call may try again."""

    __slots__ = ("_failures", "_limit", "_open_s", "_open_until", "_trying")

    def __init__(self, failures: int = 5, open_s: float = 10.0) -> None:
        self._limit = failures
        self._open_s = open_s
        self._failures = 0
        self._open_until = 0.0
        self._trying = False

    def admits(self, now: float) -> bool:
        """May a call go out now?"""
        if self._failures < self._limit:
            return True
        if now < self._open_until or self._trying:
            return False
        self._trying = True
        return True

    def record_success(self) -> None:
        """Record a successful call, which closes the circuit."""
        self._failures = 0
        self._trying = False

    def record_failure(self, now: float) -> None:
        """Record a failed call."""
        self._failures += 1
        self._trying = False
        if self._failures >= self._limit:
            self._open_until = now + self._open_s


class Persistence:
    """Retries a call within the limits of policy, budget, breaker and deadline.

    ``refusal`` creates the error of calls while the circuit is open.
    """

    def __init__(
        self,
        ctx: Context,
        retry: RetryPolicy | None,
        budget: RetryBudget | None,
        breaker: CircuitBreaker | None,
        refusal: Callable[[], CallError],
    ) -> None:
        self._ctx = ctx
        self._retry = retry
        self._budget = budget
        self._breaker = breaker
        self._refusal = refusal

    async def call(self, attempt: Callable[[float | None], Awaitable[Any]], deadline: float | None) -> Any:
        """Attempt, which is given its own deadline, until one succeeds; raises the last ``CallError``."""
        policy, budget, kernel, failures = self._retry, self._budget, self._ctx.kernel, 0
        if budget is not None:
            budget.record_call()
        while True:
            limit = deadline
            if policy is not None and policy.attempt_s is not None:
                limit = kernel.now + policy.attempt_s
                limit = limit if deadline is None else min(limit, deadline)
            try:
                return await self._attempt_guarded(attempt, limit)
            except CallError as error:
                failures += 1
                if policy is None or failures >= policy.attempts or error.code not in policy.codes:
                    raise
                pause_s = policy.pause(failures, self._ctx.random("retries"))
                if deadline is not None and kernel.now + pause_s >= deadline:
                    raise
                if budget is not None and not budget.spend():
                    raise
            await kernel.sleep(pause_s)

    async def _attempt_guarded(
        self, attempt: Callable[[float | None], Awaitable[Any]], limit: float | None
    ) -> Any:
        breaker, kernel = self._breaker, self._ctx.kernel
        if breaker is None:
            return await attempt(limit)
        if not breaker.admits(kernel.now):
            raise self._refusal()
        try:
            answer = await attempt(limit)
        except CallError:
            breaker.record_failure(kernel.now)
            raise
        breaker.record_success()
        return answer
