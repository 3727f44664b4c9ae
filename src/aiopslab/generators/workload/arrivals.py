"""When requests are sent: moments since the load began, drawn for a shape or read from a file.

Requests of an open loop do not wait for answers: when the application slows down, they pile up, as in life. An arrival
may name its journey; when it does not, the users' mix decides.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple, Protocol

from aiopslab.generators.workload.shapes import Shape

LULL_S: Final = 1.0
"""How far one looks ahead while there is no load at all."""
MOST_IN_VAIN: Final = 1_000_000
"""After so many draws in a row that bring nobody, nobody comes any more."""
MOST_ARRIVALS: Final = 5_000_000


class Arrival(NamedTuple):
    """A request is due, ``t`` seconds after the load began."""

    t: float
    journey: str | None = None


class Arrivals(Protocol):
    """The moments at which requests are sent, in order."""

    def draw(self, chance: Random) -> Iterator[Arrival]:
        """All of them; may go on for ever."""


@dataclass(frozen=True)
class OpenLoop:
    """Requests at a shape's rate: evenly spaced, random as independent users are, or nearly even."""

    shape: Shape
    spacing: str = "exponential"

    def __post_init__(self) -> None:
        if self.spacing not in SPACINGS:
            known = ", ".join(SPACINGS)
            raise ValueError(f"There is no spacing '{self.spacing}'. Choose one of: {known}.")

    def draw(self, chance: Random) -> Iterator[Arrival]:
        """Gap after gap. A shape that comes to nothing for good ends the load."""
        gap = SPACINGS[self.spacing]
        peak, t = self.shape.peak, 0.0
        if peak <= 0:
            return
        thinned = gap is _exponential
        in_vain = 0
        while in_vain < MOST_IN_VAIN:
            rate = peak if thinned else self.shape.rate(t)
            in_vain += 1
            if rate <= 0:
                t += LULL_S
                continue
            t += gap(chance, rate)
            # Drawing at the peak rate and dropping the surplus is exact for random arrivals, whatever the shape.
            if not thinned or chance.random() * peak < self.shape.rate(t):
                in_vain = 0
                yield Arrival(t)


def _constant(chance: Random, rate: float) -> float:
    return 1 / rate


def _exponential(chance: Random, rate: float) -> float:
    return chance.expovariate(rate)


def _normal(chance: Random, rate: float) -> float:
    return max(0.0, chance.gauss(1 / rate, 0.25 / rate))


SPACINGS: Final[dict[str, Callable[[Random, float], float]]] = {
    "constant": _constant,
    "fixed": _constant,
    "exponential": _exponential,
    "exp": _exponential,
    "normal": _normal,
    "norm": _normal,
}
"""By the papers' names and by wrk2's."""


@dataclass(frozen=True)
class Replay:
    """Arrivals that were recorded."""

    arrivals: tuple[Arrival, ...]

    def draw(self, chance: Random) -> Iterator[Arrival]:
        """As recorded."""
        return iter(self.arrivals)


def read_arrivals(path: Path) -> Replay:
    """A recorded arrival trace: JSON lines (``{"t": 1.5, "journey": "search"}``) or CSV with such columns.

    Times are seconds, counted from the first; the journey may be missing. Raises ``ValueError`` with the line at fault.
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
            if len(found) > MOST_ARRIVALS:
                raise ValueError(f"more than {MOST_ARRIVALS} arrivals")
    except (KeyError, TypeError, ValueError) as error:
        where = f"{path.name}, arrival {len(found) + 1}"
        raise ValueError(
            f"{where}: {error}. Each needs a time 't' in seconds, and may name a 'journey'."
        ) from error
    found.sort(key=lambda arrival: arrival.t)
    first = found[0].t if found else 0.0
    return Replay(tuple(Arrival(arrival.t - first, arrival.journey) for arrival in found))
