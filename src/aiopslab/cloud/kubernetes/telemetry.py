"""A copy of a cluster's logs and traces in the stores that actions read: log lines as they are written, traces on demand.

Lines come from the API, which follows each run of each container. It does not say to which output a line was written, so all
count as standard output. Traces come from a Jaeger, by default the application's own, through the API server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Final
from urllib.parse import urlencode

from aiopslab.cloud.kubernetes.client import ClusterClient
from aiopslab.cloud.kubernetes.http_client import HttpFailed
from aiopslab.cloud.kubernetes.telemetry_servers import TelemetryFailed, TelemetryServer
from simcloud.kubernetes.api import Object, at, times
from simcloud.machine import LogLine, Span
from simcloud.telemetry import Telemetry

PAUSE_S: Final = 2.0
ATTEMPTS: Final = 10
"""How often a container's log is asked for before it is given up; the pauses grow."""
LINE_BYTES: Final = 64 << 10
TRACES: Final = 3000
"""Maximum number of traces that are read at once."""
LOOK_BACK_S: Final = 900.0
OVERLAP_S: Final = 10.0
"""Spans of a request arrive some time after its end."""

Post = Callable[[Callable[[], None]], None]


class LogFollower:
    """Follows the logs of all containers in some namespaces. Call ``update`` with the pods whenever they may have changed."""

    def __init__(self, client: ClusterClient, telemetry: Telemetry, post: Post) -> None:
        self._client = client
        self._telemetry = telemetry
        self._post = post
        self._followed: set[tuple[str, str, int]] = set()
        self._arriving: dict[tuple[str, str, str], set[int]] = {}
        """The runs of each container whose lines arrive or have arrived here."""

    def is_following(self, namespace: str, pod: str, container: str, number: int | None) -> bool:
        """Whether the lines of a run come by the API; without a number, those of any run."""
        runs = self._arriving.get((namespace, pod, container), set())
        return bool(runs) if number is None else number in runs

    def update(self, pods: Iterable[Object]) -> None:
        """Follow each run of a container that is not followed yet."""
        for pod in pods:
            for status in _list_statuses(pod):
                run = (pod["metadata"]["uid"], status["name"], int(status.get("restartCount", 0)))
                if run not in self._followed and ({"running", "terminated"} & set(status.get("state") or ())):
                    self._followed.add(run)
                    key = pod["metadata"]["namespace"], pod["metadata"]["name"], status["name"]
                    self._arriving.setdefault(key, set()).add(run[2])
                    self._client.start(self._follow(pod, status["name"], run[2]))

    async def _follow(self, pod: Object, container: str, number: int) -> None:
        """Copy the lines of one run until it ends; the connection may fail, break or end too early, and is then opened again."""
        metadata = pod["metadata"]
        path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/log?"
        options = {"container": container, "follow": "true", "timestamps": "true"}
        origin = _make_labels(pod, container, number)
        last = ""
        for attempt in range(ATTEMPTS):
            since = {"sinceTime": last} if last else {}
            try:
                async with self._client.http.stream("GET", path + urlencode(options | since)) as (
                    answer,
                    parts,
                ):
                    if answer.status == 404:  # the pod is gone
                        break
                    if answer.status < 400:
                        held = b""
                        async for part in parts:
                            *lines, held = (held + part).split(b"\n")
                            last = self._take(lines, container, origin, last)
                        if last:
                            return
            except HttpFailed:
                pass
            await asyncio.sleep(PAUSE_S * (attempt + 1))
        if not last:
            key = metadata["namespace"], metadata["name"], container
            self._post(lambda: self._arriving[key].discard(number))

    def _take(
        self, lines: list[bytes], container: str, origin: tuple[tuple[str, str], ...], last: str
    ) -> str:
        """Pass lines on; return the time of the newest."""
        found = []
        for line in lines:
            stamp, _, text = line[:LINE_BYTES].decode("utf-8", "replace").partition(" ")
            if stamp > last or not last:
                try:
                    found.append(LogLine(times.parse(stamp), container, "stdout", text, origin))
                except ValueError:
                    continue
        if found:
            self._post(lambda: self._write(found))
            return max(last, lines[-1].decode("utf-8", "replace").partition(" ")[0])
        return last

    def _write(self, lines: list[LogLine]) -> None:
        for line in lines:
            self._telemetry.log(line)


def _list_statuses(pod: Object) -> list[Object]:
    kinds = ("initContainerStatuses", "containerStatuses")
    return [status for kind in kinds for status in at(pod, "status", kind, default=None) or ()]


def _make_labels(pod: Object, container: str, number: int) -> tuple[tuple[str, str], ...]:
    """Return the labels that a log collector gives to the lines of a container."""
    metadata = pod["metadata"]
    own = metadata.get("labels") or {}
    owner: str = at(metadata, "ownerReferences", 0, "name", default="")
    app = own.get("app.kubernetes.io/name") or own.get("app") or owner.rpartition("-")[0] or metadata["name"]
    place = f"{metadata['namespace']}_{metadata['name']}_{metadata['uid']}"
    return (
        ("app", app),
        ("container", container),
        ("filename", f"/var/log/pods/{place}/{container}/{number}.log"),
        ("job", f"{metadata['namespace']}/{app}"),
        ("namespace", metadata["namespace"]),
        ("node_name", pod["spec"].get("nodeName", "")),
        ("pod", metadata["name"]),
    )


class TraceReader:
    """Reads new traces of requests to a service, the front end, from a Jaeger."""

    def __init__(self, jaeger: TelemetryServer, service: str, telemetry: Telemetry, epoch_s: float) -> None:
        self._jaeger = jaeger
        self._service = service
        self._telemetry = telemetry
        self._epoch_s = epoch_s
        self._known: set[tuple[int, int]] = set()
        self._read_until_s = epoch_s

    def read(self, now_s: float) -> str:
        """Copy the spans of the requests since the last call, of at most a quarter of an hour; return why none can be read, or an
        empty text."""
        began_s = max(self._read_until_s - OVERLAP_S, now_s - LOOK_BACK_S)
        query = {
            "service": self._service,
            "start": round(began_s * 1e6),
            "end": round(now_s * 1e6),
            "limit": TRACES,
        }
        try:
            answer = self._jaeger.get("/api/traces", query)
        except TelemetryFailed as error:
            return error.message
        for trace in answer.get("data") or ():
            for span in trace["spans"]:
                self._take(span, trace["processes"])
        self._read_until_s = now_s
        return ""

    def _take(self, span: dict[str, Any], processes: dict[str, Any]) -> None:
        ids = int(span["traceID"], 16), int(span["spanID"], 16)
        if ids in self._known:
            return
        self._known.add(ids)
        parent = next((ref["spanID"] for ref in span["references"] if ref["refType"] == "CHILD_OF"), "0")
        tags = {tag["key"]: _format_value(tag["value"]) for tag in span["tags"]}
        process = processes[span["processID"]]
        self._telemetry.span(
            Span(
                *ids,
                int(parent, 16),
                process["serviceName"],
                span["operationName"],
                span["startTime"] / 1e6 - self._epoch_s,
                span["duration"] / 1e6,
                _find_error(span) if tags.pop("error", "false") == "true" else None,
                tuple(tags.items()),
                tuple((tag["key"], _format_value(tag["value"])) for tag in process.get("tags") or ()),
            )
        )


def _find_error(span: dict[str, Any]) -> str:
    """Return the message of a failed span, from its logs."""
    fields = {field["key"]: str(field["value"]) for log in span.get("logs") or () for field in log["fields"]}
    return fields.get("error.object") or fields.get("message") or fields.get("event") or "error"


def _format_value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
