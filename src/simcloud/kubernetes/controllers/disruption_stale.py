"""Pods that were to be disrupted and still run two minutes later are not to be disrupted any more.

Part of the genuine disruption controller; a loop of its own here, since its keys are pods.
"""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.api.times import parse
from simcloud.kubernetes.controller import Controller, NamespacedName, controller
from simcloud.kubernetes.controllers.pods import is_leaving, is_terminal

STALE_S: Final = 120.0
TARGET: Final = "DisruptionTarget"


@controller("stale-disruption-controller")
class StaleDisruption(Controller):
    """Takes back the condition DisruptionTarget of pods that nobody deletes."""

    def watch(self) -> None:
        self.follow("pods", self._see)

    def _see(self, write: Revision) -> None:
        if write.change != "DELETED" and _target(write.object) is not None:
            self.enqueue(write)

    def sync(self, key: NamespacedName) -> None:
        pod = self.client.get("pods", *key)
        target = _target(pod) if pod is not None else None
        if pod is None or target is None:
            return
        left_s = parse(target["lastTransitionTime"]) + STALE_S - self.api.now_s
        if left_s > 0:
            self.queue.add_after(key, left_s)
            return
        cleared = {"type": TARGET, "status": "False", "lastTransitionTime": self.api.timestamp()}
        changed: Object = copy(pod)
        conditions = changed["status"]["conditions"]
        changed["status"]["conditions"] = [
            cleared if condition["type"] == TARGET else condition for condition in conditions
        ]
        self.client.update_status(changed)


def _target(pod: Object) -> Object | None:
    """The condition of a pod that is to go and does not; the kubelet's own never grows stale."""
    if is_leaving(pod) or is_terminal(pod):
        return None
    for condition in pod["status"].get("conditions") or ():
        if (
            condition["type"] == TARGET
            and condition["status"] == "True"
            and condition.get("reason") != "TerminationByKubelet"
        ):
            found: Object = condition
            return found
    return None
