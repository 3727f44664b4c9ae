"""Admission control: limits of concurrent and waiting requests.

The queue is first in, first out and bounded. Waiting makes overload dangerous, because callers give up while their
requests are still queued. A gate that knows deadlines drops requests that have expired.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Final, Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Capacity(NamedTuple):
    """At most ``workers`` concurrent (None: no limit) and ``queue`` waiting requests; ``sheds_expired`` drops
    requests whose deadline will pass before they could be answered."""

    workers: int | None = None
    queue: int = 256
    sheds_expired: bool = False


UNLIMITED: Final = Capacity()


class Gate(Generic[T]):
    """Starts requests with ``begin``, queues some and rejects the others."""

    __slots__ = ("_begin", "_hopeless", "_queue", "_queue_limit", "_workers", "active")

    def __init__(
        self, capacity: Capacity, begin: Callable[[T], Any], hopeless: Callable[[T], bool] | None = None
    ) -> None:
        self._workers = capacity.workers if capacity.workers is not None else 1 << 60
        self._queue_limit = capacity.queue
        self._begin = begin
        self._hopeless = hopeless if capacity.sheds_expired else None
        self._queue: deque[T] = deque()
        self.active = 0

    @property
    def waiting(self) -> int:
        """The number of waiting requests."""
        return len(self._queue)

    def enter(self, request: T) -> bool:
        """Work on a request, now or later; False when there is no room for it."""
        if self.active < self._workers:
            self.active += 1
            self._begin(request)
        elif len(self._queue) < self._queue_limit:
            self._queue.append(request)
        else:
            return False
        return True

    def leave(self) -> None:
        """A request is done: the next in line begins."""
        self.active -= 1
        queue, hopeless = self._queue, self._hopeless
        while queue and self.active < self._workers:
            request = queue.popleft()
            if hopeless is not None and hopeless(request):
                continue
            self.active += 1
            self._begin(request)
