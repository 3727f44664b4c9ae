"""Evaluates LogQL on a store of log lines.

Lines are read lazily, in the order of time, until enough are found. For metric queries the lines of each range are
read once per query into columns; every step then uses a window of them. Work is limited by counts of lines and values,
so that a query that is too large always fails at the same point.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from heapq import merge
from typing import Final, NamedTuple

from msgspec import Struct, field

from simcloud.golang import parse_duration_ns
from simcloud.machine import Labels
from simcloud.telemetry.logs.logql.errors import PipelineFailed, TooLong, TooMany
from simcloud.telemetry.logs.logql.filters import parse_float
from simcloud.telemetry.logs.logql.line import DETAILS, ERROR, Line
from simcloud.telemetry.logs.logql.nodes import LogSelector, RangeCall, Replace, Sorted, Unwrap, VectorOf
from simcloud.telemetry.logs.logql.units import parse_bytes
from simcloud.telemetry.logs.store import SECOND_NS, LogStore, LogStream
from simcloud.telemetry.promql.aggregates import Groups, aggregate
from simcloud.telemetry.promql.arithmetic import compare, compute
from simcloud.telemetry.promql.binary import combine, combine_sets, with_scalar
from simcloud.telemetry.promql.checks import COMPARISONS, SET_OPERATORS
from simcloud.telemetry.promql.nodes import Aggregate, Binary, Node, Number, Paren
from simcloud.telemetry.promql.relabel import label_replace
from simcloud.telemetry.promql.values import Prepared, Result, Sample, SeriesPoints, Vector, Window
from simcloud.telemetry.promql.windows import FUNCTIONS

MOST_SERIES: Final = 500
MOST_WORK: Final = 1_000_000_000
MOST_VALUES: Final = 5_000_000
_LINE_WORK: Final = 64
"""What a line costs before its first character."""
_MS_NS: Final = 1_000_000


class FoundLine(NamedTuple):
    """A line that a query found, after its stages."""

    time_ns: int
    labels: Labels
    text: str


class Effort(Struct):
    """The work of a query."""

    lines: int = 0
    bytes: int = 0
    values: int = 0
    work: int = 0

    def read(self, text: str, stages: int) -> None:
        """Count one more line and the stages it goes through."""
        self.lines += 1
        self.bytes += len(text)
        self.work += (len(text) + _LINE_WORK) * (stages + 1)
        if self.work > MOST_WORK:
            raise TooLong

    def look(self, values: int) -> None:
        """Count more values."""
        self.values += values
        if self.values > MOST_VALUES:
            raise TooLong


class _Column(Struct):
    """The values of a series in the order of time; ``sums`` are the prefix sums."""

    times_ns: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    sums: list[float] = field(default_factory=lambda: [0.0])


def find_lines(
    store: LogStore, query: LogSelector, start_ns: int, end_ns: int, effort: Effort, *, newest_first: bool
) -> Iterator[FoundLine]:
    """Yield the lines from one time on and before another, in the order of time."""
    streams = [
        _through(query, stream, stream.between(start_ns, end_ns), effort, newest_first)
        for stream in store.select(query.matchers)
    ]
    for line in merge(*streams, key=lambda line: line.order, reverse=newest_first):
        yield FoundLine(line.time_ns, line.result(), line.text)


def _through(
    query: LogSelector, stream: LogStream, places: range, effort: Effort, newest_first: bool = False
) -> Iterator[Line]:
    """Yield a stream's lines that get through all stages."""
    base, stages = dict(stream.labels), query.stages
    for index in reversed(places) if newest_first else places:
        text = stream.texts[index]
        effort.read(text, len(stages))
        line = Line(stream.times_ns[index], stream.numbers[index], text, stream.labels, base)
        for stage in stages:
            if not stage(line):
                break
        else:
            yield line


