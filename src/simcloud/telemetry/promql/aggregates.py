"""Aggregation operators."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Final

from simcloud.golang import float_text, quote
from simcloud.telemetry.metrics import Labels
from simcloud.telemetry.promql.arithmetic import quantile
from simcloud.telemetry.promql.errors import QueryError
from simcloud.telemetry.promql.nodes import Aggregate
from simcloud.telemetry.promql.numbers import plain
from simcloud.telemetry.promql.relabel import LABEL_NAME
from simcloud.telemetry.promql.values import Prepared, Sample, Vector, list_labels, list_values

Groups = list[tuple[Labels, list[int]]]
"""The labels of each group, and the places of its samples in the vector."""


def aggregate(
    node: Aggregate, vector: Vector, parameter: float | str | None, prepared: Prepared[Groups]
) -> Vector:
    """Return the samples of a vector, aggregated. ``prepared`` keeps which of them belong together."""
    if node.operator == "count_values":
        assert isinstance(parameter, str)
        return _count_values(node, vector, parameter)
    groups = prepared.get(list_labels(vector), partial(_find_groups, node))
    if node.operator in ("topk", "bottomk"):
        assert isinstance(parameter, float)
        return _extremes(node, vector, parameter, groups)
    if node.operator == "quantile":
        assert isinstance(parameter, float)
        reduce: Callable[[list[float]], float] = partial(quantile, parameter)
    else:
        reduce = _REDUCE[node.operator]
    values = list_values(vector)
    return [Sample(key, reduce([values[place] for place in places])) for key, places in groups]


def _find_groups(node: Aggregate, vector: list[Labels]) -> Groups:
    groups: dict[Labels, list[int]] = {}
    for place, labels in enumerate(vector):
        if node.without:
            key = tuple(pair for pair in labels if pair[0] not in node.labels and pair[0] != "__name__")
        else:
            key = tuple(pair for pair in labels if pair[0] in node.labels)
        groups.setdefault(key, []).append(place)
    return list(groups.items())


def _extremes(node: Aggregate, vector: Vector, parameter: float, groups: Groups) -> Vector:
    if not abs(parameter) < 2**63:
        raise QueryError(f"Scalar value {float_text(parameter)} overflows int64")
    count = int(parameter)
    if count < 1:
        return []
    sign = -1.0 if node.operator == "topk" else 1.0
    out: Vector = []
    for _, places in groups:
        group = [vector[place] for place in places]
        # NaN is neither large nor small: it is kept only where nothing else is left.
        group.sort(key=lambda sample: (sample.value != sample.value, sign * sample.value))
        out.extend(group[:count])
    return out


def _count_values(node: Aggregate, vector: Vector, label: str) -> Vector:
    if not LABEL_NAME.fullmatch(label):
        raise QueryError(f"invalid label name {quote(label)}")
    counts: dict[Labels, float] = {}
    for labels, value in vector:
        pairs = {name: text for name, text in labels if name != label}
        if node.without:
            kept = {
                name: text for name, text in pairs.items() if name not in node.labels and name != "__name__"
            }
        else:
            kept = {name: text for name, text in pairs.items() if name in node.labels}
        kept[label] = plain(value)
        key = tuple(sorted(kept.items()))
        counts[key] = counts.get(key, 0.0) + 1.0
    return [Sample(key, count) for key, count in counts.items()]


def _total(values: list[float]) -> float:
    # Not sum(): it rounds otherwise from one Python to the next.
    total = values[0]
    for value in values[1:]:
        total += value
    return total


def _mean(values: list[float]) -> float:
    """Return an average that does not overflow on the way."""
    mean, count = values[0], 1
    for value in values[1:]:
        count += 1
        if math.isinf(mean):
            if math.isinf(value) and (mean > 0) == (value > 0):
                continue
            if math.isfinite(value):
                continue
        mean += value / count - mean / count
    return mean


def _variance(values: list[float]) -> float:
    mean, spread = values[0], 0.0
    for count, value in enumerate(values[1:], 2):
        delta = value - mean
        mean += delta / count
        spread += delta * (value - mean)
    return spread / len(values)


def _least(values: list[float]) -> float:
    least = values[0]
    for value in values:
        if value < least or least != least:
            least = value
    return least


def _greatest(values: list[float]) -> float:
    greatest = values[0]
    for value in values:
        if value > greatest or greatest != greatest:
            greatest = value
    return greatest


_REDUCE: Final[dict[str, Callable[[list[float]], float]]] = {
    "sum": _total,
    "avg": _mean,
    "count": lambda values: float(len(values)),
    "min": _least,
    "max": _greatest,
    "group": lambda values: 1.0,
    "stdvar": _variance,
    "stddev": lambda values: math.sqrt(_variance(values)),
}
