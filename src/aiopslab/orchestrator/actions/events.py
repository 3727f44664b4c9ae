"""Events and alerts."""

from __future__ import annotations

from typing import Any, Final

from aiopslab.orchestrator.actions.environment_actions import ActionsBase, format_clock, format_time
from aiopslab.orchestrator.actions.folded_lines import mask_varying
from aiopslab.orchestrator.actions.observations import align_rows, format_head, format_tail
from aiopslab.orchestrator.actions.registry import action
from simcloud.kubernetes.api import Object, at, times

SHOWN_OBJECTS: Final = 2
"""Objects shown of a folded event, besides the newest."""


class EventActions(ActionsBase):
    """Actions on events and alerts."""

    @action
    def get_events(self, namespace: str, warnings_first: bool = False) -> str:
        """
        Shows the events of a namespace, the most recent last. Repeated events are folded with a count, as are normal
        events of many objects in the same minute.

        Args:
            namespace (str): The namespace given in the problem, or another such as "kube-system".
            warnings_first (bool): Whether to show warnings before all other events.

        Returns:
            str: A table: last seen, type, reason, object, count, message.
        """
        self._check_namespace(namespace)
        folded: dict[tuple[str, ...], _FoldedEvent] = {}
        for event in sorted(self._log.objects("", "events", namespace), key=_get_last_seen_s):
            row = _FoldedEvent(event)
            before = folded.pop(row.key, None)
            if before:
                row.count += before.count
                row.objects = before.objects | row.objects
            folded[row.key] = row
        if not folded:
            return f"There are no events in {namespace!r}; events are kept for an hour."
        rows = sorted(folded.values(), key=lambda row: warnings_first and row.type != "Warning")
        now_s = self._get_now_s()
        heading = ["LAST SEEN", "TYPE", "REASON", "OBJECT", "COUNT", "MESSAGE"]
        table = align_rows([heading, *(row.format_row(now_s) for row in rows)])
        title = f"Events up to {format_time(now_s)}:"
        if warnings_first:
            return format_head([title, *table], f'The rest: exec_shell("kubectl get events -n {namespace}")')
        earlier = f'Earlier events: exec_shell("kubectl get events -n {namespace} --sort-by=.lastTimestamp | head -n 50")'
        return "\n".join([title, table[0], format_tail(table[1:], earlier)])

    @action
    def get_alerts(self) -> str:
        """
        Shows the firing alerts of the whole cluster, then the pending ones, whose condition has not yet held for long
        enough.

        Returns:
            str: A table: state, severity, alert, start time, description.
        """
        alerts = self._reach_prometheus().alerts({})["alerts"]
        now_s = self._get_now_s()
        if not alerts:
            return f"No alert is firing or pending at {format_time(now_s)}."
        alerts.sort(
            key=lambda alert: (alert["state"] != "firing", alert["activeAt"], sorted(alert["labels"].items()))
        )
        table = [["STATE", "SEVERITY", "ALERT", "SINCE", "WHAT"]]
        for alert in alerts:
            labels = alert["labels"]
            since = format_clock(times.parse(alert["activeAt"]), now_s)
            what = _describe_alert(alert)
            table.append([alert["state"], labels.get("severity", ""), labels["alertname"], since, what])
        title = f"Alerts at {format_time(now_s)}:"
        return format_head([title, *align_rows(table)], "All alerts: query_metrics('ALERTS')")


def _describe_alert(alert: dict[str, Any]) -> str:
    """Return an alert's description or summary, or else its labels."""
    text = alert["annotations"].get("description") or alert["annotations"].get("summary") or ""
    return " ".join(text.split()) or ", ".join(
        f"{name}={value}" for name, value in sorted(alert["labels"].items())
    )


class _FoldedEvent:
    """An event, its count, and the objects that it is about."""

    def __init__(self, event: Object) -> None:
        about = event.get("involvedObject") or {}
        self.last_s = _get_last_seen_s(event)
        self.type = event.get("type") or ""
        self.reason = event.get("reason") or ""
        self.kind = str(about.get("kind", "")).lower()
        self.name = about.get("name", "")
        self.message = " ".join((event.get("message") or event.get("note") or "").split())
        self.count = int(event.get("count") or at(event, "series", "count", default=None) or 1)
        self.objects = {self.name: None}
        self.key = (self.type, self.reason, self.kind, *self._make_key())

    def _make_key(self) -> tuple[str, ...]:
        """Return the key by which events are folded: object and message of warnings, the minute of normal events."""
        if self.type == "Warning":
            return self.name, mask_varying(self.message)
        return str(self.last_s // 60), *self.message.split()[:2]

    def format_row(self, now_s: float) -> list[str]:
        seen = format_clock(self.last_s, now_s)
        others = [name for name in self.objects if name != self.name]
        shown = ", ".join((self.name, *others[-SHOWN_OBJECTS:]))
        more = f" and {len(others) - SHOWN_OBJECTS} more" if len(others) > SHOWN_OBJECTS else ""
        return [
            seen,
            self.type,
            self.reason,
            f"{self.kind}/{shown}{more}",
            str(self.count),
            self.message,
        ]


def _get_last_seen_s(event: Object) -> float:
    """Return the last time of an event."""
    last_seen = (
        at(event, "series", "lastObservedTime", default=None)
        or event.get("lastTimestamp")
        or event.get("eventTime")
        or event["metadata"]["creationTimestamp"]
    )
    return times.parse(last_seen)
