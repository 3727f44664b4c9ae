"""Tables of metrics: how each value is read from a subject. The readings are kept from scrape to scrape."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from simcloud.machine import Labels
from simcloud.machine.network import InterfaceInfo
from simcloud.telemetry.scrape import Reading, Readings

T = TypeVar("T")
Row = tuple[str, Labels, Callable[[T], float] | float]
"""A metric's name, labels of this row alone, and a function that reads its value, or a constant."""


class Rows(Generic[T]):
    """The metrics of ``subject`` from a table; ``labels`` precede those of each row."""

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
        """Return the readings with the present values."""
        subject = self.subject
        for reading, read_value in self._changing:
            reading.value = read_value(subject)
        return self.readings


def traffic_table(prefix: str, errors: str, dropped: str, of: Labels) -> list[Row[InterfaceInfo]]:
    """Return the rows of a network interface; the names of errors and drops differ between exporters."""
    return [
        (f"{prefix}_receive_bytes_total", of, lambda i: float(i.received_bytes)),
        (f"{prefix}_receive_packets_total", of, lambda i: float(i.received_packets)),
        (f"{prefix}_receive_{errors}_total", of, lambda i: float(i.receive_errors)),
        (f"{prefix}_receive_{dropped}_total", of, lambda i: float(i.receive_dropped)),
        (f"{prefix}_transmit_bytes_total", of, lambda i: float(i.sent_bytes)),
        (f"{prefix}_transmit_packets_total", of, lambda i: float(i.sent_packets)),
        (f"{prefix}_transmit_{errors}_total", of, 0.0),
        (f"{prefix}_transmit_{dropped}_total", of, lambda i: float(i.send_dropped)),
    ]
