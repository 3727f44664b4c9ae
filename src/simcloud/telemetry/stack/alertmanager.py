"""Alertmanager: keeps the alerts that Prometheus sends, serves them, and formats them as a page for the engineer on call.

An alert ends when Prometheus says so, or when Prometheus has not sent it again for some minutes. There are no silences,
inhibitions or outgoing notifications.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import md5
from typing import Any, Final

from simcloud.machine.files import FileError
from simcloud.machine.network import HttpRequest, HttpResponse
from simcloud.machine.process import Context
from simcloud.telemetry.metrics import Labels, Matcher
from simcloud.telemetry.promql import ParseError, parse_selector
from simcloud.telemetry.rules.recording import format_time
from simcloud.telemetry.scrape import Reading, Readings
from simcloud.telemetry.stack.programs import (
    OwnMetrics,
    parse_target,
    refuse_path,
    respond_with,
    respond_with_metrics,
    serve_until_end,
    write_log,
)

PORT: Final = 9093
VERSION: Final = "0.25.0"
RECEIVER: Final = "pager"
GROUP_LABELS: Final = ("alertname", "namespace")
_READY: Final = ("/-/ready", "/-/healthy")


@dataclass
class ReceivedAlert:
    """An alert as Prometheus sent it last. It is active until ``ends_ms``."""

    labels: Labels
    annotations: Mapping[str, str]
    starts_ms: int
    ends_ms: int
    updated_ms: int
    generator_url: str

    def document(self) -> dict[str, Any]:
        """Return its document in the HTTP API."""
        return {
            "annotations": dict(sorted(self.annotations.items())),
            "endsAt": format_time(self.ends_ms),
            "fingerprint": md5(repr(self.labels).encode(), usedforsecurity=False).hexdigest()[:16],
            "receivers": [{"name": RECEIVER}],
            "startsAt": format_time(self.starts_ms),
            "status": {"inhibitedBy": [], "silencedBy": [], "state": "active"},
            "updatedAt": format_time(self.updated_ms),
            "generatorURL": self.generator_url,
            "labels": dict(self.labels),
        }


class Alertmanager:
    """The state of an Alertmanager process."""

    def __init__(self, ctx: Context, config: str) -> None:
        self._ctx = ctx
        self._config = config
        self._started_ms = round(ctx.now * 1000)
        self._alerts: dict[Labels, ReceivedAlert] = {}
        self._own = OwnMetrics(ctx, "alertmanager", VERSION)
        self._count = Reading("alertmanager_alerts", (("state", "active"),))
        self._received = Reading(
            "alertmanager_alerts_received_total", (("status", "firing"), ("version", "v2"))
        )

    def receive(self, alerts: Iterable[ReceivedAlert]) -> None:
        """Take alerts from Prometheus."""
        for alert in alerts:
            self._received.value += 1.0
            self._alerts[alert.labels] = alert

    def list_active(self) -> list[ReceivedAlert]:
        """Return the alerts that have not ended, sorted by labels; forget the others."""
        now_ms = self._ctx.now * 1000
        self._alerts = {labels: alert for labels, alert in self._alerts.items() if alert.ends_ms > now_ms}
        return sorted(self._alerts.values(), key=lambda alert: alert.labels)

    def read(self) -> Readings:
        """Return its metrics."""
        self._count.value = float(len(self.list_active()))
        return [*self._own.read(), self._count, self._received]

    async def answer(self, request: HttpRequest) -> HttpResponse:
        """Answer an HTTP request."""
        path, parameters = parse_target(request)
        if path in _READY:
            return respond_with(200, "OK")
        if path == "/metrics":
            return respond_with_metrics(self.read)
        if path == "/api/v2/status" and request.method == "GET":
            return respond_with(200, self._describe())
        if path == "/api/v2/silences" and request.method == "GET":
            return respond_with(200, [])
        if path in ("/api/v2/alerts", "/api/v2/alerts/groups") and request.method == "GET":
            texts = [text.strip().strip("{}") for text in parameters.get("filter", ())]
            try:
                matchers = [matcher for text in texts for matcher in parse_selector(f"{{{text}}}")]
            except ParseError as error:
                return respond_with(400, f"bad matcher format: {error}")
            alerts = [alert.document() for alert in self.list_active() if _matches(alert, matchers)]
            return respond_with(200, alerts if path.endswith("alerts") else _group(alerts))
        return refuse_path()

    def _describe(self) -> dict[str, Any]:
        return {
            "cluster": {"peers": [], "status": "disabled"},
            "config": {"original": self._config},
            "uptime": format_time(self._started_ms),
            "versionInfo": {"branch": "HEAD", "goVersion": "go1.19.4", "version": VERSION},
        }


def _matches(alert: ReceivedAlert, matchers: Iterable[Matcher]) -> bool:
    labels = dict(alert.labels)
    return all(matcher.accepts(labels.get(matcher.name, "")) for matcher in matchers)


def _group(alerts: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    groups: dict[tuple[tuple[str, str], ...], list[dict[str, Any]]] = {}
    for alert in alerts:
        key = tuple((name, alert["labels"][name]) for name in GROUP_LABELS if name in alert["labels"])
        groups.setdefault(key, []).append(alert)
    return [
        {"alerts": members, "labels": dict(labels), "receiver": {"name": RECEIVER}}
        for labels, members in sorted(groups.items())
    ]


async def alertmanager(ctx: Context) -> int:
    """Run until stopped; received alerts are lost then."""
    write_log(ctx, "main.go:240", msg="Starting Alertmanager", version=f"(version={VERSION}, branch=HEAD)")
    path = next((word.partition("=")[2] for word in ctx.args if word.startswith("--config.file=")), "alertmanager.yml")  # fmt: skip
    try:
        config = ctx.files.read(path).decode("utf-8", "replace")
    except FileError as error:
        reason = f"open {path}: {str(error).lower()}"
        write_log(ctx, "coordinator.go:118", "error", component="configuration", msg="Loading configuration file failed", file=path, err=reason)  # fmt: skip
        return 1
    write_log(ctx, "coordinator.go:126", component="configuration", msg="Completed loading of configuration file", file=path)  # fmt: skip
    state = Alertmanager(ctx, config)
    return await serve_until_end(ctx, PORT, state.answer, lambda: state, 22)


def format_page(alerts: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of a page about active alerts, given as documents of Alertmanager; empty without alerts."""
    lines: list[str] = []
    for group in _group([dict(alert) for alert in alerts]):
        labels = group["labels"]
        where = f" ({labels['namespace']})" if "namespace" in labels else ""
        lines.append(f"[FIRING:{len(group['alerts'])}] {labels['alertname']}{where}")
        for alert in group["alerts"]:
            notes, severity = alert["annotations"], alert["labels"].get("severity", "none")
            text = notes.get("description") or notes.get("summary") or alert["labels"]["alertname"]
            lines.append(f"  - {' '.join(text.split())} severity={severity} since={alert['startsAt']}")
    return "".join(f"{line}\n" for line in lines)
