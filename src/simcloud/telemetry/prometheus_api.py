"""Prometheus' HTTP API as functions: parameters in, documents out.

A document is the value of ``data``; an error is an ``ApiRefusal`` with the type, the message and the HTTP status.
``server/telemetry/`` serves it over HTTP; tests and agents may call it directly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Protocol

from simcloud.golang import quote
from simcloud.telemetry.metrics import Matcher, MetricStore
from simcloud.telemetry.promql import Engine, ParseError, QueryError, Result, parse, parse_selector
from simcloud.telemetry.promql.nodes import Node, type_of
from simcloud.telemetry.promql.numbers import in_json, parse_duration_ms
from simcloud.telemetry.promql.relabel import LABEL_NAME


class RuleReport(Protocol):
    """A source of the rules."""

    def documents(self, kind: str) -> list[dict[str, Any]]:
        """Return the groups with their rules; ``kind`` may select alerting or recording rules."""

    def alert_documents(self) -> list[dict[str, Any]]:
        """Return the pending and firing alerts."""


class TargetReport(Protocol):
    """A source of the scraped targets."""

    def document(self) -> dict[str, Any]:
        """Return ``activeTargets`` and ``droppedTargets``."""


Parameters = Mapping[str, Sequence[str]]
Document = dict[str, Any] | list[Any]

VERSION: Final = "2.42.0"
_MOST_POINTS: Final = 11_000
_STATUS: Final = {"bad_data": 400, "execution": 422, "not_found": 404, "timeout": 503, "internal": 500}
_TYPE_NAMES: Final = {"matrix": "range vector", "string": "string"}
_EARLIEST_MS: Final = -(2**62)
_LATEST_MS: Final = 2**62
_LONGEST_S: Final = 2**63 / 1e9


class ApiRefusal(Exception):
    """A request that fails."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.status = _STATUS[kind]

    @property
    def document(self) -> dict[str, Any]:
        """The whole answer."""
        return {"status": "error", "errorType": self.kind, "error": self.message}


