"""Load over time: how many requests a second there are at each moment since the load began.

A shape tells the rate at a moment and the highest rate it ever reaches; the latter bounds what is drawn for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi, sin
from typing import Final, Protocol

RATE: Final = 10.0
"""How many requests a second there usually are."""
DAY_S = 86_400.0
LEAST_SHARE = 0.001


class Shape(Protocol):
    """A rate over time."""

    def rate(self, t: float) -> float:
        """Requests a second at ``t`` seconds since the load began."""

    @property
    def peak(self) -> float:
        """The highest rate."""


@dataclass(frozen=True)
class Steady:
    """Always the same."""

    requests_per_s: float

    def rate(self, t: float) -> float:
        """The rate."""
        return self.requests_per_s

    @property
    def peak(self) -> float:
        """The rate."""
        return self.requests_per_s


class Dial:
    """A rate that is turned down and up again while the load runs: ``share`` of the most there may be."""

    def __init__(self, most: float) -> None:
        self._most = most
        self._share = 1.0

    @property
    def share(self) -> float:
        """How far it is turned up. Not to nothing: who draws from it must get somewhere."""
        return self._share

    @share.setter
    def share(self, share: float) -> None:
        if not LEAST_SHARE <= share <= 1.0:
            raise ValueError(f"A share of the load is between {LEAST_SHARE} and 1, not {share}.")
        self._share = share

    def rate(self, t: float) -> float:
        """The rate it is turned to."""
        return self._most * self._share

    @property
    def peak(self) -> float:
        """The most there may be."""
        return self._most


@dataclass(frozen=True)
class Daily:
    """A day's rise and fall around a mean; lowest at its beginning, highest half a period later."""

    mean: float
    swing: float = 0.5
    """How far it goes from the mean, as a share of it: 0.5 is between half and one and a half of the mean."""
    period_s: float = DAY_S

    def rate(self, t: float) -> float:
        """The rate at that time of the day."""
        return self.mean * (1 + self.swing * sin(2 * pi * (t / self.period_s - 0.25)))

    @property
    def peak(self) -> float:
        """The rate at the best time of the day."""
        return self.mean * (1 + self.swing)


@dataclass(frozen=True)
class Bursts:
    """A base with bursts that come again and again; the first after one period."""

    base: float
    height: float
    every_s: float
    length_s: float

    def rate(self, t: float) -> float:
        """The base, or a burst's height."""
        return self.height if t >= self.every_s and t % self.every_s < self.length_s else self.base

    @property
    def peak(self) -> float:
        """A burst's height, if that is more than the base."""
        return max(self.base, self.height)


@dataclass(frozen=True)
class Ramp:
    """From one rate to another in a straight line, and then on with the latter."""

    start: float
    end: float
    length_s: float

    def rate(self, t: float) -> float:
        """The rate on the way."""
        share = min(1.0, t / self.length_s)
        return self.start + (self.end - self.start) * share

    @property
    def peak(self) -> float:
        """The higher of the two ends."""
        return max(self.start, self.end)


@dataclass(frozen=True)
class Steps:
    """One rate after another: pairs of a moment and the rate from then on. Before the first there is none."""

    steps: Sequence[tuple[float, float]]

    def rate(self, t: float) -> float:
        """The rate of the last step begun."""
        return next((rate for since, rate in reversed(self.steps) if t >= since), 0.0)

    @property
    def peak(self) -> float:
        """The highest step."""
        return max((rate for _, rate in self.steps), default=0.0)
