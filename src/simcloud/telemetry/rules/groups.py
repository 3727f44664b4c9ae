"""Groups of rules: evaluated together, in order, at even intervals."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

from simcloud.sim import Kernel
from simcloud.telemetry.metrics import Labels, OutOfOrder
from simcloud.telemetry.metrics.store import TooManySeries
from simcloud.telemetry.promql import Engine, QueryError
from simcloud.telemetry.rules.alerts import Alert, AlertingRule
from simcloud.telemetry.rules.recording import NEVER, Rule, format_time

Spawn = Callable[[Coroutine[Any, Any, Any], str], Any]
"""Starts a named task: of a world, or of the process whose end ends it."""


@dataclass(eq=False, kw_only=True)
class RuleGroup:
    """Rules that are evaluated one after the other, so that a later one sees the results of an earlier one."""

    name: str
    rules: list[Rule]
    interval_ms: int = 60_000
    limit: int = 0
    file: str = ""
    evaluated_ms: int | None = field(default=None, init=False)
    _written: list[dict[Labels, None]] = field(default_factory=list, init=False)

    def evaluate(self, engine: Engine, t_ms: int) -> None:
        """Evaluate all rules at a time. A failed rule sets its ``error`` and does not affect the others."""
        self._written = self._written or [{} for _ in self.rules]
        for index, rule in enumerate(self.rules):
            rule.evaluated_ms = t_ms
            try:
                vector = rule.evaluate(engine, t_ms, self.limit)
            except QueryError as fault:
                rule.error = str(fault)
                continue
            rule.error = ""
            store = engine.store
            written: dict[Labels, None] = {}
            for labels, value in vector:
                try:
                    store.append(store.series_of(labels), t_ms, value)
                except OutOfOrder:
                    continue  # another rule has recorded it; the first one counts
                except TooManySeries as fault:
                    rule.error = str(fault)
                    break
                written[labels] = None
            for labels in self._written[index]:
                if labels not in written:
                    store.end(store.series_of(labels), t_ms)
            self._written[index] = written
        self.evaluated_ms = t_ms

    def next_ms(self, now_ms: int) -> int:
        """Return the time of the next evaluation. Groups with the same interval are spread by their names."""
        offset_ms = crc32(f"{self.file};{self.name}".encode()) % self.interval_ms
        return now_ms + (offset_ms - now_ms) % self.interval_ms

    def document(self, kind: str) -> dict[str, Any]:
        """Return its document in the HTTP API."""
        wanted = [
            rule for rule in self.rules if not kind or (kind == "alert") is isinstance(rule, AlertingRule)
        ]
        return {
            "name": self.name,
            "file": self.file,
            "rules": [rule.document() for rule in wanted],
            "interval": self.interval_ms / 1000,
            "limit": self.limit,
            "evaluationTime": 0,
            "lastEvaluation": NEVER if self.evaluated_ms is None else format_time(self.evaluated_ms),
        }


class RuleGroups:
    """All groups, and the tasks that evaluate them."""

    def __init__(self, groups: Sequence[RuleGroup], engine: Engine) -> None:
        self.groups = list(groups)
        self.texts: dict[str, str] = {}
        """The files that the groups were read from."""
        self._engine = engine
        self.notify: Callable[[RuleGroup, int], None] | None = None
        """Called with each group after its evaluation at a time."""

    def start(self, kernel: Kernel, epoch_s: float, spawn: Spawn | None = None) -> None:
        """Evaluate each group at its interval from now on; one task per group."""
        for group in self.groups:
            (spawn or kernel.spawn)(self._evaluate(kernel, epoch_s, group), f"rules {group.name}")

    async def _evaluate(self, kernel: Kernel, epoch_s: float, group: RuleGroup) -> None:
        t_ms = group.next_ms(round((epoch_s + kernel.now) * 1000))
        while group in self.groups:  # until other rules are loaded
            await kernel.sleep(max(0.0, t_ms / 1000 - epoch_s - kernel.now))
            group.evaluate(self._engine, t_ms)
            if self.notify is not None:
                self.notify(group, t_ms)
            t_ms += group.interval_ms

    @property
    def alerts(self) -> list[Alert]:
        """What pends or fires."""
        rules = (rule for group in self.groups for rule in group.rules if isinstance(rule, AlertingRule))
        return [alert for rule in rules for alert in rule.active]

    def documents(self, kind: str) -> list[dict[str, Any]]:
        """Return the groups, for the HTTP API."""
        return [group.document(kind) for group in sorted(self.groups, key=lambda g: (g.file, g.name))]

    def alert_documents(self) -> list[dict[str, Any]]:
        """Return the alerts, for the HTTP API."""
        return [alert.document() for alert in self.alerts]
