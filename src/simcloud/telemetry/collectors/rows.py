"""The metrics of a subject: measured at once, and kept as readings from scrape to scrape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from simcloud.machine import Labels
from simcloud.machine.network import InterfaceInfo
from simcloud.telemetry.scrape import Reading, Readings, Report

T = TypeVar("T")
Measured = Mapping[str | tuple[str, Labels], float]
"""Values by the metric's name, or by its name and labels of this value alone."""


class Rows(Generic[T]):
    """The metrics of ``subject``, in the order in which ``measure`` returns them, which is always the same; all have ``labels``."""

    __slots__ = ("_measure", "_readings", "subject")

    def __init__(self, subject: T, measure: Callable[[T], Measured], labels: Labels = ()) -> None:
        self.subject = subject
        self._measure = measure
        self._readings: Readings = []
        for key in measure(subject):
            name, own = (key, ()) if isinstance(key, str) else key
            self._readings.append(Reading(name, (*labels, *own)))

    def add_to(self, report: Report) -> None:
        """Report the present values."""
        report.add(self._readings, self._measure(self.subject).values())


def measure_traffic(prefix: str, errors: str, dropped: str) -> Callable[[InterfaceInfo], Measured]:
    """Return the measuring of a network interface; the names of errors and drops differ between exporters."""
    names = [
        f"{prefix}_{direction}_{what}_total"
        for direction in ("receive", "transmit")
        for what in ("bytes", "packets", errors, dropped)
    ]

    def measure(card: InterfaceInfo) -> Measured:
        received = card.received_bytes, card.received_packets, card.receive_errors, card.receive_dropped
        sent = card.sent_bytes, card.sent_packets, 0, card.send_dropped
        return dict(zip(names, map(float, received + sent), strict=True))

    return measure
