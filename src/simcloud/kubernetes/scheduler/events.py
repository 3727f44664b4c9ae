"""Events of the scheduler and kube-proxy, recorded through events.k8s.io: repeated ones become a series.

A second event about the same state of a pod starts a series of two; later ones are counted, and written when the
series has been idle for six minutes, as in the genuine recorder.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.times import micro
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.events import object_reference
from simcloud.kubernetes.scheduler.messages import note

FINISH_S: Final = 360.0


class _Series(Struct):
    event: Object
    count: int
    last_s: float


class SeriesRecorder:
    """Records the events of one component: the scheduler, or a kube-proxy."""

    def __init__(self, client: ComponentClient, component: str, instance: str) -> None:
        self._client = client
        self._component = component
        self._instance = instance
        self._known: dict[tuple[str, ...], _Series] = {}

    def event(
        self, obj: Object, kind: str, reason: str, action: str, message: str, related: Object | None = None
    ) -> None:
        """Record that something happened to an object."""
        now_s = self._client.api.now_s
        about = object_reference(obj)
        key = (kind, reason, action, about.get("uid", ""), about.get("resourceVersion", ""), _uid(related))
        known = self._known.get(key)
        if known is not None:
            known.count += 1
            known.last_s = now_s
            if known.count == 2:
                self._write(known)
            return
        event = self._make(about, kind, reason, action, message, related)
        self._known[key] = _Series(event, 1, now_s)
        self._create(event)

    async def finish(self) -> None:
        """Forever: write the last count of every series that rests."""
        while True:
            await self._client.api.kernel.sleep(FINISH_S)
            before = self._client.api.now_s - FINISH_S
            for key, series in list(self._known.items()):
                if series.last_s < before:
                    del self._known[key]
                    if series.count > 1:
                        self._write(series)

    def _make(
        self, about: Object, kind: str, reason: str, action: str, message: str, related: Object | None
    ) -> Object:
        api = self._client.api
        drawn = api.kernel.random("events").randrange(1_000_000)
        event: Object = {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {
                "name": f"{about['name']}.{int(api.now_s * 1e9) + drawn:x}",
                "namespace": about.get("namespace", "default"),
            },
            "eventTime": micro(api.now_s),
            "reportingController": self._component,
            "reportingInstance": self._instance,
            "action": action,
            "reason": reason,
            "regarding": about,
            "note": note(message),
            "type": kind,
        }
        if related is not None:
            event["related"] = object_reference(related)
        return event

    def _create(self, event: Object) -> None:
        try:
            self._client.create(event)
        except ApiError:
            # A namespace that is going takes no new events; nobody waits for one.
            return

    def _write(self, series: _Series) -> None:
        update = {"count": series.count, "lastObservedTime": micro(series.last_s)}
        try:
            self._client.patch(series.event, {"series": update})
        except ApiError:
            self._create({**series.event, "series": update})


def _uid(obj: Object | None) -> str:
    return obj["metadata"]["uid"] if obj is not None else ""
