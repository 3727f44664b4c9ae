"""Binary operators on vectors: matching of samples, and labels of the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from simcloud.golang import quote
from simcloud.telemetry.metrics import Labels
from simcloud.telemetry.promql.arithmetic import compare, compute
from simcloud.telemetry.promql.checks import COMPARISONS
from simcloud.telemetry.promql.errors import QueryError
from simcloud.telemetry.promql.nodes import Binary, Matching
from simcloud.telemetry.promql.values import Sample, Vector, without_name

RENAMING: Final = frozenset({"+", "-", "*", "/", "%", "^"})
"""Operators whose result is no longer that metric. Prometheus 2.42 forgot ``atan2`` here."""


def with_scalar(node: Binary, vector: Vector, scalar: float, *, scalar_left: bool) -> Vector:
    """Apply an operator to each sample and a number."""
    operator, out = node.operator, []
    compares = operator in COMPARISONS
    for labels, value in vector:
        left, right = (scalar, value) if scalar_left else (value, scalar)
        if not compares:
            kept = without_name(labels) if operator in RENAMING else labels
            out.append(Sample(kept, compute(operator, left, right)))
        elif node.returns_bool:
            out.append(Sample(without_name(labels), 1.0 if compare(operator, left, right) else 0.0))
        elif compare(operator, left, right):
            out.append(Sample(labels, value))
    return out


def combine_sets(node: Binary, left: Vector, right: Vector) -> Vector:
    """``and``, ``or`` and ``unless``."""
    signature = _signature(node.matching)
    if node.operator == "or":
        known = {signature(sample.labels) for sample in left}
        return left + [sample for sample in right if signature(sample.labels) not in known]
    known = {signature(sample.labels) for sample in right}
    wanted = node.operator == "and"
    return [sample for sample in left if (signature(sample.labels) in known) is wanted]


def combine(node: Binary, left: Vector, right: Vector) -> Vector:
    """Apply an arithmetic operator or a comparison to the matching samples of two vectors."""
    if not left or not right:
        return []
    matching = node.matching
    signature = _signature(matching)
    swapped = matching.cardinality == "one-to-many"
    many, one = (right, left) if swapped else (left, right)
    partners: dict[Labels, Sample] = {}
    for sample in one:
        key = signature(sample.labels)
        if key in partners:
            raise _duplicates(matching, key, sample, partners[key])
        partners[key] = sample
    taken: set[object] = set()
    out: Vector = []
    for sample in many:
        key = signature(sample.labels)
        partner = partners.get(key)
        if partner is None:
            continue
        value = _result(node, *((partner.value, sample.value) if swapped else (sample.value, partner.value)))
        if value is None:
            continue
        labels = _result_labels(node, sample.labels, partner.labels)
        if matching.cardinality == "one-to-one":
            if key in taken:
                how = "many-to-one matching must be explicit (group_left/group_right)"
                raise QueryError(f"multiple matches for labels: {how}")
            taken.add(key)
        elif (key, labels) in taken:
            raise QueryError("multiple matches for labels: grouping labels must ensure unique matches")
        else:
            taken.add((key, labels))
        out.append(Sample(labels, value))
    return out


def _result(node: Binary, left: float, right: float) -> float | None:
    if node.operator not in COMPARISONS:
        return compute(node.operator, left, right)
    holds = compare(node.operator, left, right)
    if node.returns_bool:
        return 1.0 if holds else 0.0
    return left if holds else None


def _result_labels(node: Binary, labels: Labels, partner: Labels) -> Labels:
    matching = node.matching
    if node.operator in RENAMING or node.returns_bool:
        labels = without_name(labels)
    if matching.cardinality == "one-to-one":
        if matching.on:
            labels = tuple(pair for pair in labels if pair[0] in matching.labels)
        elif matching.labels:
            labels = tuple(pair for pair in labels if pair[0] not in matching.labels)
    if matching.include:
        kept = {name: value for name, value in labels if name not in matching.include}
        kept.update(pair for pair in partner if pair[0] in matching.include)
        labels = tuple(sorted(kept.items()))
    return labels


def _signature(matching: Matching) -> Callable[[Labels], Labels]:
    """Return a function that gives samples which belong together the same key."""
    names = frozenset(matching.labels)
    if matching.on:
        return lambda labels: tuple([pair for pair in labels if pair[0] in names])
    left_out = names | {"__name__"}
    return lambda labels: tuple([pair for pair in labels if pair[0] not in left_out])


def _duplicates(matching: Matching, key: Labels, sample: Sample, other: Sample) -> QueryError:
    side = "left" if matching.cardinality == "one-to-many" else "right"
    return QueryError(
        f"found duplicate series for the match group {format_labels(key)} on the {side} hand-side of the operation: "
        f"[{format_labels(sample.labels)}, {format_labels(other.labels)}]"
        ";many-to-many matching not allowed: matching labels must be unique on one side"
    )


def format_labels(labels: Labels) -> str:
    """Format labels for an error message."""
    return "{" + ", ".join(f"{name}={quote(value)}" for name, value in labels) + "}"
