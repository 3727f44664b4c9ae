"""Expiry of events one hour after their last write.

In a genuine cluster the store does this with leases; here a queue in the order of writes and one timer do it. Expiry
is not a delete request: it involves no admission, no finalizers and no user.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.store import Key, Revision
from simcloud.kubernetes.controller import Controller, controller
from simcloud.sim import Timer

KEPT_S: Final = 3600.0
STORE: Final = "system:apiserver"


@controller("event-expiry")
class EventExpiry(Controller):
    """Follows the events and takes each out of the store when its time is over."""

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self._waiting: deque[tuple[float, Key, str]] = deque()
        self._timer: Timer | None = None
        self.kernel.on_skip(self._shift_times)

    def watch(self) -> None:
        self.follow("events", self._see)

    def start(self) -> None:
        self.watch()

    def _see(self, write: Revision) -> None:
        if write.change == "DELETED":
            return
        version = write.object["metadata"]["resourceVersion"]
        self._waiting.append((self.kernel.now + KEPT_S, write.key, version))
        if len(self._waiting) == 1:
            self._timer = self.kernel.call_later(KEPT_S, self._expire)

    def _expire(self, _due: object = None) -> None:
        now = self.kernel.now
        while self._waiting and self._waiting[0][0] <= now:
            _, key, version = self._waiting.popleft()
            event = self.api.log.get(key)
            if event is not None and event["metadata"]["resourceVersion"] == version:
                self.api.log.remove(key, STORE)
        if self._waiting:
            self._timer = self.kernel.call_at(self._waiting[0][0], self._expire)

    def _shift_times(self, seconds: float) -> None:
        self._waiting = deque((due - seconds, key, version) for due, key, version in self._waiting)
        if self._timer is not None:
            self._timer.cancel()
        self._expire()
