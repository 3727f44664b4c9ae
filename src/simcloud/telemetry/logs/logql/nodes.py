"""The syntax tree of LogQL.

A metric query is a tree of PromQL's nodes (numbers, aggregations, operators) with ``RangeCall`` as leaves, so that the
functions of PromQL apply.
"""

from __future__ import annotations

from msgspec import Struct

from simcloud.telemetry.logs.logql.line import Stage
from simcloud.telemetry.metrics import Matcher
from simcloud.telemetry.promql.nodes import Node


class LogSelector(Struct, frozen=True):
    """A log query: a selector of streams and the stages of a pipeline."""

    matchers: tuple[Matcher, ...]
    stages: tuple[Stage, ...] = ()


class Unwrap(Struct, frozen=True):
    """The label that holds the number of a line, and its conversion."""

    label: str
    conversion: str = ""
    stages: tuple[Stage, ...] = ()
    """What is done with the line after that."""


class RangeCall(Node, eq=False):
    """A function of the lines in a range before each time."""

    function: str
    lines: LogSelector
    range_ns: int
    offset_ns: int = 0
    unwrap: Unwrap | None = None
    parameter: float | None = None
    labels: tuple[str, ...] | None = None
    without: bool = False


class Replace(Node, eq=False):
    """``label_replace``."""

    inner: Node
    target: str
    replacement: str
    source: str
    pattern: str


class VectorOf(Node, eq=False):
    """``vector(1)``: a number as a vector without labels."""

    value: float


class Sorted(Node, eq=False):
    """``sort`` and ``sort_desc``."""

    inner: Node
    descending: bool
