"""Back-off of jobs before failed pods are replaced: 10 s, 20 s, 40 s … up to 10 minutes.

The count restarts when a pod succeeds. It is kept in memory, as in the genuine controller.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.times import parse

FIRST_S: Final = 10.0
LONGEST_S: Final = 600.0


class Backoff(NamedTuple):
    """Failures since the last success, and the time of the last one."""

    failures: int = 0
    last_s: float = 0.0

    def after(self, succeeded: Sequence[Object], failed: Sequence[Object]) -> Backoff:
        """The same after some more pods have ended."""
        if not succeeded and not failed:
            return self
        failures = sorted(end_time_s(pod) for pod in failed)
        if not succeeded:
            return Backoff(self.failures + len(failures), failures[-1])
        success_s = max(end_time_s(pod) for pod in succeeded)
        later = [failure_s for failure_s in failures if failure_s > success_s]
        return Backoff(len(later), later[-1] if later else 0.0)

    def remaining_s(self, now_s: float) -> float:
        """How long there is still to wait."""
        if not self.failures:
            return 0.0
        pause_s: float = min(LONGEST_S, FIRST_S * 2 ** min(self.failures - 1, 16))
        return max(0.0, self.last_s + pause_s - now_s)


def end_time_s(pod: Object) -> float:
    """When a pod ended, as precisely as its status says."""
    status, metadata = pod.get("status", {}), pod["metadata"]
    containers = status.get("containerStatuses") or ()
    finished = [at(container, "state", "terminated", "finishedAt") for container in containers]
    if finished and all(finished):
        return max(parse(time) for time in finished)
    for condition in status.get("conditions") or ():
        if condition["type"] == "Ready" and condition["status"] == "False":
            since = condition.get("lastTransitionTime")
            if since:
                return parse(since)
    if "deletionTimestamp" in metadata:
        return parse(metadata["deletionTimestamp"]) - float(metadata.get("deletionGracePeriodSeconds") or 0)
    return parse(metadata["creationTimestamp"])
