"""Functions of an instant vector and of scalars."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from simcloud.telemetry.metrics import Labels
from simcloud.telemetry.promql.arithmetic import INF, NAN, lenient, logarithm
from simcloud.telemetry.promql.nodes import Matrix, Node, Paren, Selector
from simcloud.telemetry.promql.relabel import label_join, label_replace
from simcloud.telemetry.promql.values import Sample, Vector, without_name

Note = dict[Labels, Labels]


def call(name: str, values: Sequence[Any], t_ms: int, note: Note) -> Vector:
    """Return the result of a function, by its name and its evaluated arguments."""
    each = EACH.get(name)
    if each is not None:
        return [Sample(_nameless(labels, note), each(value)) for labels, value in values[0]]
    part = CALENDAR.get(name)
    if part is not None:
        vector = values[0] if values else [Sample((), t_ms / 1000)]
        return [Sample(_nameless(labels, note), part(value)) for labels, value in vector]
    return WHOLE[name](*values)


def labels_of_absent(node: Node) -> Labels:
    """Return the labels of an absent series: the equality matchers of the selector that occur once."""
    while isinstance(node, Paren):
        node = node.inner
    if isinstance(node, Matrix):
        node = node.selector
    if not isinstance(node, Selector):
        return ()
    found: dict[str, str] = {}
    ambiguous = []
    for matcher in node.matchers:
        if matcher.name == "__name__":
            continue
        if matcher.operator == "=" and matcher.name not in found:
            found[matcher.name] = matcher.value
        else:
            ambiguous.append(matcher.name)
    for name in ambiguous:
        found.pop(name, None)
    return tuple(sorted((name, value) for name, value in found.items() if value))


def _nameless(labels: Labels, note: Note) -> Labels:
    known = note.get(labels)
    if known is None:
        known = note[labels] = without_name(labels)
    return known


def _floor(value: float) -> float:
    return float(math.floor(value)) if math.isfinite(value) and abs(value) < 2**53 else value


def _ceil(value: float) -> float:
    return (
        math.copysign(float(math.ceil(value)), value)
        if math.isfinite(value) and abs(value) < 2**53
        else value
    )


EACH: Final[dict[str, Callable[[float], float]]] = {
    "abs": abs,
    "ceil": _ceil,
    "floor": _floor,
    "exp": lenient(math.exp),
    "sqrt": lenient(math.sqrt),
    "ln": logarithm(math.log),
    "log2": logarithm(math.log2),
    "log10": logarithm(math.log10),
}


def _clamp(vector: Vector, low: float, high: float) -> Vector:
    if high < low:
        return []
    return [Sample(without_name(labels), _max(low, _min(high, value))) for labels, value in vector]


def _clamp_min(vector: Vector, low: float) -> Vector:
    return [Sample(without_name(labels), _max(low, value)) for labels, value in vector]


def _clamp_max(vector: Vector, high: float) -> Vector:
    return [Sample(without_name(labels), _min(high, value)) for labels, value in vector]


def _min(a: float, b: float) -> float:
    if -INF in (a, b):
        return -INF
    return NAN if a != a or b != b else min(a, b)


def _max(a: float, b: float) -> float:
    if INF in (a, b):
        return INF
    return NAN if a != a or b != b else max(a, b)


def _round(vector: Vector, nearest: float = 1.0) -> Vector:
    # Multiplied with the inverse, because 5 * (1 / 0.1) rounds better than 5 / 0.1.
    inverse = 1.0 / nearest if nearest else INF
    return [Sample(without_name(labels), _floor(value * inverse + 0.5) / inverse) for labels, value in vector]


def _sort(vector: Vector) -> Vector:
    return sorted(vector, key=lambda sample: (sample.value != sample.value, sample.value))


def _sort_desc(vector: Vector) -> Vector:
    return sorted(vector, key=lambda sample: (sample.value != sample.value, -sample.value))


WHOLE: Final[dict[str, Callable[..., Vector]]] = {
    "clamp": _clamp,
    "clamp_min": _clamp_min,
    "clamp_max": _clamp_max,
    "round": _round,
    "sort": _sort,
    "sort_desc": _sort_desc,
    "vector": lambda value: [Sample((), value)],
    "label_replace": label_replace,
    "label_join": label_join,
}


def _whole(seconds: float) -> int:
    return int(seconds) if math.isfinite(seconds) else -(2**63)


CALENDAR: Final[dict[str, Callable[[float], float]]] = {
    "minute": lambda seconds: float(_whole(seconds) // 60 % 60),
    "hour": lambda seconds: float(_whole(seconds) // 3600 % 24),
    "day_of_week": lambda seconds: float((_whole(seconds) // 86_400 + 4) % 7),
}
