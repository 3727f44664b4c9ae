"""The metrics of programs, as their client libraries would expose them to a scrape.

A pod's container is one target for all its processes; the programs of a machine itself are one target by its address.
The monitoring of a cluster reads only its own machines, so metrics of users and operators are not scraped. A restarted
program begins at zero, which rates see as a counter reset.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from typing import Final

from simcloud.machine import Histogram, Labels, Metrics, list_samples
from simcloud.telemetry.scrape import Reading, Readings, Report, Target
from simcloud.telemetry.sink import Telemetry

POD_JOB: Final = "kubernetes-pods"
OTHER_JOB: Final = "services"

_Key = tuple[Labels, str]


class Programs:
    """The programs of a world that have metrics now: those in pods, and those at ``hosts`` (None: all hosts)."""

    def __init__(self, telemetry: Telemetry, hosts: Sequence[str] | None = None) -> None:
        self._telemetry = telemetry
        self._hosts = hosts
        self._expositions: dict[Metrics, Exposition] = {}
        self._groups: dict[_Key, list[Exposition]] = {}

    def targets(self) -> list[Target]:
        """List the targets whose metrics can be read now."""
        known = self._expositions
        self._expositions = {
            metrics: known.get(metrics) or Exposition(metrics)
            for metrics in self._telemetry.exposed
            if metrics.labels or self._hosts is None or metrics.address in self._hosts
        }
        self._groups = {}
        for metrics, exposition in self._expositions.items():
            self._groups.setdefault((metrics.labels, metrics.address), []).append(exposition)
        return [
            Target(POD_JOB if key[0] else OTHER_JOB, key[1], partial(self._read, key), key[0])
            for key in self._groups
        ]

    def _read(self, key: _Key) -> Report:
        report = Report()
        for exposition in self._groups[key]:
            exposition.add_to(report)
        return report


class Exposition:
    """The metrics of a program as readings, which are kept from scrape to scrape."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._readings: Readings = []
        self._known = 0

    def read(self) -> Report:
        """Return the values of this moment."""
        report = Report()
        self.add_to(report)
        return report

    def add_to(self, report: Report) -> None:
        """Report the values of this moment, in the order of ``list_samples``."""
        families = self._metrics.families
        if len(families) != self._known:
            self._known = len(families)
            self._readings = [Reading(name, labels) for name, labels, _ in list_samples(self._metrics)]
        values: list[float] = []
        for metric in families.values():
            if isinstance(metric, Histogram):
                values += accumulate(metric.counts)
                values += (metric.total, values[-1])
            else:
                values.append(metric.value)
        report.add(self._readings, values)