class PrometheusApi:
    """Answers requests from a store. ``now_ms`` returns the time; rules and targets are optional."""

    def __init__(
        self,
        store: MetricStore,
        now_ms: Callable[[], int],
        rules: RuleReport | None = None,
        targets: TargetReport | None = None,
    ) -> None:
        self.store = store
        self.engine = Engine(store)
        self._now_ms = now_ms
        self._rules = rules
        self._targets = targets

    @staticmethod
    def serves(path: str) -> bool:
        """Return whether there is such a path below ``/api/v1/``."""
        return path in _ROUTES or (
            path.startswith("label/") and path.endswith("/values") and path.count("/") == 2
        )

    def answer(self, path: str, parameters: Parameters) -> dict[str, Any]:
        """Return the whole answer to a path below ``/api/v1/``; ``ApiRefusal`` when it is an error."""
        route = _ROUTES.get(path)
        if route is not None:
            return {"status": "success", "data": route(self, parameters)}
        if path.startswith("label/") and path.endswith("/values"):
            return {"status": "success", "data": self.label_values(path[6:-7], parameters)}
        raise ApiRefusal("not_found", "no such path")

    def query(self, parameters: Parameters) -> Document:
        """``/query``: the value of an expression at one time."""
        t_ms = self._time(parameters, "time", self._now_ms())
        self._check_timeout(parameters)
        try:
            node = parse(_one(parameters, "query"))
        except ParseError as fault:
            raise _invalid("query", str(fault)) from None
        return result_document(self._run(node, lambda node: self.engine.instant(node, t_ms)))

    def query_range(self, parameters: Parameters) -> Document:
        """``/query_range``: an expression's values over time."""
        start_ms = self._time(parameters, "start", None)
        end_ms = self._time(parameters, "end", None)
        if end_ms < start_ms:
            raise _invalid("end", "end timestamp must not be before start time")
        step_ms = _step_ms(_one(parameters, "step"))
        if (end_ms - start_ms) // step_ms > _MOST_POINTS:
            raise ApiRefusal(
                "bad_data",
                "exceeded maximum resolution of 11,000 points per timeseries."
                " Try decreasing the query resolution (?step=XX)",
            )
        self._check_timeout(parameters)

        try:
            node = parse(_one(parameters, "query"))
        except ParseError as fault:
            raise ApiRefusal("bad_data", str(fault)) from None
        kind = type_of(node)
        if kind in _TYPE_NAMES:
            words = "for range query, must be Scalar or instant Vector"
            raise ApiRefusal("bad_data", f"invalid expression type {quote(_TYPE_NAMES[kind])} {words}")
        return result_document(
            self._run(node, lambda node: self.engine.range(node, start_ms, end_ms, step_ms))
        )

    def series(self, parameters: Parameters) -> Document:
        """``/series``: which series fulfil a selector."""
        if not parameters.get("match[]"):
            raise ApiRefusal("bad_data", "no match[] parameter provided")
        try:
            selections = self._matchers(parameters)
        except ApiRefusal as refusal:
            raise _invalid("match[]", refusal.message) from None
        return [dict(labels) for labels in self.store.find(selections, self._span(parameters))]

    def labels(self, parameters: Parameters) -> Document:
        """``/labels``: the names of labels."""
        return list(self.store.label_names(self._matchers(parameters), self._span(parameters)))

    def label_values(self, name: str, parameters: Parameters) -> Document:
        """``/label/<name>/values``."""
        if not LABEL_NAME.fullmatch(name):
            raise ApiRefusal("bad_data", f"invalid label name: {quote(name)}")
        return list(self.store.label_values(name, self._matchers(parameters), self._span(parameters)))

    def metadata(self, parameters: Parameters) -> Document:
        """``/metadata``: types and help of metrics."""
        limit = -1
        if text := _one(parameters, "limit"):
            try:
                limit = int(text)
            except ValueError:
                raise ApiRefusal("bad_data", "limit must be a number") from None
        wanted = _one(parameters, "metric")
        names = [wanted] if wanted else list(self.store.metadata)
        known = [name for name in names if name in self.store.metadata]
        if limit >= 0:
            known = known[:limit]
        return {name: [self.store.metadata[name]._asdict()] for name in known}

    def rules(self, parameters: Parameters) -> Document:
        """``/rules``: groups with their rules and what these last said."""
        kind = _one(parameters, "type").lower()
        if kind not in ("", "alert", "record"):
            raise _invalid("type", f"not supported value {quote(kind)}")
        return {"groups": [] if self._rules is None else self._rules.documents(kind)}

    def alerts(self, parameters: Parameters) -> Document:
        """``/alerts``: what is pending or firing."""
        return {"alerts": [] if self._rules is None else self._rules.alert_documents()}

    def targets(self, parameters: Parameters) -> Document:
        """``/targets``: what is scraped."""
        state = _one(parameters, "state").lower()
        document = (
            {"activeTargets": [], "droppedTargets": []} if self._targets is None else self._targets.document()
        )
        if state == "active":
            document["droppedTargets"] = []
        elif state == "dropped":
            document["activeTargets"] = []
        return document

    def build_info(self, parameters: Parameters) -> Document:
        """``/status/buildinfo``: what this answers like."""
        return {
            "version": VERSION,
            "revision": "",
            "branch": "",
            "buildUser": "",
            "buildDate": "",
            "goVersion": "",
        }

    @staticmethod
    def _run(node: Node, run: Callable[[Node], Result]) -> Result:
        try:
            return run(node)
        except QueryError as fault:
            raise ApiRefusal("execution", str(fault)) from None

    @staticmethod
    def _matchers(parameters: Parameters) -> list[tuple[Matcher, ...]]:
        try:
            selections = [parse_selector(text) for text in parameters.get("match[]", ())]
        except ParseError as fault:
            raise ApiRefusal("bad_data", str(fault)) from None
        if any(all(matcher.accepts("") for matcher in selection) for selection in selections):
            raise ApiRefusal("bad_data", "match[] must contain at least one non-empty matcher")
        return selections

    def _span(self, parameters: Parameters) -> tuple[int, int] | None:
        start_ms = self._time(parameters, "start", _EARLIEST_MS)
        end_ms = self._time(parameters, "end", _LATEST_MS)
        return None if (start_ms, end_ms) == (_EARLIEST_MS, _LATEST_MS) else (start_ms, end_ms)

    def _time(self, parameters: Parameters, name: str, default_ms: int | None) -> int:
        text = _one(parameters, name)
        if not text and default_ms is not None:
            return default_ms
        try:
            return parse_time_ms(text)
        except ValueError as fault:
            what = "" if default_ms is None else f"Invalid time value for '{name}': "
            raise _invalid(name, f"{what}{fault}") from None

    @staticmethod
    def _check_timeout(parameters: Parameters) -> None:
        text = _one(parameters, "timeout")
        if text:
            try:
                parse_step_s(text)
            except ValueError as fault:
                raise _invalid("timeout", str(fault)) from None


