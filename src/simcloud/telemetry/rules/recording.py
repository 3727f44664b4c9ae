"""The base of all rules, and recording rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from simcloud.kubernetes.api import times
from simcloud.telemetry.metrics import Labels
from simcloud.telemetry.promql import Engine, QueryError
from simcloud.telemetry.promql.nodes import Node
from simcloud.telemetry.promql.printer import format_query
from simcloud.telemetry.promql.values import Sample, Vector

NEVER = "0001-01-01T00:00:00Z"


def format_time(t_ms: int) -> str:
    """Format a time to the millisecond, without trailing zeros."""
    fraction = f".{t_ms % 1000:03d}".rstrip("0").rstrip(".")
    return times.rfc3339(t_ms // 1000).removesuffix("Z") + fraction + "Z"


@dataclass(eq=False, kw_only=True)
class Rule:
    """An expression that is evaluated periodically; ``evaluate`` returns the samples to store."""

    name: str
    expression: Node
    labels: Labels = ()
    error: str = field(default="", init=False)
    """Why the last evaluation failed, if it did."""
    evaluated_ms: int | None = field(default=None, init=False)

    def evaluate(self, engine: Engine, t_ms: int, limit: int) -> Vector:
        """Return the samples of this time; ``QueryError`` when there is no answer."""
        raise NotImplementedError

    def document(self) -> dict[str, Any]:
        """Return its document in the HTTP API."""
        raise NotImplementedError

    def health(self) -> dict[str, Any]:
        """Return the part of the document about the last evaluation."""
        fields: dict[str, Any] = {
            "health": "unknown" if self.evaluated_ms is None else "err" if self.error else "ok"
        }
        if self.error:
            fields["lastError"] = self.error
        fields["evaluationTime"] = 0
        fields["lastEvaluation"] = NEVER if self.evaluated_ms is None else format_time(self.evaluated_ms)
        return fields


def ask(engine: Engine, expression: Node, t_ms: int) -> Vector:
    """Return an expression's value as a vector; a number is a sample without labels."""
    result = engine.instant(expression, t_ms)
    if result.type == "vector":
        return list(result.vector)
    if result.type == "scalar":
        return [Sample((), result.scalar)]
    raise QueryError("rule result is not a vector or scalar")


@dataclass(eq=False, kw_only=True)
class RecordingRule(Rule):
    """Stores the result of an expression under a name."""

    def evaluate(self, engine: Engine, t_ms: int, limit: int) -> Vector:
        found = []
        for labels, value in ask(engine, self.expression, t_ms):
            pairs = dict(labels) | {"__name__": self.name} | dict(self.labels)
            found.append(Sample(tuple(sorted((key, text) for key, text in pairs.items() if text)), value))
        if len({sample.labels for sample in found}) < len(found):
            raise QueryError("vector contains metrics with the same labelset after applying rule labels")
        if 0 < limit < len(found):
            raise QueryError(f"exceeded limit of {limit} with {len(found)} series")
        return found

    def document(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"name": self.name, "query": format_query(self.expression)}
        if self.labels:
            fields["labels"] = dict(self.labels)
        return fields | self.health() | {"type": "recording"}
