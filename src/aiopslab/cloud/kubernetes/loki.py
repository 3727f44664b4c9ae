"""Log lines from Loki that following containers by the API misses: those of containers that were gone before anybody looked, and those
from before the oldest line that the API still has.

Loki's agents must set the labels namespace, pod and container, as all of them do; from Promtail's ``filename`` it is known to which
run of a container a line belongs.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from aiopslab.cloud.kubernetes.telemetry import LogFollower
from aiopslab.cloud.kubernetes.telemetry_servers import TelemetryFailed, TelemetryServer
from simcloud.golang import quote
from simcloud.machine import LogLine
from simcloud.telemetry import Telemetry
from simcloud.telemetry.logs import SECOND_NS
from simcloud.telemetry.metrics import Matcher

LOOK_BACK_S: Final = 24 * 3600.0
TOTAL_S: Final = 60.0
"""Time after which no further stream is read."""
LINES: Final = 3000
"""Maximum number of lines of a stream that are read at once: the newest."""
SETTLED_S: Final = 10.0
"""Lines of the last seconds may be of a container that is about to be followed."""
TOLERANCE_NS: Final = 1000
"""Times of lines that were followed are not exact."""
PLACED: Final = ("app", "container", "filename", "job", "namespace", "node_name", "pod")
_RUN: Final = re.compile(r"/(\d+)\.log$")


class LokiReader:
    """Copies what ``follower`` misses in some namespaces. Call ``read`` before lines are shown."""

    def __init__(
        self, loki: TelemetryServer, telemetry: Telemetry, follower: LogFollower, namespaces: Sequence[str]
    ) -> None:
        self._loki = loki
        self._telemetry = telemetry
        self._follower = follower
        self._selector = f'{{namespace=~"{"|".join(namespaces)}"}}'
        self._read_until_ns: dict[str, int] = {}
        """The end of what was read of each stream, by its selector."""

    def read(self, now_s: float) -> str:
        """Copy the missing lines of the last day; return why they cannot be read, or an empty text."""
        end_ns = round((now_s - SETTLED_S) * SECOND_NS)
        start_ns = end_ns - round(LOOK_BACK_S * SECOND_NS)
        deadline_s = time.monotonic() + TOTAL_S
        try:
            found = self._ask("series", {"match[]": self._selector, "start": start_ns, "end": end_ns})
            for labels in found:
                if {"namespace", "pod", "container"} <= set(labels):
                    self._read_stream(labels, start_ns, end_ns)
                if time.monotonic() > deadline_s:
                    return f"Loki at {self._loki.place} took more than {TOTAL_S:g} s; more lines are read next time."
        except TelemetryFailed as error:
            return error.message
        return ""

    def _read_stream(self, labels: Mapping[str, str], start_ns: int, end_ns: int) -> None:
        # Sorted, because Loki returns the labels of a series in any order.
        selector = f"{{{', '.join(f'{name}={quote(value)}' for name, value in sorted(labels.items()))}}}"
        run = labels["namespace"], labels["pod"], labels["container"], _find_run(labels)
        is_followed = self._follower.is_following(*run)
        if is_followed and selector in self._read_until_ns:
            return
        start_ns = self._read_until_ns.get(selector, start_ns)
        if is_followed:
            end_ns = self._find_first_ns(*run) - TOLERANCE_NS
        if start_ns >= end_ns:
            return
        query = {"query": selector, "start": start_ns, "end": end_ns, "limit": LINES, "direction": "backward"}
        known = {name: labels.get(name, "") for name in PLACED}
        known["app"] = known["app"] or labels["pod"].rsplit("-", 2)[0]
        origin = tuple(known.items())
        newest_ns = start_ns - 1
        for stream in self._ask("query_range", query).get("result") or ():
            for entry in reversed(stream["values"]):
                newest_ns = max(newest_ns, int(entry[0]))
                time_s = int(entry[0]) / SECOND_NS
                output = labels.get("stream", "stdout")
                self._telemetry.log(LogLine(time_s, labels["container"], output, entry[1], origin))
        self._read_until_ns[selector] = end_ns if is_followed else newest_ns + 1

    def _find_first_ns(self, namespace: str, pod: str, container: str, number: int | None) -> int:
        """Return the time of the oldest line of a run, or of all runs; 0 if there is none yet."""
        pairs = (("namespace", namespace), ("pod", pod), ("container", container))
        streams = self._telemetry.logs.select([Matcher(name, "=", value) for name, value in pairs])
        own = [stream for stream in streams if number in (None, _find_run(dict(stream.labels)))]
        return min((stream.times_ns[0] for stream in own), default=0)

    def _ask(self, path: str, query: Mapping[str, Any]) -> Any:
        document = self._loki.get(f"/loki/api/v1/{path}", query)
        if document.get("status") != "success":
            raise TelemetryFailed(f"The server at {self._loki.place} does not answer as Loki does.")
        return document.get("data") or {}


def _find_run(labels: Mapping[str, str]) -> int | None:
    """Return the number of a container's run; None if the labels do not say."""
    found = _RUN.search(labels.get("filename", ""))
    return int(found[1]) if found else None
