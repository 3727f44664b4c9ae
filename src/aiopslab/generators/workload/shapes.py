"""Shapes of load: the rate of requests over time.

A shape gives the rate at a time and its peak rate, which bounds the arrivals that are drawn for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi, sin
from typing import Final, Protocol

from msgspec import Struct

RATE: Final = 10.0
"""Default rate of users' requests per second."""
DAY_S = 86_400.0
MIN_SHARE = 0.001


class Shape(Protocol):
    """A rate over time."""

    def rate(self, t: float) -> float:
        """Return the requests per second at ``t`` seconds after the start."""

    @property
    def peak(self) -> float:
        """The highest rate."""


class Steady(Struct, frozen=True):
    """A constant rate."""

    requests_per_s: float

    def rate(self, t: float) -> float:
        """Return the rate."""
        return self.requests_per_s

    @property
    def peak(self) -> float:
        """The rate."""
        return self.requests_per_s


class Dial:
    """A rate that can be changed while the load runs, as a ``share`` of its peak."""

    def __init__(self, peak: float) -> None:
        self._peak = peak
        self._share = 1.0

    @property
    def share(self) -> float:
        """The current share of the peak rate, at least 0.001: drawing arrivals at rate 0 would never end."""
        return self._share

    @share.setter
    def share(self, share: float) -> None:
        if not MIN_SHARE <= share <= 1.0:
            raise ValueError(f"The share of the load must be between {MIN_SHARE} and 1, not {share}.")
        self._share = share

    def rate(self, t: float) -> float:
        """Return the current rate."""
        return self._peak * self._share

    @property
    def peak(self) -> float:
        """The peak rate."""
        return self._peak


class Daily(Struct, frozen=True):
    """A daily sine wave around a mean: lowest at the start, highest half a period later."""

    mean: float
    swing: float = 0.5
    """Amplitude as a share of the mean: 0.5 varies between 0.5 and 1.5 times the mean."""
    period_s: float = DAY_S

    def rate(self, t: float) -> float:
        """Return the rate at that time."""
        return self.mean * (1 + self.swing * sin(2 * pi * (t / self.period_s - 0.25)))

    @property
    def peak(self) -> float:
        """The highest rate of the day."""
        return self.mean * (1 + self.swing)


class Bursts(Struct, frozen=True):
    """A base rate with periodic bursts; the first burst comes after one period."""

    base: float
    height: float
    every_s: float
    length_s: float

    def rate(self, t: float) -> float:
        """Return the base rate or the rate of a burst."""
        return self.height if t >= self.every_s and t % self.every_s < self.length_s else self.base

    @property
    def peak(self) -> float:
        """The higher of the base rate and the rate of a burst."""
        return max(self.base, self.height)


class Ramp(Struct, frozen=True):
    """A linear change from one rate to another, which then stays."""

    start: float
    end: float
    length_s: float

    def rate(self, t: float) -> float:
        """Return the interpolated rate."""
        share = min(1.0, t / self.length_s)
        return self.start + (self.end - self.start) * share

    @property
    def peak(self) -> float:
        """The higher of the two rates."""
        return max(self.start, self.end)


class Steps(Struct, frozen=True):
    """A piecewise constant rate: pairs of a start time and a rate. Before the first pair the rate is 0."""

    steps: Sequence[tuple[float, float]]

    def rate(self, t: float) -> float:
        """Return the rate of the current step."""
        return next((rate for since, rate in reversed(self.steps) if t >= since), 0.0)

    @property
    def peak(self) -> float:
        """The highest rate of all steps."""
        return max((rate for _, rate in self.steps), default=0.0)
