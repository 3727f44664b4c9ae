"""Alerting rules: each sample of the result is an alert.

An alert is pending until its condition has held for the rule's ``for``, then fires, and resolves at the first
evaluation without it, or ``keep_firing_for`` later. Both states are series: ``ALERTS`` with the state as a
label, ``ALERTS_FOR_STATE`` with the time since when. Resolved alerts are kept for 15 minutes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal

from msgspec import Struct

from simcloud.telemetry.metrics import Labels
from simcloud.telemetry.promql import Engine, QueryError
from simcloud.telemetry.promql.numbers import exponential
from simcloud.telemetry.promql.printer import format_query
from simcloud.telemetry.promql.values import Sample, Vector, without_name
from simcloud.telemetry.rules.recording import Rule, ask, format_time
from simcloud.telemetry.rules.templates import Scope, expand

State = Literal["inactive", "pending", "firing"]
REMEMBERED_MS: Final = 15 * 60_000
_RANK: Final = {"inactive": 0, "pending": 1, "firing": 2}


class Alert(Struct, eq=False, kw_only=True):
    """A pending, firing or resolved alert."""

    labels: Labels
    annotations: dict[str, str]
    value: float
    active_ms: int
    state: State = "pending"
    resolved_ms: int | None = None
    kept_since_ms: int | None = None

    def document(self) -> dict[str, Any]:
        """Return the alert as the HTTP API reports it."""
        fields: dict[str, Any] = {
            "labels": dict(self.labels),
            "annotations": self.annotations,
            "state": self.state,
            "activeAt": format_time(self.active_ms),
        }
        if self.kept_since_ms is not None:
            fields["keepFiringSince"] = format_time(self.kept_since_ms)
        return fields | {"value": exponential(self.value)}


@dataclass(eq=False, kw_only=True)
class AlertingRule(Rule):
    """A rule that raises alerts."""

    for_ms: int = 0
    keep_firing_for_ms: int = 0
    annotations: tuple[tuple[str, str], ...] = ()
    _alerts: dict[Labels, Alert] = field(default_factory=dict, init=False)

    @property
    def active(self) -> list[Alert]:
        """The alerts that pend or fire."""
        return [alert for alert in self._alerts.values() if alert.state != "inactive"]

    @property
    def remembered(self) -> list[Alert]:
        """All alerts that are known, those that were resolved lately too."""
        return list(self._alerts.values())

    @property
    def state(self) -> State:
        """The worst state of all its alerts."""
        return max(
            (alert.state for alert in self._alerts.values()), key=_RANK.__getitem__, default="inactive"
        )

    def evaluate(self, engine: Engine, t_ms: int, limit: int) -> Vector:
        found: dict[Labels, Alert] = {}
        for sample in ask(engine, self.expression, t_ms):
            alert = self._alert(engine, sample, t_ms)
            if alert.labels in found:
                raise QueryError("vector contains metrics with the same labelset after applying alert labels")
            found[alert.labels] = alert
        for labels, alert in found.items():
            known = self._alerts.get(labels)
            if known is None or known.state == "inactive":
                self._alerts.pop(labels, None)
                self._alerts[labels] = alert
            else:
                known.value, known.annotations = alert.value, alert.annotations
        out: Vector = []
        for labels, alert in list(self._alerts.items()):
            if self._proceed(alert, t_ms, found=labels in found):
                out += _samples(alert)
        if 0 < limit < len(out) // 2:
            self._alerts.clear()
            raise QueryError(f"exceeded limit of {limit} with {len(out) // 2} alerts")
        return out

    def _alert(self, engine: Engine, sample: Sample, t_ms: int) -> Alert:
        scope = Scope(dict(sample.labels), sample.value, engine, t_ms)
        pairs = dict(without_name(sample.labels))
        pairs.update((name, expand(self.name, text, scope)) for name, text in self.labels)
        pairs["alertname"] = self.name
        return Alert(
            labels=tuple(sorted((name, text) for name, text in pairs.items() if text)),
            annotations={name: expand(self.name, text, scope) for name, text in self.annotations},
            value=sample.value,
            active_ms=t_ms,
        )

    def _proceed(self, alert: Alert, t_ms: int, *, found: bool) -> bool:
        """Bring an alert's state up to a time; whether it is still there."""
        if found:
            alert.kept_since_ms = None
        elif not self._is_kept(alert, t_ms):
            forgotten = alert.resolved_ms is not None and t_ms - alert.resolved_ms > REMEMBERED_MS
            if alert.state == "pending" or forgotten:
                del self._alerts[alert.labels]
            if alert.state != "inactive":
                alert.state, alert.resolved_ms = "inactive", t_ms
            return False
        if alert.state == "pending" and t_ms - alert.active_ms >= self.for_ms:
            alert.state = "firing"
        return True

    def _is_kept(self, alert: Alert, t_ms: int) -> bool:
        if alert.state != "firing" or not self.keep_firing_for_ms:
            return False
        if alert.kept_since_ms is None:
            alert.kept_since_ms = t_ms
        return t_ms - alert.kept_since_ms < self.keep_firing_for_ms

    def document(self) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "state": self.state,
            "name": self.name,
            "query": format_query(self.expression),
            "duration": self.for_ms / 1000,
            "keepFiringFor": self.keep_firing_for_ms / 1000,
            "labels": dict(self.labels),
            "annotations": dict(self.annotations),
            "alerts": [alert.document() for alert in self.active],
        }
        return fields | self.health() | {"type": "alerting"}


def _samples(alert: Alert) -> Vector:
    pairs = dict(alert.labels)
    state = pairs | {"__name__": "ALERTS", "alertstate": alert.state}
    since = pairs | {"__name__": "ALERTS_FOR_STATE"}
    return [
        Sample(tuple(sorted(state.items())), 1.0),
        Sample(tuple(sorted(since.items())), float(alert.active_ms // 1000)),
    ]
