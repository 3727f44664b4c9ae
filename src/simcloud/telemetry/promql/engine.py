"""Evaluates queries on a store.

An expression is evaluated at one time; a range query evaluates it at every step. What is the same for all steps (the
series of a selector, the grouping of labels) is computed once per query. Work is limited by a count of samples, so that
a query that is too large always fails at the same point.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from msgspec import Struct

from simcloud.telemetry.metrics import Labels, MetricStore, Series
from simcloud.telemetry.metrics.series import Rows, Timeline
from simcloud.telemetry.promql import instants, windows
from simcloud.telemetry.promql.aggregates import aggregate
from simcloud.telemetry.promql.arithmetic import compare, compute
from simcloud.telemetry.promql.binary import combine, combine_sets, with_scalar
from simcloud.telemetry.promql.checks import COMPARISONS, SET_OPERATORS
from simcloud.telemetry.promql.errors import QueryError, TooManySamples
from simcloud.telemetry.promql.histograms import histogram_quantile
from simcloud.telemetry.promql.nodes import (
    Aggregate,
    Binary,
    Call,
    Matrix,
    Node,
    Number,
    Paren,
    Selector,
    Subquery,
    Text,
    Timed,
    Unary,
    type_of,
)
from simcloud.telemetry.promql.parser import parse
from simcloud.telemetry.promql.values import (
    Prepared,
    Result,
    Sample,
    SeriesPoints,
    Vector,
    Window,
    make_vector,
    without_name,
)

LOOKBACK_MS: Final = 300_000
SUBQUERY_STEP_MS: Final = 60_000
PREPARED: Final = 256
"""Number of nodes of parsed queries of which something is kept."""

Value = float | str | Vector
Note = dict[Labels, Labels]


class Limits(Struct, frozen=True):
    """Limits of a query. A look-up without a result counts as one sample."""

    samples: int = 20_000_000


class Engine:
    """Evaluates queries, given as text or parsed, on a store."""

    def __init__(
        self,
        store: MetricStore,
        limits: Limits = Limits(),
        lookback_ms: int = LOOKBACK_MS,
    ) -> None:
        self.store = store
        self.limits = limits
        self.lookback_ms = lookback_ms
        self._prepared: dict[Node, Prepared[Any]] = {}

    def instant(self, query: str | Node, t_ms: int) -> Result:
        """Return the answer at one time; ``ParseError`` or ``QueryError`` when there is none."""
        node = parse(query) if isinstance(query, str) else query
        evaluation = _Evaluation(self, t_ms, t_ms, {} if isinstance(query, str) else self._trim_prepared())
        if type_of(node) == "matrix":
            found = [SeriesPoints(window.labels, window.points) for window in evaluation.windows(node, t_ms)]
            return Result("matrix", t_ms, matrix=tuple(sorted(found, key=lambda series: series.labels)))
        value = evaluation.value(node, t_ms)
        if isinstance(value, str):
            return Result("string", t_ms, text=value)
        if isinstance(value, list):
            return Result("vector", t_ms, vector=tuple(value))
        return Result("scalar", t_ms, scalar=value)

    def range(self, query: str | Node, start_ms: int, end_ms: int, step_ms: int) -> Result:
        """Return the answers from one time to another, as a matrix."""
        node = parse(query) if isinstance(query, str) else query
        evaluation = _Evaluation(self, start_ms, end_ms, {})
        series: dict[Labels, list[tuple[int, float]]] = {}
        for t_ms in range(start_ms, end_ms + 1, step_ms):
            value = evaluation.value(node, t_ms)
            if isinstance(value, list):
                for labels, number in value:
                    points = series.get(labels)
                    if points is None:
                        points = series[labels] = []
                    elif points[-1][0] == t_ms:
                        raise QueryError("vector cannot contain metrics with the same labelset")
                    points.append((t_ms, number))
            elif isinstance(value, float):
                series.setdefault((), []).append((t_ms, value))
        return Result(
            "matrix", end_ms, matrix=tuple(SeriesPoints(key, series[key]) for key in sorted(series))
        )

    def _trim_prepared(self) -> dict[Node, Prepared[Any]]:
        """Return what is kept of the nodes of parsed queries, emptied when it is too large."""
        if len(self._prepared) > PREPARED:
            self._prepared = {}
        return self._prepared


class _Evaluation:
    """The evaluation of one query."""

    def __init__(
        self, engine: Engine, start_ms: int, end_ms: int, prepared: dict[Node, Prepared[Any]]
    ) -> None:
        self._engine = engine
        self._start_ms = start_ms
        self._end_ms = end_ms
        self._left = engine.limits.samples
        self._selected: dict[Selector, tuple[Series, ...]] = {}
        self._steps: dict[Subquery, dict[int, Vector]] = {}
        self._notes: dict[Node, Note] = {}
        self._prepared = prepared

    def value(self, node: Node, t_ms: int) -> Value:
        """Evaluate an expression at a time."""
        match node:
            case Number() | Text():
                return node.value
            case Paren():
                return self.value(node.inner, t_ms)
            case Selector():
                return [Sample(series.labels, value) for series, _, value in self._present(node, t_ms)]
            case Unary():
                return self._negate(node, t_ms)
            case Aggregate():
                parameter = None if node.parameter is None else self.value(node.parameter, t_ms)
                assert not isinstance(parameter, list)
                return aggregate(node, self.vector(node.inner, t_ms), parameter, self._prepare(node))
            case Binary():
                return self._binary(node, t_ms)
            case Call():
                return self._call(node, t_ms)
        raise TypeError(f"{type(node).__name__} has no value at one time")

    def vector(self, node: Node, t_ms: int) -> Vector:
        """Return the value of an expression that is a vector."""
        value = self.value(node, t_ms)
        assert isinstance(value, list)
        return value

    def scalar(self, node: Node, t_ms: int) -> float:
        """Return the value of an expression that is a number."""
        value = self.value(node, t_ms)
        assert isinstance(value, float)
        return value

    def windows(self, node: Node, t_ms: int) -> list[Window]:
        """Return the series of a range vector with the points in the range; without those that have none."""
        match node:
            case Paren():
                return self.windows(node.inner, t_ms)
            case Matrix():
                end_ms = self._reference(node.selector, t_ms)
                start_ms = end_ms - node.range_ms
                found = []
                rows: dict[Timeline, Rows] = {}
                for series in self._select(node.selector):
                    timeline = series.timeline
                    if timeline not in rows:
                        rows[timeline] = timeline.find_rows(start_ms, end_ms)
                    times, values = series.columns(rows[timeline])
                    self._spend(len(values) or 1)
                    if values:
                        found.append(Window(series.labels, times, values, series.base_ms, start_ms, end_ms))
                return found
            case Subquery():
                return self._subquery(node, t_ms)
        raise TypeError(f"{type(node).__name__} has no range")

    def _subquery(self, node: Subquery, t_ms: int) -> list[Window]:
        end_ms = self._reference(node, t_ms)
        start_ms = end_ms - node.range_ms
        step_ms = node.step_ms or SUBQUERY_STEP_MS
        steps = self._steps.setdefault(node, {})
        series: dict[Labels, tuple[list[int], list[float]]] = {}
        for step in range(-(-start_ms // step_ms) * step_ms, end_ms + 1, step_ms):
            vector = steps.get(step)
            if vector is None:
                vector = steps[step] = self.vector(node.inner, step)
            self._spend(len(vector) or 1)
            for labels, value in vector:
                times, values = series.setdefault(labels, ([], []))
                times.append(step)
                values.append(value)
        return [Window(labels, *columns, 0, start_ms, end_ms) for labels, columns in series.items()]

    def _call(self, node: Call, t_ms: int) -> Value:
        name, arguments = node.function.name, node.arguments
        if name == "time":
            return t_ms / 1000
        if name == "scalar":
            vector = self.vector(arguments[0], t_ms)
            return vector[0].value if len(vector) == 1 else float("nan")
        if name == "absent_over_time":
            return (
                []
                if self.windows(arguments[0], t_ms)
                else [Sample(instants.labels_of_absent(arguments[0]), 1.0)]
            )
        if name == "absent":
            return (
                []
                if self.vector(arguments[0], t_ms)
                else [Sample(instants.labels_of_absent(arguments[0]), 1.0)]
            )
        if name == "timestamp":
            return self._unique(self._timestamps(node, t_ms))
        if "matrix" in node.function.arguments:
            return self._over_windows(node, t_ms)
        if name == "histogram_quantile":
            quantile, buckets = self.scalar(arguments[0], t_ms), self.vector(arguments[1], t_ms)
            return self._unique(histogram_quantile(quantile, buckets, self._prepare(node)))
        values: list[Value] = [self.value(argument, t_ms) for argument in arguments]
        return self._unique(instants.call(name, values, t_ms, self._note(node)))

    def _over_windows(self, node: Call, t_ms: int) -> Vector:
        name = node.function.name
        position = node.function.arguments.index("matrix")
        parameters = [self.scalar(arg, t_ms) for index, arg in enumerate(node.arguments) if index != position]
        function = windows.FUNCTIONS[name]
        labels, values = [], []
        for window in self.windows(node.arguments[position], t_ms):
            value = function(window, t_ms, *parameters)
            if value is not None:
                labels.append(window.labels)
                values.append(value)
        if name != "last_over_time":
            labels = self._prepare(node).get(labels, partial(self._drop_names, node))
        return make_vector(labels, values)

    def _drop_names(self, node: Call, vector: list[Labels]) -> list[Labels]:
        """Return labels without the metrics' names."""
        note = self._note(node)
        known = len(note)
        for labels in vector:
            if labels not in note:
                note[labels] = without_name(labels)
        # Two metrics that become one are an error even when they never have a value at the same step.
        if len(note) > known and len(set(note.values())) < len(note):
            raise QueryError("vector cannot contain metrics with the same labelset")
        return [note[labels] for labels in vector]

    def _timestamps(self, node: Call, t_ms: int) -> Vector:
        argument = node.arguments[0]
        while isinstance(argument, Paren):
            argument = argument.inner
        if isinstance(argument, Selector):
            return [
                Sample(without_name(s.labels), time / 1000) for s, time, _ in self._present(argument, t_ms)
            ]
        return [Sample(without_name(labels), t_ms / 1000) for labels, _ in self.vector(argument, t_ms)]

    def _negate(self, node: Unary, t_ms: int) -> Value:
        value = self.value(node.inner, t_ms)
        if node.sign == "+" or isinstance(value, str):
            return value
        if isinstance(value, list):
            return self._unique([Sample(without_name(labels), -number) for labels, number in value])
        return -value

    def _binary(self, node: Binary, t_ms: int) -> Value:
        left = self.value(node.left, t_ms)
        if left == [] and node.operator in ("and", "unless"):
            return left
        right = self.value(node.right, t_ms)
        assert not isinstance(left, str) and not isinstance(right, str)
        if isinstance(left, list):
            if isinstance(right, list):
                if node.operator in SET_OPERATORS:
                    return self._unique(combine_sets(node, left, right))
                return self._unique(combine(node, left, right))
            return self._unique(with_scalar(node, left, right, scalar_left=False))
        if isinstance(right, list):
            return self._unique(with_scalar(node, right, left, scalar_left=True))
        if node.operator in COMPARISONS:
            return 1.0 if compare(node.operator, left, right) else 0.0
        return compute(node.operator, left, right)

    def _present(self, node: Selector, t_ms: int) -> list[tuple[Series, int, float]]:
        """Return the series of a selector that have a value, with that value and its time."""
        reference_ms = self._reference(node, t_ms)
        lookback_ms = self._engine.lookback_ms
        found = []
        selected = self._select(node)
        self._spend(len(selected))
        rows: dict[Timeline, int] = {}
        for series in selected:
            timeline = series.timeline
            if timeline not in rows:
                rows[timeline] = timeline.find_latest(reference_ms, lookback_ms)
            row = rows[timeline]
            value = series.value_in(row) if row >= 0 else None
            if value is not None:
                found.append((series, timeline.base_ms + timeline.times[row], value))
        return found

    def _select(self, node: Selector) -> tuple[Series, ...]:
        series = self._selected.get(node)
        if series is None:
            series = self._selected[node] = self._engine.store.select(node.matchers)
        return series

    def _reference(self, node: Timed, t_ms: int) -> int:
        """Return the time that a selector looks at, with what ``@`` and ``offset`` say."""
        if node.at == "start":
            t_ms = self._start_ms
        elif node.at == "end":
            t_ms = self._end_ms
        elif node.at is not None:
            t_ms = node.at
        return t_ms - node.offset_ms

    def _note(self, node: Node) -> Note:
        """Return the cache of label groupings of a node."""
        return self._notes.setdefault(node, {})

    def _prepare(self, node: Node) -> Prepared[Any]:
        """Return what is kept of a node from evaluation to evaluation."""
        return self._prepared.setdefault(node, Prepared())

    def _spend(self, samples: int) -> None:
        self._left -= samples
        if self._left < 0:
            raise TooManySamples

    @staticmethod
    def _unique(vector: Value) -> Value:
        if (
            isinstance(vector, list)
            and len(vector) > 1
            and len({sample.labels for sample in vector}) < len(vector)
        ):
            raise QueryError("vector cannot contain metrics with the same labelset")
        return vector
