"""Writes that must wait for somebody: how admission webhooks are asked by an API that serves at one instant.

A write is worked out from beginning to end at one instant, and changes nothing before its last step. So a write that
needs an answer which is not there yet is given up (``Unanswered``) after its question was sent, and is tried again
from the beginning when the answer has come. An answer is good for the question it was given to: if the object has
changed meanwhile, the question is another one and is asked anew. What a write draws by lot it draws once, however often
it is tried. Answers are kept in a ``Conversation``, which belongs
to one piece of work: a request, or a controller's work on one key. Most writes concern no webhook; to them all of
this costs nothing.

Who can wait begins a conversation and repeats its work: the HTTP server, the controllers' queues. Whoever cannot (a
kubelet's status, an event) is told ``UnderWay``, and its write is finished behind it, as a genuine component's
request would be by a thread of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeVar

from simcloud.kubernetes.api.errors import ApiError
from simcloud.sim import Event, Kernel

P = ParamSpec("P")
T = TypeVar("T")
A = TypeVar("A", bound="ConversationHost")

MOST_QUESTIONS: Final = 64
"""Maximum number of webhook calls in one piece of work."""


class ConversationHost(Protocol):
    """What a conversation needs of the API."""

    kernel: Kernel
    conversation: Conversation | None

    @property
    def has_webhooks(self) -> bool:
        """Whether any admission webhook is configured."""


class Pending:
    """An answer that is awaited. ``on_done`` is called when it has come, or will not come any more."""

    def __init__(self, kernel: Kernel) -> None:
        self.on_done: Callable[[], None] | None = None
        self._done: Event[None] = Event(kernel)
        self._value: Any = None
        self._error: Exception | None = None
        self.done = False

    def give(self, value: Any, error: Exception | None = None) -> None:
        """The answer, or why there is none."""
        self._value, self._error, self.done = value, error, True
        self._done.set(None)
        if self.on_done is not None:
            self.on_done()

    def answer(self) -> Any:
        """What was answered; raises what went wrong."""
        if self._error is not None:
            raise self._error
        return self._value

    async def wait(self) -> None:
        """Wait for it inside the world."""
        if not self.done:
            await self._done.wait()


class Conversation:
    """The questions of one piece of work with their answers, and what its present write has drawn by lot."""

    def __init__(self) -> None:
        self._asked: dict[bytes, Pending] = {}
        self._used: list[bytes] = []
        self._drawn: list[Any] = []
        self._next = 0
        self.count = 0

    def find(self, question: bytes) -> Pending | None:
        """What was asked already in these words."""
        found = self._asked.get(question)
        if found is not None:
            self._used.append(question)
        return found

    def ask(self, question: bytes, pending: Pending) -> Unanswered:
        """Remember a question; raise what comes back."""
        self._asked[question] = pending
        self.count += 1
        return Unanswered(pending)

    def draw(self, lot: Callable[[], T]) -> T:
        """A name, a uid, an address: the same at every attempt, or no question would be asked twice in the same words."""
        if self._next == len(self._drawn):
            self._drawn.append(lot())
        drawn: T = self._drawn[self._next]
        self._next += 1
        return drawn

    def settle(self) -> None:
        """A write has passed: its answers are used up. The next one asks for itself, even in the same words."""
        for question in self._used:
            self._asked.pop(question, None)
        self._used.clear()
        self._drawn.clear()
        self._next = 0

    def attempt(self, api: ConversationHost, work: Callable[[], T]) -> T:
        """Do the work with the answers there are. ``Unanswered`` when one is missing: wait for it, and try again."""
        before, api.conversation = api.conversation, self
        self._used.clear()
        self._next = 0
        try:
            return work()
        finally:
            api.conversation = before

    async def finish(self, api: ConversationHost, work: Callable[[], T]) -> T:
        """Do the work inside the world, waiting as often as it must."""
        while True:
            try:
                return self.attempt(api, work)
            except Unanswered as waiting:
                if self.count > MOST_QUESTIONS:
                    raise UnderWay from None
                await waiting.pending.wait()


class Unanswered(Exception):
    """A write waits for an answer. It is no refusal: nothing but a conversation may catch it."""

    def __init__(self, pending: Pending) -> None:
        super().__init__("a write waits for an admission webhook, and nobody waits for the write")
        self.pending = pending


class UnderWay(ApiError):
    """The write goes on behind a caller who cannot wait for it."""

    code, reason = 504, "Timeout"

    def __init__(self) -> None:
        super().__init__("Timeout: request did not complete within the allotted timeout")


def patient(verb: Callable[Concatenate[A, P], T]) -> Callable[Concatenate[A, P], T]:
    """A verb of the API that finishes behind callers who have no conversation."""

    @wraps(verb)
    def call(api: A, /, *args: P.args, **kwargs: P.kwargs) -> T:
        if api.conversation is not None or not api.has_webhooks:
            return verb(api, *args, **kwargs)
        conversation = Conversation()
        work = partial(verb, api, *args, **kwargs)
        try:
            return conversation.attempt(api, work)
        except Unanswered as waiting:
            behind = _finish(api, conversation, waiting.pending, work)
            api.kernel.spawn(behind, "write behind webhooks")
            raise UnderWay from None

    return call


async def _finish(
    api: ConversationHost, conversation: Conversation, first: Pending, work: Callable[[], object]
) -> None:
    await first.wait()
    try:
        await conversation.finish(api, work)
    except ApiError:
        return  # refused in the end: its caller has gone on and will look at what is there
