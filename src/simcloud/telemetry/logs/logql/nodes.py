"""The parts of a LogQL query that was read.

What is counted from lines is a tree of PromQL's own parts (numbers, aggregations, operators), whose leaves
are ``RangeCall``: the same functions then combine both.
"""

from __future__ import annotations

from dataclasses import dataclass

from simcloud.telemetry.logs.logql.line import Stage
from simcloud.telemetry.metrics import Matcher
from simcloud.telemetry.promql.nodes import Node


@dataclass(frozen=True, slots=True)
class LogSelector:
    """Lines: of which streams, and what is done with them."""

    matchers: tuple[Matcher, ...]
    stages: tuple[Stage, ...] = ()


@dataclass(frozen=True, slots=True)
class Unwrap:
    """Which label is the number of a line, and how it is written there."""

    label: str
    conversion: str = ""
    stages: tuple[Stage, ...] = ()
    """What is done with the line after that."""


@dataclass(eq=False, slots=True)
class RangeCall(Node):
    """A function of the lines in a range before each time."""

    function: str
    lines: LogSelector
    range_ns: int
    offset_ns: int = 0
    unwrap: Unwrap | None = None
    parameter: float | None = None
    labels: tuple[str, ...] | None = None
    without: bool = False


@dataclass(eq=False, slots=True)
class Replace(Node):
    """``label_replace``."""

    inner: Node
    target: str
    replacement: str
    source: str
    pattern: str


@dataclass(eq=False, slots=True)
class VectorOf(Node):
    """``vector(1)``: a number as a vector without labels."""

    value: float


@dataclass(eq=False, slots=True)
class Sorted(Node):
    """``sort`` and ``sort_desc``."""

    inner: Node
    descending: bool
