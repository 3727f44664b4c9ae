"""A work queue of keys without duplicates.

A key that is added while it is being processed is queued again afterwards. A failed key is retried with a growing
back-off, as in the genuine controllers: 5 ms, 10 ms, 20 ms … up to 1000 s.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from typing import Final, Generic, TypeVar

from simcloud.sim import Event, Kernel

FIRST_PAUSE_S: Final = 0.005
LONGEST_PAUSE_S: Final = 1000.0

K = TypeVar("K", bound=Hashable)


class WorkQueue(Generic[K]):
    """Keys in the order in which they were first asked for."""

    def __init__(
        self,
        kernel: Kernel,
        longest_pause_s: float = LONGEST_PAUSE_S,
        first_pause_s: float = FIRST_PAUSE_S,
    ) -> None:
        self._kernel = kernel
        self._longest_pause_s = longest_pause_s
        self._first_pause_s = first_pause_s
        self._waiting: deque[K] = deque()
        self._dirty: dict[K, None] = {}
        self._working: dict[K, None] = {}
        self._failures: dict[K, int] = {}
        self._due: dict[K, float] = {}
        self._arrived: Event[None] | None = None

    def add(self, key: K) -> None:
        """Ask for a key."""
        if key in self._dirty:
            return
        self._dirty[key] = None
        if key not in self._working:
            self._push(key)

    def add_after(self, key: K, delay_s: float) -> None:
        """Ask for a key later; an earlier wish for it stands."""
        if delay_s <= 0:
            self.add(key)
            return
        due = self._kernel.now + delay_s
        known = self._due.get(key)
        if known is not None and known <= due:
            return
        self._due[key] = due
        self._kernel.call_later(delay_s, self._arrive, (key, due))

    def retry(self, key: K) -> None:
        """Ask again for a key that failed, after its pause."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        self.add_after(key, min(self._longest_pause_s, self._first_pause_s * 2 ** min(failures, 30)))

    def failures(self, key: K) -> int:
        """How often a key failed in a row."""
        return self._failures.get(key, 0)

    def forget(self, key: K) -> None:
        """The key is well: its next failure is its first."""
        self._failures.pop(key, None)

    async def next(self) -> K:
        """The next key, once there is one. ``finish`` must follow. Several may wait."""
        while not self._waiting:
            if self._arrived is None or self._arrived.is_set:
                self._arrived = Event(self._kernel)
            await self._arrived.wait()
        key = self._waiting.popleft()
        self._working[key] = None
        self._dirty.pop(key, None)
        return key

    def finish(self, key: K) -> None:
        """The work on a key has ended."""
        self._working.pop(key, None)
        if key in self._dirty:
            self._push(key)

    def _push(self, key: K) -> None:
        self._waiting.append(key)
        if self._arrived is not None:
            self._arrived.set()

    def _arrive(self, planned: tuple[K, float]) -> None:
        key, due = planned
        if self._due.get(key) == due:
            del self._due[key]
            self.add(key)
