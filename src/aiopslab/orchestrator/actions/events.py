"""What happened and what is wrong now: events and alerts."""

from __future__ import annotations

from typing import Any, Final

from aiopslab.orchestrator.actions.base import ActionsBase, clock, stamp
from aiopslab.orchestrator.actions.bounds import head, tail
from aiopslab.orchestrator.actions.folding import shape
from aiopslab.orchestrator.actions.registry import action
from aiopslab.orchestrator.actions.tables import aligned
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.times import parse

SHOWN_OBJECTS: Final = 2
"""Beside the newest of those that an event is about."""


class EventActions(ActionsBase):
    """Reading events and alerts."""

    @action
    def get_events(self, namespace: str, warnings_first: bool = False) -> str:
        """
        Shows the events of a namespace, the most recent last. Repeated ones are folded with their count, and so
        are usual ones of many objects in the same minute.

        Args:
            namespace (str): The namespace that the problem names, or another one such as "kube-system".
            warnings_first (bool): Whether warnings stand above all others.

        Returns:
            str: A table: last seen, type, reason, object, count, message.
        """
        self._check_namespace(namespace)
        folded: dict[tuple[str, ...], _Told] = {}
        for event in sorted(self._log.objects("", "events", namespace), key=_seen_s):
            one = _Told(event)
            before = folded.pop(one.key, None)
            if before:
                one.count += before.count
                one.objects = before.objects | one.objects
            folded[one.key] = one
        if not folded:
            return f"There are no events in {namespace!r}; they are kept for an hour."
        rows = sorted(folded.values(), key=lambda one: warnings_first and one.type != "Warning")
        now_s = self._now_s()
        table = aligned(
            [["LAST SEEN", "TYPE", "REASON", "OBJECT", "COUNT", "MESSAGE"], *(one.row(now_s) for one in rows)]
        )
        title = f"Events up to {stamp(now_s)}:"
        if warnings_first:
            return head([title, *table], f'The rest: exec_shell("kubectl get events -n {namespace}")')
        earlier = f'Earlier ones: exec_shell("kubectl get events -n {namespace} --sort-by=.lastTimestamp | head -n 50")'
        return "\n".join([title, table[0], tail(table[1:], earlier)])

    @action
    def get_alerts(self) -> str:
        """
        Shows the alerts of the whole cluster that are firing, then those that are pending: their condition holds, but
        not for long enough yet.

        Returns:
            str: A table: state, severity, alert, since when, what is wrong.
        """
        found = self.environment.monitoring.rules.alert_documents()
        now_s = self._now_s()
        if not found:
            return f"No alert is firing or pending at {stamp(now_s)}."
        found.sort(key=lambda one: (one["state"] != "firing", one["activeAt"], sorted(one["labels"].items())))
        table = [["STATE", "SEVERITY", "ALERT", "SINCE", "WHAT"]]
        for one in found:
            labels = one["labels"]
            since = clock(parse(one["activeAt"]), now_s)
            table.append([one["state"], labels.get("severity", ""), labels["alertname"], since, _wrong(one)])
        return head([f"Alerts at {stamp(now_s)}:", *aligned(table)], "query_metrics('ALERTS') has all.")


def _wrong(alert: dict[str, Any]) -> str:
    """What an alert says; its labels where it says nothing."""
    told = alert["annotations"].get("description") or alert["annotations"].get("summary") or ""
    return " ".join(told.split()) or ", ".join(
        f"{name}={value}" for name, value in sorted(alert["labels"].items())
    )


class _Told:
    """An event, and how often it was told."""

    def __init__(self, event: Object) -> None:
        about = event.get("involvedObject") or {}
        self.last_s = _seen_s(event)
        self.type = event.get("type") or ""
        self.reason = event.get("reason") or ""
        self.kind = str(about.get("kind", "")).lower()
        self.name = about.get("name", "")
        self.message = " ".join((event.get("message") or event.get("note") or "").split())
        self.count = int(event.get("count") or at(event, "series", "count", default=None) or 1)
        self.objects = {self.name: None}
        self.key = (self.type, self.reason, self.kind, *self._same())

    def _same(self) -> tuple[str, ...]:
        """What makes two events one: all that they say of an object; of the usual ones, that they happen together."""
        if self.type == "Warning":
            return self.name, shape(self.message)
        return str(self.last_s // 60), *self.message.split()[:2]

    def row(self, now_s: float) -> list[str]:
        seen = clock(self.last_s, now_s)
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


def _seen_s(event: Object) -> float:
    """When an event was told last."""
    told = (
        at(event, "series", "lastObservedTime", default=None)
        or event.get("lastTimestamp")
        or event.get("eventTime")
        or event["metadata"]["creationTimestamp"]
    )
    return parse(told)
