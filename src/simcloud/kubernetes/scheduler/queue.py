"""The scheduling queue: pods to try now, pods in back-off, and unschedulable pods that wait for a change.

Pods are ordered by priority, then by time. A pod that a change may have helped is in back-off for 1 s, 2 s, 4 s … up
to 10 s since its rejection, but only while there are other pods to try: an idle scheduler takes it at once, as the
genuine one does. A pod whose binding failed is always in back-off. Unschedulable pods are retried after five minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from math import floor
from typing import Final

from msgspec import Struct

from simcloud.kubernetes.scheduler.hints import HINTS, Change, after_own_change
from simcloud.kubernetes.scheduler.pod_info import PodInfo
from simcloud.sim import Event, Kernel

LONGEST_UNSCHEDULABLE_S: Final = 300.0
FLUSH_EVERY_S: Final = 30.0
FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 10.0
_NO_PLUGIN: Final = ("",)


class Waiting(Struct):
    """A pod in the queue."""

    pod: PodInfo
    since_s: float
    place: str = "new"
    turn: int = 0
    refusals: int = 0
    errors: int = 0
    plugins: Sequence[str] = _NO_PLUGIN

    @property
    def cool_s(self) -> float:
        """When it has cooled down; whole seconds, so that equal ones go by priority."""
        failures = self.errors or self.refusals
        pause_s = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** (failures - 1)) if failures else 0.0
        return floor(self.since_s + pause_s)


class SchedulingQueue:
    """Which pod comes next."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._pods: dict[str, Waiting] = {}
        self._active: list[tuple[int, float, int, str]] = []
        self._cooling: list[tuple[float, int, float, int, str]] = []
        self._refused: dict[str, dict[str, Waiting]] = {}
        """Pods that wait for a change, by the filters that refused them."""
        self._turns = 0
        self._arrived: Event[None] | None = None

    def add(self, pod: PodInfo) -> None:
        """A pod without a node, new or changed."""
        waiting = self._pods.setdefault(pod.uid, Waiting(pod, self._kernel.now))
        waiting.pod = pod
        if pod.spec.get("schedulingGates"):
            waiting.place = "gated"
        elif waiting.place in ("new", "gated"):
            self._activate(waiting)
        elif waiting.place == "unschedulable" and after_own_change(pod, waiting.plugins):
            self._help(waiting)

    def refresh(self, pod: PodInfo) -> bool:
        """Take a pod's new state without trying it again; False if it is not waiting here."""
        waiting = self._pods.get(pod.uid)
        if waiting is None or waiting.place == "gated":
            return False
        waiting.pod = pod
        return True

    def remove(self, uid: str) -> None:
        """The pod is gone, or has its node."""
        waiting = self._pods.pop(uid, None)
        if waiting is not None:
            self._unlist(waiting)

    def add_unschedulable(self, waiting: Waiting, plugins: Sequence[str]) -> None:
        """No node will do, say these filters: the pod waits for a change that matters to one of them."""
        uid = waiting.pod.uid
        if self._pods.get(uid) is not waiting:
            return
        waiting.since_s, waiting.place = self._kernel.now, "unschedulable"
        waiting.refusals, waiting.errors = waiting.refusals + 1, 0
        waiting.plugins = plugins or _NO_PLUGIN
        for plugin in waiting.plugins:
            self._refused.setdefault(plugin, {})[uid] = waiting

    def add_failed(self, waiting: Waiting) -> None:
        """Something went wrong with the pod's binding: it comes again after a pause."""
        if self._pods.get(waiting.pod.uid) is not waiting:
            return
        waiting.since_s, waiting.place = self._kernel.now, "failed"
        waiting.errors += 1
        self._kernel.call_later(max(0.0, waiting.cool_s - self._kernel.now), self._again, waiting)

    def notify_change(self, change: Change) -> None:
        """Try the pods again that a change may have helped."""
        for plugin, helps in HINTS[change.kind].items():
            for waiting in list(self._refused.get(plugin, {}).values()):
                if helps(waiting.pod, change):
                    self._help(waiting)
        for waiting in list(self._refused.get("", {}).values()):
            self._help(waiting)

    def activate(self, uid: str) -> None:
        """Try a pod again that waits for a change."""
        waiting = self._pods.get(uid)
        if waiting is not None and waiting.place == "unschedulable":
            self._activate(waiting)

    async def flush(self) -> None:
        """Forever: try those that have waited too long."""
        while True:
            await self._kernel.sleep(FLUSH_EVERY_S)
            late = self._kernel.now - LONGEST_UNSCHEDULABLE_S
            for listed in list(self._refused.values()):
                for waiting in list(listed.values()):
                    if waiting.since_s < late and waiting.place == "unschedulable":
                        self._help(waiting)

    def next(self) -> Waiting | None:
        """The next pod to try; None if none waits to be tried."""
        now_s = floor(self._kernel.now)
        while True:
            while self._cooling and (self._cooling[0][0] <= now_s or not self._active):
                _, _, _, turn, uid = heappop(self._cooling)
                waiting = self._pods.get(uid)
                if waiting is not None and waiting.turn == turn and waiting.place == "cooling":
                    self._activate(waiting)
            while self._active:
                _, _, turn, uid = heappop(self._active)
                waiting = self._pods.get(uid)
                if waiting is not None and waiting.turn == turn and waiting.place == "active":
                    waiting.place = "trying"
                    return waiting
            if not self._cooling:
                return None

    def arrival(self) -> Event[None]:
        """What happens when the next pod comes that may be tried."""
        self._arrived = Event(self._kernel)
        return self._arrived

    def _again(self, waiting: Waiting) -> None:
        if waiting.place == "failed" and self._pods.get(waiting.pod.uid) is waiting:
            self._activate(waiting)

    def _help(self, waiting: Waiting) -> None:
        if waiting.cool_s <= floor(self._kernel.now):
            self._activate(waiting)
            return
        self._enter(waiting, "cooling")
        pod = waiting.pod
        heappush(self._cooling, (waiting.cool_s, -pod.priority, waiting.since_s, waiting.turn, pod.uid))

    def _activate(self, waiting: Waiting) -> None:
        self._enter(waiting, "active")
        heappush(self._active, (-waiting.pod.priority, waiting.since_s, waiting.turn, waiting.pod.uid))

    def _enter(self, waiting: Waiting, place: str) -> None:
        self._unlist(waiting)
        self._turns += 1
        waiting.place, waiting.turn = place, self._turns
        if self._arrived is not None:
            self._arrived.set()

    def _unlist(self, waiting: Waiting) -> None:
        for plugin in waiting.plugins:
            self._refused.get(plugin, {}).pop(waiting.pod.uid, None)
