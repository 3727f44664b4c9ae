"""The results of queries. Times are milliseconds since 1970."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final, Generic, Literal, NamedTuple, TypeVar

from msgspec import Struct

from simcloud.telemetry.metrics import Labels


class Sample(NamedTuple):
    """One series' value at the time of evaluation."""

    labels: Labels
    value: float


Vector = list[Sample]
# Rules make thousands of samples: the way past their Python constructor.
_sample: Final[Callable[[tuple[Labels, float]], Sample]] = partial(tuple.__new__, Sample)
T = TypeVar("T")
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


def make_vector(labels: Iterable[Labels], values: Iterable[float]) -> Vector:
    """Return samples with these labels and values."""
    return list(map(_sample, zip(labels, values, strict=True)))


def list_labels(vector: Vector) -> list[Labels]:
    """Return the labels of all samples."""
    return [sample[0] for sample in vector]


def list_values(vector: Vector) -> list[float]:
    """Return the values of all samples."""
    return [sample[1] for sample in vector]


class Prepared(Generic[T]):
    """What follows from the labels of a node's input alone, kept from evaluation to evaluation until they are others.

    As a rule the labels are the same objects as before, so that comparing them is much cheaper than hashing them.
    """

    __slots__ = ("_labels", "_result")

    def __init__(self) -> None:
        self._labels: list[Labels] | None = None

    def get(self, labels: list[Labels], prepare: Callable[[list[Labels]], T]) -> T:
        """Return what ``prepare`` returns for these labels."""
        if labels != self._labels:
            self._result = prepare(labels)
            self._labels = labels
        return self._result
