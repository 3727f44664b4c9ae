"""kube-state-metrics: the objects of the API as numbers.

An object is read when it has changed; its readings are kept until then.
"""

from __future__ import annotations

from collections.abc import Iterator

from simcloud.kubernetes.api.api import Api
from simcloud.telemetry.collectors.kube_objects import TELLERS
from simcloud.telemetry.collectors.kube_rows import Row
from simcloud.telemetry.scrape import Reading, Readings


class KubeState:
    """Tells about all objects of an API."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._entries: dict[str, tuple[str, Readings]] = {}

    def read(self) -> Readings:
        """All readings of this moment."""
        known, self._entries = self._entries, {}
        readings: Readings = []
        for (group, plural), tell in TELLERS.items():
            for obj in self._api.log.objects(group, plural):
                metadata = obj["metadata"]
                uid, version = metadata["uid"], metadata["resourceVersion"]
                entry = known.get(uid)
                if entry is None or entry[0] != version:
                    entry = (version, _readings(tell(obj), entry[1] if entry else []))
                self._entries[uid] = entry
                readings += entry[1]
        return readings


def _readings(rows: Iterator[Row], before: Readings) -> Readings:
    """An object's rows as readings; those of the object as it was before go on, with their new values."""
    known = {(reading.name, reading.labels): reading for reading in before}
    out: Readings = []
    for name, labels, value in rows:
        key = (name, tuple(sorted(labels.items())))
        reading = known.get(key) or Reading(*key)
        reading.value = float(value)
        out.append(reading)
    return out
