"""Writes pod statuses to the API: once for each change.

The manager keeps the kubelet's statuses; the API may lag behind while it cannot be reached. Conditions of other
writers and fields that the kubelet does not own are preserved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.kubelet.pods.conditions import OWNED, SHARED, pod_conditions, with_times
from simcloud.sim import Semaphore

_FIELDS: Final = (
    "allocatedResources", "containerStatuses", "ephemeralContainerStatuses", "hostIP", "hostIPs",
    "initContainerStatuses", "message", "observedGeneration", "phase", "podIP", "podIPs", "reason", "resources",
    "startTime",
)  # fmt: skip
"""What of a status is the kubelet's, beside its conditions."""

TERMINAL: Final = ("Succeeded", "Failed")

REQUEST_S: Final = 0.01
"""One request to the API: of pods that end together, one is gone before the other."""


class StatusManager:
    """The statuses of a node's pods."""

    def __init__(self, client: ComponentClient) -> None:
        self._client = client
        self._known: dict[str, Object] = {}
        self._turn = Semaphore(client.api.kernel, 1)

    def get(self, pod: Object) -> Object:
        """The newest status of a pod."""
        known = self._known.get(pod["metadata"]["uid"])
        return known if known is not None else pod.get("status") or {}

    def set(self, pod: Object, status: Object, conditions: Sequence[Object]) -> None:
        """A status has been made anew. Conditions get their times here."""
        metadata = pod["metadata"]
        old = self.get(pod)
        generation = metadata.get("generation", 1)
        now = self._client.api.timestamp()
        made = {**status, "observedGeneration": generation}
        made["conditions"] = with_times(conditions, old.get("conditions") or (), generation, now)
        made["startTime"] = old.get("startTime") or now
        if old.get("phase") in TERMINAL and made["phase"] not in TERMINAL:
            made["phase"] = old["phase"]
        self._known[metadata["uid"]] = made
        self._write(pod, made)

    def set_sandbox_ready(self, pod: Object) -> None:
        """A pod's sandbox stands: say so at once."""
        status = dict(self.get(pod))
        conditions = [
            {**each, "status": "True"} if each["type"] == "PodReadyToStartContainers" else each
            for each in status.get("conditions") or ()
        ]
        self.set(pod, status, conditions)

    def set_probed(self, pod: Object, container: str, *, started: bool | None, ready: bool | None) -> None:
        """A probe has found something out about a container."""
        status = copy(self.get(pod))
        found = False
        for field in ("containerStatuses", "initContainerStatuses"):
            for each in status.get(field) or ():
                if each["name"] == container and "running" in each["state"]:
                    found = True
                    each["started"] = each.get("started") if started is None else started
                    each["ready"] = each["ready"] if ready is None else ready
        if not found:
            return
        standing = {each["type"]: each["status"] for each in status.get("conditions") or ()}
        sandbox = standing.get("PodReadyToStartContainers") == "True"
        self.set(pod, status, pod_conditions(pod, status, sandbox))

    def forget(self, uid: str) -> None:
        """A pod is gone."""
        self._known.pop(uid, None)

    async def turn(self) -> None:
        """Wait for a turn: the ends of pods are reported one after another."""
        async with self._turn:
            await self._client.api.kernel.sleep(REQUEST_S)

    async def finish(self, pod: Object) -> None:
        """Remove a deleted pod from the API, once it has left the node."""
        await self.turn()
        live = self._client.refresh(pod)
        if live is None or not live["metadata"].get("deletionTimestamp"):
            return
        try:
            self._client.delete(live, grace_s=0)
        except ApiError:
            return  # somebody else was faster

    def _write(self, pod: Object, status: Object) -> None:
        live = self._client.refresh(pod)
        if live is None:
            return
        present = live.get("status") or {}
        merged = _merge(present, status)
        if merged == present:
            return
        try:
            self._client.update_status({**live, "status": merged})
        except ApiError:
            return  # the next change tries again


def _merge(present: Object, status: Object) -> Object:
    merged = {key: value for key, value in present.items() if key not in _FIELDS}
    merged |= {key: status[key] for key in _FIELDS if key in status and status[key] not in (None, "")}
    reported = {each["type"] for each in status["conditions"]}
    others = [
        each
        for each in present.get("conditions") or ()
        if each["type"] not in OWNED or (each["type"] == SHARED and SHARED not in reported)
    ]
    merged["conditions"] = [*status["conditions"], *others]
    if not merged["conditions"]:
        del merged["conditions"]
    return merged
