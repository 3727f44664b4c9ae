"""Events are kept for an hour after they were last written, then they are gone.

In a genuine cluster the store does this, by leases; here one queue in the order of writing and one
timer do it. Nobody deletes: no admission, no finalizers, no audit of a user.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.store import Key, Revision
from simcloud.kubernetes.controller import Controller, controller

KEPT_S: Final = 3600.0
STORE: Final = "system:apiserver"


@controller("event-expiry")
class EventExpiry(Controller):
    """Follows the events and takes each out of the store when its time is over."""

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self._waiting: deque[tuple[float, Key, str]] = deque()

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
            self.kernel.call_later(KEPT_S, self._expire)

    def _expire(self, _due: object = None) -> None:
        now = self.kernel.now
        while self._waiting and self._waiting[0][0] <= now:
            _, key, version = self._waiting.popleft()
            event = self.api.log.get(key)
            if event is not None and event["metadata"]["resourceVersion"] == version:
                self.api.log.remove(key, STORE)
        if self._waiting:
            self.kernel.call_at(self._waiting[0][0], self._expire)