def result_document(result: Result) -> dict[str, Any]:
    """Return an answer as the API writes it: numbers as strings, times as seconds."""
    time = seconds(result.t_ms)
    found: list[Any]
    if result.type == "scalar":
        found = [time, in_json(result.scalar)]
    elif result.type == "string":
        found = [time, result.text]
    elif result.type == "vector":
        found = [{"metric": dict(labels), "value": [time, in_json(value)]} for labels, value in result.vector]
    else:
        found = [
            {"metric": dict(labels), "values": [[seconds(t_ms), in_json(value)] for t_ms, value in points]}
            for labels, points in result.matrix
        ]
    return {"resultType": result.type, "result": found}


def seconds(t_ms: int) -> int | float:
    """Return a time in seconds, without a fraction where there is none."""
    return t_ms // 1000 if t_ms % 1000 == 0 else t_ms / 1000


def parse_time_ms(text: str) -> int:
    """Return a time as seconds or in RFC 3339."""
    try:
        value = float(text)
        if abs(value) < _LATEST_MS / 1000:
            return math.floor(value * 1000 + 0.5)
    except ValueError:
        pass
    try:
        if "T" in text and (text.endswith("Z") or "+" in text or "-" in text[11:]):
            return round(datetime.fromisoformat(text).timestamp() * 1000)
    except ValueError:
        pass
    raise ValueError(f"cannot parse {quote(text)} to a valid timestamp")


def parse_step_s(text: str) -> float:
    """Return a step or timeout: seconds or a duration."""
    try:
        value = float(text)
    except ValueError:
        try:
            return parse_duration_ms(text) / 1000
        except ValueError:
            raise ValueError(f"cannot parse {quote(text)} to a valid duration") from None
    if not abs(value) < _LONGEST_S:
        raise ValueError(f"cannot parse {quote(text)} to a valid duration. It overflows int64")
    return value


def _step_ms(text: str) -> int:
    try:
        step_ms = int(parse_step_s(text) * 1000)
    except ValueError as fault:
        raise _invalid("step", str(fault)) from None
    if step_ms <= 0:
        raise _invalid(
            "step", "zero or negative query resolution step widths are not accepted. Try a positive integer"
        )
    return step_ms


def _one(parameters: Parameters, name: str) -> str:
    values = parameters.get(name)
    return values[0] if values else ""


def _invalid(name: str, message: str) -> ApiRefusal:
    return ApiRefusal("bad_data", f"invalid parameter {quote(name)}: {message}")


_ROUTES: Final[dict[str, Callable[[PrometheusApi, Parameters], Document]]] = {
    "query": PrometheusApi.query,
    "query_range": PrometheusApi.query_range,
    "series": PrometheusApi.series,
    "labels": PrometheusApi.labels,
    "metadata": PrometheusApi.metadata,
    "rules": PrometheusApi.rules,
    "alerts": PrometheusApi.alerts,
    "targets": PrometheusApi.targets,
    "status/buildinfo": PrometheusApi.build_info,
}
