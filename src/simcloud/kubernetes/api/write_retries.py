"""Retries of writes that wait for admission webhooks.

The API serves a write at one instant of virtual time and changes nothing before the last step. A write that needs a
webhook's response is therefore abandoned (``ResponsePending``) after the webhook was called, and repeated from the
beginning when the response has arrived. A response is only valid for the request body it was given to: if the object
has changed meanwhile, the webhook is called again. Random values (names, uids, addresses) are drawn once and reused
by later attempts.

Responses and drawn values are stored in a ``WriteRetry``, which belongs to one unit of work: an HTTP request, or a
controller's sync of one key. A caller that can wait creates one and repeats its work: the HTTP server, the work
queues of controllers. For a caller that cannot wait (a kubelet's status update, an event) the write raises
``WriteContinues`` and is finished in the background, as a thread of a genuine component would do. Writes that concern
no webhook pay nothing for this.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeVar

from simcloud.kubernetes.api.errors import ApiError
from simcloud.sim import Event, Kernel

P = ParamSpec("P")
T = TypeVar("T")
A = TypeVar("A", bound="RetryHost")

MAX_CALLS: Final = 64
"""Maximum number of webhook calls in one unit of work."""


class RetryHost(Protocol):
    """The parts of the API that a retry uses."""

    kernel: Kernel
    retry: WriteRetry | None

    @property
    def has_webhooks(self) -> bool:
        """Whether any admission webhook is configured."""


class Pending:
    """A response that has not arrived yet. ``on_done`` is called when the call has succeeded or failed."""

    def __init__(self, kernel: Kernel) -> None:
        self.on_done: Callable[[], None] | None = None
        self._done: Event[None] = Event(kernel)
        self._value: Any = None
        self._error: Exception | None = None
        self.done = False

    def give(self, value: Any, error: Exception | None = None) -> None:
        """Set the response, or the error of the call."""
        self._value, self._error, self.done = value, error, True
        self._done.set(None)
        if self.on_done is not None:
            self.on_done()

    def answer(self) -> Any:
        """Return the response, or raise the error of the call."""
        if self._error is not None:
            raise self._error
        return self._value

    async def wait(self) -> None:
        """Wait, in virtual time, until the call has ended."""
        if not self.done:
            await self._done.wait()


class WriteRetry:
    """The webhook calls of one unit of work with their responses, and the random values of its current write."""

    def __init__(self) -> None:
        self._calls: dict[bytes, Pending] = {}
        self._used: list[bytes] = []
        self._drawn: list[Any] = []
        self._next = 0
        self.count = 0
        """Number of webhook calls so far."""

    def find(self, body: bytes) -> Pending | None:
        """Return the earlier call with this request body, if there is one."""
        found = self._calls.get(body)
        if found is not None:
            self._used.append(body)
        return found

    def add(self, body: bytes, pending: Pending) -> ResponsePending:
        """Record a call; the caller raises the returned exception."""
        self._calls[body] = pending
        self.count += 1
        return ResponsePending(pending)

    def draw(self, make: Callable[[], T]) -> T:
        """Return a random value that is the same at every attempt, so that request bodies are repeated exactly."""
        if self._next == len(self._drawn):
            self._drawn.append(make())
        drawn: T = self._drawn[self._next]
        self._next += 1
        return drawn

    def settle(self) -> None:
        """Forget the responses of a write that has passed; the next write calls webhooks for itself."""
        for body in self._used:
            self._calls.pop(body, None)
        self._used.clear()
        self._drawn.clear()
        self._next = 0

    def attempt(self, api: RetryHost, work: Callable[[], T]) -> T:
        """Do the work with the responses so far; raises ``ResponsePending`` when one is missing."""
        before, api.retry = api.retry, self
        self._used.clear()
        self._next = 0
        try:
            return work()
        finally:
            api.retry = before

    async def finish(self, api: RetryHost, work: Callable[[], T]) -> T:
        """Do the work, waiting for responses in virtual time."""
        while True:
            try:
                return self.attempt(api, work)
            except ResponsePending as waiting:
                if self.count > MAX_CALLS:
                    raise WriteContinues from None
                await waiting.pending.wait()


class ResponsePending(Exception):
    """A write waits for a webhook's response. Not a refusal: only the owner of the retry may catch it."""

    def __init__(self, pending: Pending) -> None:
        super().__init__("a write waits for an admission webhook, and nobody waits for the write")
        self.pending = pending


class WriteContinues(ApiError):
    """The write continues in the background; its caller does not wait for it."""

    code, reason = 504, "Timeout"

    def __init__(self) -> None:
        super().__init__("Timeout: request did not complete within the allotted timeout")


def continue_in_background(verb: Callable[Concatenate[A, P], T]) -> Callable[Concatenate[A, P], T]:
    """Decorate a verb of the API: for callers without a ``WriteRetry``, finish waiting writes in the background."""

    @wraps(verb)
    def call(api: A, /, *args: P.args, **kwargs: P.kwargs) -> T:
        if api.retry is not None or not api.has_webhooks:
            return verb(api, *args, **kwargs)
        retry = WriteRetry()
        work = partial(verb, api, *args, **kwargs)
        try:
            return retry.attempt(api, work)
        except ResponsePending as waiting:
            behind = _finish(api, retry, waiting.pending, work)
            api.kernel.spawn(behind, "write behind webhooks")
            raise WriteContinues from None

    return call


async def _finish(api: RetryHost, retry: WriteRetry, first: Pending, work: Callable[[], object]) -> None:
    await first.wait()
    try:
        await retry.finish(api, work)
    except ApiError:
        return  # The caller has moved on and will see the stored state.
