"""Readings of one thing, kept from scrape to scrape: a table says how each value is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from simcloud.machine.emit import Labels
from simcloud.telemetry.scrape import Reading, Readings

T = TypeVar("T")
Row = tuple[str, Labels, Callable[[T], float] | float]
"""A metric's name, labels of this row alone, and a function that reads its value, or a constant."""


class Rows(Generic[T]):
    """What a table tells of ``subject``; ``labels`` stand before those of each row."""

    __slots__ = ("_changing", "readings", "subject")

    def __init__(self, subject: T, table: Iterable[Row[T]], labels: Labels = ()) -> None:
        self.subject = subject
        self.readings: Readings = []
        self._changing: list[tuple[Reading, Callable[[T], float]]] = []
        for name, own, value in table:
            reading = Reading(name, (*labels, *own))
            self.readings.append(reading)
            if isinstance(value, float):
                reading.value = value
            else:
                self._changing.append((reading, value))

    def read(self) -> Readings:
        """The readings, with the values of this moment."""
        subject = self.subject
        for reading, tell in self._changing:
            reading.value = tell(subject)
        return self.readings
