"""The pods that wait for a node: those to try now, those that cool down, and those that wait for a change.

Order is by priority, then by time. A pod that a change may have helped cools down only while there are
others to try: an idle scheduler takes it at once, as the genuine one does. One whose binding failed comes
again after 1 s, 2 s, 4 s … at most 10 s. One that waits for a change is tried anyway after five minutes.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Final

from aiopslab.cluster.scheduler.pod_info import PodInfo
from aiopslab.sim import Event, Kernel

LONGEST_UNSCHEDULABLE_S: Final = 300.0
FLUSH_EVERY_S: Final = 30.0
LONGEST_PAUSE_S: Final = 10.0


@dataclass(slots=True)
class Waiting:
    """A pod in the queue."""

    pod: PodInfo
    since_s: float
    attempts: int = 0
    place: str = "active"
    turn: int = 0


class SchedulingQueue:
    """Which pod comes next."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._pods: dict[str, Waiting] = {}
        self._active: list[tuple[int, float, int, str]] = []
        self._cooling: list[tuple[int, float, int, str]] = []
        self._unschedulable: dict[str, Waiting] = {}
        self._turns = 0
        self._arrived: Event[None] | None = None

    def add(self, pod: PodInfo) -> None:
        """A pod without a node, new or changed."""
        waiting = self._pods.setdefault(pod.uid, Waiting(pod, self._kernel.now, place="new"))
        waiting.pod = pod
        if pod.spec.get("schedulingGates"):
            waiting.place = "gated"
        elif waiting.place in ("new", "gated", "unschedulable"):
            self._push(waiting, "active")

    def refresh(self, pod: PodInfo) -> bool:
        """Take a pod's new state without trying it again; False if it is not waiting here."""
        waiting = self._pods.get(pod.uid)
        if waiting is None or waiting.place == "gated":
            return False
        waiting.pod = pod
        return True

    def remove(self, uid: str) -> None:
        """The pod is gone, or has its node."""
        self._pods.pop(uid, None)

    def failed(self, waiting: Waiting, again: bool) -> None:
        """The pod has no node; ``again`` has it come after a pause, else it waits for a change."""
        if self._pods.get(waiting.pod.uid) is not waiting:
            return
        waiting.since_s = self._kernel.now
        if again:
            waiting.place = "failed"
            pause_s = min(LONGEST_PAUSE_S, 2.0 ** (waiting.attempts - 1))
            self._kernel.call_later(pause_s, self._again, waiting)
        else:
            waiting.place = "unschedulable"
            self._unschedulable[waiting.pod.uid] = waiting

    def wake(self, company: bool = False) -> None:
        """Something changed that may help: try those that wait. ``company``: only those that seek others."""
        for uid, waiting in list(self._unschedulable.items()):
            if waiting.place != "unschedulable" or self._pods.get(uid) is not waiting:
                del self._unschedulable[uid]
            elif not company or waiting.pod.spec.get("affinity") or _spreads(waiting.pod):
                del self._unschedulable[uid]
                self._push(waiting, "cooling")

    async def flush(self) -> None:
        """Forever: try those that have waited too long."""
        while True:
            await self._kernel.sleep(FLUSH_EVERY_S)
            for waiting in self._pods.values():
                old = self._kernel.now - waiting.since_s > LONGEST_UNSCHEDULABLE_S
                if old and waiting.place == "unschedulable":
                    self._push(waiting, "cooling")

    async def next(self) -> Waiting:
        """The next pod to try, once there is one."""
        while True:
            for heap, place in ((self._active, "active"), (self._cooling, "cooling")):
                while heap:
                    _, _, turn, uid = heappop(heap)
                    waiting = self._pods.get(uid)
                    if waiting is not None and waiting.turn == turn and waiting.place == place:
                        waiting.place = "trying"
                        waiting.attempts += 1
                        return waiting
            self._arrived = Event(self._kernel)
            await self._arrived.wait()

    def _again(self, waiting: Waiting) -> None:
        if waiting.place == "failed" and self._pods.get(waiting.pod.uid) is waiting:
            self._push(waiting, "active")

    def _push(self, waiting: Waiting, place: str) -> None:
        self._turns += 1
        waiting.place, waiting.turn = place, self._turns
        entry = (-waiting.pod.priority, waiting.since_s, self._turns, waiting.pod.uid)
        heappush(self._active if place == "active" else self._cooling, entry)
        if self._arrived is not None:
            self._arrived.set()


def _spreads(pod: PodInfo) -> bool:
    return bool(pod.spec.get("topologySpreadConstraints"))
