"""Formatting of a parsed query, as Prometheus shows it."""

from __future__ import annotations

from simcloud.golang import float_text, quote
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
from simcloud.telemetry.promql.numbers import format_duration


def format_query(node: Node) -> str:
    """Format a node as a query."""
    match node:
        case Number():
            return float_text(node.value)
        case Text():
            return quote(node.value)
        case Paren():
            return f"({format_query(node.inner)})"
        case Unary():
            return node.sign + format_query(node.inner)
        case Selector():
            return _selector(node) + _when(node)
        case Matrix():
            return f"{_selector(node.selector)}[{format_duration(node.range_ms)}]{_when(node.selector)}"
        case Subquery():
            step = format_duration(node.step_ms) if node.step_ms else ""
            return f"{format_query(node.inner)}[{format_duration(node.range_ms)}:{step}]{_when(node)}"
        case Call():
            return f"{node.function.name}({', '.join(format_query(argument) for argument in node.arguments)})"
        case Aggregate():
            return _aggregate(node)
        case Binary():
            return f"{format_query(node.left)} {node.operator}{_matching(node)} {format_query(node.right)}"
    raise TypeError(f"{type(node).__name__} is no part of a query")


def _selector(node: Selector) -> str:
    shown = sorted(str(m) for m in node.matchers if not (node.name and m.name == "__name__"))
    return f"{node.name}{{{','.join(shown)}}}" if shown or not node.name else node.name


def _when(node: Timed) -> str:
    at = ""
    if isinstance(node.at, int):
        at = f" @ {node.at / 1000:.3f}"
    elif node.at is not None:
        at = f" @ {node.at}()"
    if not node.offset_ms:
        return at
    sign = "-" if node.offset_ms < 0 else ""
    return f"{at} offset {sign}{format_duration(abs(node.offset_ms))}"


def _aggregate(node: Aggregate) -> str:
    grouping = ""
    if node.without or node.labels:
        grouping = f" {'without' if node.without else 'by'} ({', '.join(node.labels)}) "
    parameter = "" if node.parameter is None else f"{format_query(node.parameter)}, "
    return f"{node.operator}{grouping}({parameter}{format_query(node.inner)})"


def _matching(node: Binary) -> str:
    shown = " bool" if node.returns_bool else ""
    matching = node.matching
    between_vectors = type_of(node.left) == type_of(node.right) == "vector"
    if between_vectors and (matching.labels or matching.on):
        shown += f" {'on' if matching.on else 'ignoring'} ({', '.join(matching.labels)})"
        if matching.cardinality in ("many-to-one", "one-to-many"):
            side = "left" if matching.cardinality == "many-to-one" else "right"
            shown += f" group_{side} ({', '.join(matching.include)})"
    return shown