class Evaluation:
    """The evaluation of a metric query over a range of times."""

    def __init__(self, store: LogStore, start_ns: int, end_ns: int, effort: Effort) -> None:
        self._store = store
        self._start_ns = start_ns
        self._end_ns = end_ns
        self._effort = effort
        self._columns: dict[RangeCall, dict[Labels, _Column]] = {}
        self._prepared: dict[Node, Prepared[Groups]] = {}

    def instant(self, node: Node) -> Result:
        """The answer at the end."""
        value = self._value(node, self._end_ns)
        if isinstance(value, float):
            return Result("scalar", self._end_ns // _MS_NS, scalar=value)
        if not isinstance(node, Sorted) and not (
            isinstance(node, Aggregate) and node.operator in ("topk", "bottomk")
        ):
            value = sorted(value)
        _check_series(len(value))
        return Result("vector", self._end_ns // _MS_NS, vector=tuple(value))

    def range(self, node: Node, step_ns: int) -> Result:
        """Return the answers at every step."""
        series: dict[Labels, list[tuple[int, float]]] = {}
        for t_ns in range(self._start_ns, self._end_ns + 1, step_ns):
            value = self._value(node, t_ns)
            for labels, number in [Sample((), value)] if isinstance(value, float) else value:
                series.setdefault(labels, []).append((t_ns // _MS_NS, number))
            _check_series(len(series))
        matrix = tuple(SeriesPoints(labels, series[labels]) for labels in sorted(series))
        return Result("matrix", self._end_ns // _MS_NS, matrix=matrix)

    def _value(self, node: Node, t_ns: int) -> float | Vector:
        match node:
            case Number():
                return node.value
            case Paren():
                return self._value(node.inner, t_ns)
            case VectorOf():
                return [Sample((), node.value)]
            case RangeCall():
                return self._range_call(node, t_ns)
            case Aggregate():
                count = node.parameter.value if isinstance(node.parameter, Number) else None
                prepared = self._prepared.setdefault(node, Prepared())
                return aggregate(node, self._vector(node.inner, t_ns), count, prepared)
            case Replace():
                vector = self._vector(node.inner, t_ns)
                return label_replace(vector, node.target, node.replacement, node.source, node.pattern)
            case Sorted():
                vector = self._vector(node.inner, t_ns)
                return sorted(vector, key=lambda sample: sample.value, reverse=node.descending)
            case Binary():
                return self._binary(node, t_ns)
        raise TypeError(f"{type(node).__name__} has no value")

    def _vector(self, node: Node, t_ns: int) -> Vector:
        value = self._value(node, t_ns)
        return [Sample((), value)] if isinstance(value, float) else value

    def _binary(self, node: Binary, t_ns: int) -> float | Vector:
        left, right = self._value(node.left, t_ns), self._value(node.right, t_ns)
        if isinstance(left, list):
            if not isinstance(right, list):
                return with_scalar(node, left, right, scalar_left=False)
            if node.operator in SET_OPERATORS:
                return combine_sets(node, left, right)
            return combine(node, left, right)
        if isinstance(right, list):
            return with_scalar(node, right, left, scalar_left=True)
        if node.operator in COMPARISONS:
            return 1.0 if compare(node.operator, left, right) else 0.0
        return compute(node.operator, left, right)

    def _range_call(self, node: RangeCall, t_ns: int) -> Vector:
        columns = self._columns.get(node)
        if columns is None:
            columns = self._columns[node] = self._read(node)
        end_ns = t_ns - node.offset_ns
        start_ns = end_ns - node.range_ns
        out: Vector = []
        self._effort.look(len(columns))
        for labels, column in columns.items():
            first, last = bisect_right(column.times_ns, start_ns), bisect_right(column.times_ns, end_ns)
            if first < last:
                out.append(Sample(labels, self._window(node, column, first, last, start_ns, end_ns)))
        if node.function == "absent_over_time":
            equal = {
                matcher.name: matcher.value for matcher in node.lines.matchers if matcher.operator == "="
            }
            return [] if out else [Sample(tuple(sorted(equal.items())), 1.0)]
        return out

    def _window(
        self, node: RangeCall, column: _Column, first: int, last: int, start_ns: int, end_ns: int
    ) -> float:
        function = node.function
        if function in ("count_over_time", "absent_over_time"):
            return float(last - first)
        if function in ("bytes_over_time", "bytes_rate", "rate"):
            total = column.sums[last] - column.sums[first]
            return total if function == "bytes_over_time" else total * SECOND_NS / node.range_ns
        values = column.values[first:last]
        self._effort.look(len(values))
        if function == "first_over_time":
            return values[0]
        times = [time // _MS_NS for time in column.times_ns[first:last]]
        window = Window((), times, values, 0, start_ns // _MS_NS, end_ns // _MS_NS)
        if function == "quantile_over_time":
            value = FUNCTIONS[function](window, end_ns // _MS_NS, node.parameter)
        else:
            name = "rate" if function == "rate_counter" else function
            value = FUNCTIONS[name](window, end_ns // _MS_NS)
        return 0.0 if value is None else value

    def _read(self, node: RangeCall) -> dict[Labels, _Column]:
        """Return all values that the windows of this query will look at."""
        first_ns = self._start_ns - node.offset_ns - node.range_ns + 1
        end_ns = self._end_ns - node.offset_ns + 1
        columns: dict[Labels, _Column] = {}
        streams = [
            _through(node.lines, stream, stream.between(first_ns, end_ns), self._effort)
            for stream in self._store.select(node.lines.matchers)
        ]
        for line in merge(*streams, key=lambda line: line.order):
            value = self._number(node, line)
            if value is None:
                continue
            labels = _group_labels(node, line)
            column = columns.get(labels)
            if column is None:
                column = columns[labels] = _Column()
            column.times_ns.append(line.time_ns)
            column.values.append(value)
            column.sums.append(column.sums[-1] + value)
        return columns

    def _number(self, node: RangeCall, line: Line) -> float | None:
        """Return the number that a line counts for, or None."""
        value = 1.0
        if node.unwrap is not None:
            found = unwrap_number(node.unwrap, line)
            if found is None:
                return None
            value = found
        elif node.function.startswith("bytes"):
            value = float(len(line.text.encode()))
        error = line.labels.get(ERROR)
        if error is not None:
            raise PipelineFailed(error, tuple(pair for pair in line.result() if pair[0] != DETAILS))
        return value


def unwrap_number(unwrap: Unwrap, line: Line) -> float | None:
    """Take the number out of a label and remove the label; return None if there is none."""
    text = line.labels.get(unwrap.label)
    if text is None:
        return None
    try:
        if unwrap.conversion == "bytes":
            value = float(parse_bytes(text))
        elif unwrap.conversion:
            value = parse_duration_ns(text) / SECOND_NS
        else:
            value = parse_float(text)
        line.set(unwrap.label, "")
    except ValueError as fault:
        value = 0.0
        line.fail("SampleExtractionErr", str(fault))
    return value if all(stage(line) for stage in unwrap.stages) else None


def _group_labels(node: RangeCall, line: Line) -> Labels:
    names = node.labels
    if names is None:
        return line.result()
    if node.without:
        return tuple(pair for pair in line.result() if pair[0] not in names)
    labels = line.labels
    return tuple((name, labels[name]) for name in sorted(names) if name in labels)


def _check_series(count: int) -> None:
    if count > MOST_SERIES:
        raise TooMany(
            f"maximum number of series ({MOST_SERIES}) reached for a single query; consider reducing query "
            "cardinality by adding more specific stream selectors, reducing the time range, or aggregating results "
            "with functions like sum(), count() or topk()"
        )
