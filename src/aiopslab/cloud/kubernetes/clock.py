"""The clock of a cluster, as its API shows it: objects carry the time at which they were created, in whole seconds.

It need not agree with the clock here, nor run as fast: an embedded cluster may be served faster than real time, and falls behind when
its host is busy. So the clock is read once at the beginning, at two moments when its second changes, and again
and again afterwards.
"""

from __future__ import annotations

import asyncio
import time
from typing import Final

from aiopslab.cloud.kubernetes.client import ClusterClient, ClusterFailed
from aiopslab.cloud.kubernetes.http_client import HttpFailed
from simcloud.kubernetes.api import times

POLL_S: Final = 0.02
FIRST_S: Final = 2.0
"""Time between the two first readings."""
AGAIN_S: Final = 5.0
"""Time between two later readings."""
REAL: Final = 0.05
"""A speed this close to 1 is 1."""
TOLERANCE_S: Final = 1.5
"""Readings are whole seconds: a smaller difference is none."""
HALF_S: Final = 0.5
"""How early a reading is on average, because it is cut to whole seconds."""
PROBE: Final = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "clock-"}}
PATH: Final = "/api/v1/namespaces/default/configmaps?dryRun=All"


class ClusterClock:
    """The time of a cluster. Call ``calibrate`` before using it; ``follow`` corrects it while it runs."""

    def __init__(self, client: ClusterClient) -> None:
        self._client = client
        self.speed = 1.0
        self._first = self._anchor = (0.0, 0.0)
        """The same moment by the clock here and by the cluster's: the first one, and the one that counts now."""

    @property
    def now_s(self) -> float:
        """The cluster's time, in seconds since 1970."""
        here_s, there_s = self._anchor
        return there_s + (time.monotonic() - here_s) * self.speed

    def to_wall(self, seconds: float) -> float:
        """Return how long a span of the cluster's time takes here."""
        return seconds / self.speed

    def calibrate(self) -> None:
        """Read time and speed; raises ``ClusterFailed``."""
        self._client.call(self._calibrate())

    async def _calibrate(self) -> None:
        first = self._first = await self._await_change()
        await asyncio.sleep(FIRST_S)
        here_s, there_s = await self._await_change()
        speed = (there_s - first[1]) / (here_s - first[0])
        if speed <= 0:
            raise ClusterFailed("The clock of the cluster stands still, so nothing can be measured there.")
        self.speed = 1.0 if abs(speed - 1) < REAL else speed
        self._anchor = here_s, there_s

    async def follow(self) -> None:
        """Correct the clock whenever the cluster's is found to differ, until cancelled."""
        while True:
            await asyncio.sleep(AGAIN_S)
            try:
                here_s, there_s = await self._read()
            except (ClusterFailed, HttpFailed):
                continue
            there_s += HALF_S
            expected_s = self._anchor[1] + (here_s - self._anchor[0]) * self.speed
            if self.speed != 1.0:  # the longer it is observed, the better the speed is known
                self.speed = (there_s - self._first[1]) / (here_s - self._first[0])
            if abs(there_s - expected_s) > TOLERANCE_S:
                self._anchor = here_s, there_s

    async def _await_change(self) -> tuple[float, float]:
        """Return the moment at which the cluster's second changes, by both clocks."""
        _, before_s = await self._read()
        while True:
            here_s, there_s = await self._read()
            if there_s != before_s:
                return here_s, there_s
            await asyncio.sleep(POLL_S)

    async def _read(self) -> tuple[float, float]:
        began_s = time.monotonic()
        found = await self._client.send("POST", PATH, PROBE)
        return (began_s + time.monotonic()) / 2, times.parse(found["metadata"]["creationTimestamp"])
