"""The results of queries. Times are milliseconds since 1970."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

from simcloud.telemetry.metrics import Labels


class Sample(NamedTuple):
    """One series' value at the time of evaluation."""

    labels: Labels
    value: float


Vector = list[Sample]
Point = tuple[int, float]


class SeriesPoints(NamedTuple):
    """One series over time."""

    labels: Labels
    points: list[Point]


class Window(NamedTuple):
    """A series' points in a range, for the functions that look back over one."""

    labels: Labels
    times: Sequence[int]
    """In milliseconds after ``base_ms``."""
    values: list[float]
    base_ms: int
    start_ms: int
    end_ms: int

    @property
    def points(self) -> list[Point]:
        """Times and values in pairs."""
        return [(self.base_ms + time, value) for time, value in zip(self.times, self.values, strict=True)]


class Result(Struct, frozen=True):
    """A result: the samples of a vector, the series of a matrix, or the value of a scalar or string."""

    type: Literal["vector", "matrix", "scalar", "string"]
    t_ms: int
    vector: tuple[Sample, ...] = ()
    matrix: tuple[SeriesPoints, ...] = ()
    scalar: float = 0.0
    text: str = ""


def without_name(labels: Labels) -> Labels:
    """Labels of something that is no longer that metric."""
    return tuple(pair for pair in labels if pair[0] != "__name__")
