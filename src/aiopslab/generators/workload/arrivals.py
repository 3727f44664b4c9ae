"""Arrival times of requests, in seconds since the load started: drawn for a shape or read from a file.

Requests of an open loop do not wait for answers: when the application slows down, they pile up. An arrival
may name its journey; otherwise the users' mix chooses one.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple, Protocol

from msgspec import Struct

from aiopslab.generators.workload.shapes import Shape

LULL_S: Final = 1.0
"""Step in time while the rate is zero."""
MAX_EMPTY_DRAWS: Final = 1_000_000
"""Consecutive draws without an arrival before the load ends."""
MAX_ARRIVALS: Final = 5_000_000


class Arrival(NamedTuple):
    """A request that is due ``t`` seconds after the load started."""

    t: float
    journey: str | None = None


class Arrivals(Protocol):
    """The arrivals of requests, in order."""

    def draw(self, chance: Random) -> Iterator[Arrival]:
        """Yield the arrivals; may be infinite."""


class OpenLoop(Struct, frozen=True):
    """Arrivals at a shape's rate, with constant, exponential (independent users) or normal spacing."""

    shape: Shape
    spacing: str = "exponential"

    def __post_init__(self) -> None:
        if self.spacing not in SPACINGS:
            spacings = ", ".join(SPACINGS)
            raise ValueError(f"There is no spacing '{self.spacing}'. Choose one of: {spacings}.")

    def draw(self, chance: Random) -> Iterator[Arrival]:
        """Yield arrivals until the shape's rate stays at zero."""
        draw_gap = SPACINGS[self.spacing]
        peak, t = self.shape.peak, 0.0
        if peak <= 0:
            return
        is_thinned = draw_gap is _draw_exponential
        empty_draws = 0
        while empty_draws < MAX_EMPTY_DRAWS:
            rate = peak if is_thinned else self.shape.rate(t)
            empty_draws += 1
            if rate <= 0:
                t += LULL_S
                continue
            t += draw_gap(chance, rate)
            # Thinning: drawing at the peak rate and dropping the surplus is exact for a Poisson process of any shape.
            if not is_thinned or chance.random() * peak < self.shape.rate(t):
                empty_draws = 0
                yield Arrival(t)


def _draw_constant(chance: Random, rate: float) -> float:
    return 1 / rate


def _draw_exponential(chance: Random, rate: float) -> float:
    return chance.expovariate(rate)


def _draw_normal(chance: Random, rate: float) -> float:
    return max(0.0, chance.gauss(1 / rate, 0.25 / rate))


SPACINGS: Final[dict[str, Callable[[Random, float], float]]] = {
    "constant": _draw_constant,
    "fixed": _draw_constant,
    "exponential": _draw_exponential,
    "exp": _draw_exponential,
    "normal": _draw_normal,
    "norm": _draw_normal,
}
"""Gap distributions by the papers' names and by wrk2's."""


class Replay(Struct, frozen=True):
    """Recorded arrivals."""

    arrivals: tuple[Arrival, ...]

    def draw(self, chance: Random) -> Iterator[Arrival]:
        """Yield the recorded arrivals."""
        return iter(self.arrivals)


def read_arrivals(path: Path) -> Replay:
    """Read a recorded arrival trace: JSON lines (``{"t": 1.5, "journey": "search"}``) or CSV with these columns.

    Times are in seconds and become relative to the first; the journey is optional. Raises ``ValueError`` that names the arrival.
    """
    text = path.read_text()
    rows: Iterator[Any]
    if text.lstrip().startswith("{"):
        rows = (json.loads(line) for line in text.splitlines() if line.strip())
    else:
        rows = csv.DictReader(text.splitlines())
    found: list[Arrival] = []
    try:
        for row in rows:
            found.append(Arrival(float(row["t"]), row.get("journey") or None))
            if len(found) > MAX_ARRIVALS:
                raise ValueError(f"more than {MAX_ARRIVALS} arrivals")
    except (KeyError, TypeError, ValueError) as error:
        where = f"{path.name}, arrival {len(found) + 1}"
        raise ValueError(
            f"{where}: {error}. Each arrival needs a time 't' in seconds and may have a 'journey'."
        ) from error
    found.sort(key=lambda arrival: arrival.t)
    first = found[0].t if found else 0.0
    return Replay(tuple(Arrival(arrival.t - first, arrival.journey) for arrival in found))
