"""Scraping: the readings of all targets go into the store every 15 virtual seconds.

A target is a job, an instance, and a function that returns its readings or a report, or raises a ``NetworkError`` if it cannot be
reached. A series that it no longer reports ends with a staleness marker; if it does not answer, all its series end and
``up`` is 0. All targets are read at the same instant: a scrape takes no virtual time.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

from simcloud.machine import Labels
from simcloud.machine.network import ConnectionRefused, ConnectTimedOut, HostUnreachable, NetworkError
from simcloud.sim import Kernel
from simcloud.telemetry.metrics import MetricStore, Series, labels_of
from simcloud.telemetry.metrics.store import SeriesGroup, TooManySeries
from simcloud.telemetry.rules.groups import Spawn
from simcloud.telemetry.rules.recording import format_time

INTERVAL_S: Final = 15.0
SWEEP_EVERY: Final = 40
"""Scrapes between two sweeps of old samples: ten minutes."""


_REASONS: Final = {ConnectionRefused: "connection refused", HostUnreachable: "no route to host"}


class Reading:
    """A value that a target reports. Targets keep it between scrapes, because it has the handle of its series."""

    __slots__ = ("labels", "name", "series", "value")

    def __init__(self, name: str, labels: Labels, value: float = 0.0) -> None:
        self.name = name
        self.labels = labels
        self.value = value
        self.series: Series | None = None


Readings = list[Reading]


class Report:
    """What a target with many readings reports: lists of readings, and their values beside them.

    From scrape to scrape the lists are the same objects, so that the readings need not be touched to see that only values
    have changed. A list that is part of a report never changes.
    """

    __slots__ = ("parts", "values")

    def __init__(self) -> None:
        self.parts: list[Readings] = []
        self.values = array("d")

    def add(self, part: Readings, values: Iterable[float]) -> None:
        """Report more readings with their values."""
        self.parts.append(part)
        self.values.extend(values)

    def add_readings(self, readings: Readings) -> None:
        """Report more readings with the values that they have now."""
        self.add(list(readings), [reading.value for reading in readings])

    def add_report(self, report: Report) -> None:
        """Report what another one does, too."""
        self.parts += report.parts
        self.values.extend(report.values)

    def __iter__(self) -> Iterator[Reading]:
        """Yield copies of the readings that have the reported values."""
        for reading, value in zip(chain.from_iterable(self.parts), self.values, strict=True):
            yield Reading(reading.name, reading.labels, value)


Reported = Report | Readings
_NO_SERIES: Final = SeriesGroup(())


def make_report(reported: Reported) -> Report:
    """Return readings with their present values as a report."""
    if isinstance(reported, Report):
        return reported
    report = Report()
    report.add_readings(reported)
    return report


@dataclass(eq=False)
class Target:
    """A scrape target. ``labels`` are added to its readings, unless they have them already.

    As long as it reports the same readings as before, which is the usual case, only their values are stored.
    """

    job: str
    instance: str
    read: Callable[[], Reported | None]
    labels: Labels = ()
    scheme: str = "http"
    path: str = "/metrics"
    up: bool | None = field(default=None, init=False)
    error: NetworkError | None = field(default=None, init=False)
    scraped_ms: int = field(default=0, init=False)
    _parts: list[Readings] = field(default_factory=list, init=False)
    _kept: list[int] = field(default_factory=list, init=False)
    """The places of the values that are stored: a reading that is reported twice counts once."""
    _group: SeriesGroup = field(default=_NO_SERIES, init=False)

    def __post_init__(self) -> None:
        self._own = (Reading("up", ()), Reading("scrape_samples_scraped", ()))

    def scrape(self, store: MetricStore, t_ms: int) -> None:
        """Read it once."""
        reported: Reported | None = None
        try:
            reported, self.error = self.read(), None
        except NetworkError as error:
            self.error = error
        report = make_report([] if reported is None else reported)
        if report.parts == self._parts and self._group.can_append(t_ms):
            self._append(t_ms, report.values)
        else:
            self._take(store, t_ms, report)
        self.up, self.scraped_ms = reported is not None, t_ms
        self._own[0].value, self._own[1].value = float(self.up), float(len(self._kept))
        for reading in self._own:
            store.append(self._handle(store, reading), t_ms, reading.value)

    def end(self, store: MetricStore, t_ms: int) -> None:
        """It is a target no more."""
        self._take(store, t_ms, Report())
        for reading in self._own:
            store.end(self._handle(store, reading), t_ms)

    def _take(self, store: MetricStore, t_ms: int, report: Report) -> None:
        """Store other readings than the time before, and end the series that are not among them."""
        handles = [
            self._handle(store, reading) for part in report.parts for reading in part
        ]  # all or none: there may be too many
        found: dict[int, Series] = {}
        kept: list[int] = []
        for place, series in enumerate(handles):
            if series.last_ms < t_ms and series.id not in found:
                found[series.id] = series
                kept.append(place)
        for series in self._group.series:
            if series.id not in found:
                store.end(series, t_ms)
        self._parts, self._kept, self._group = report.parts, kept, store.group(list(found.values()))
        self._append(t_ms, report.values)

    def _append(self, t_ms: int, values: Sequence[float]) -> None:
        if len(self._kept) < len(values):
            values = [values[place] for place in self._kept]
        self._group.append(t_ms, values)

    def _handle(self, store: MetricStore, reading: Reading) -> Series:
        series = reading.series
        if series is None:
            own = {"job": self.job, "instance": self.instance} | dict(self.labels) | dict(reading.labels)
            series = reading.series = store.series_of(labels_of(reading.name, tuple(own.items())))
        return series

    def document(self, interval_s: float) -> dict[str, Any]:
        """Return its document in the HTTP API."""
        labels = {"instance": self.instance, "job": self.job} | dict(self.labels)
        url = f"{self.scheme}://{self.instance}{self.path}"
        discovered = {"__address__": self.instance, "__metrics_path__": self.path, "__scheme__": self.scheme}
        return {
            "discoveredLabels": discovered | {"job": self.job},
            "labels": labels,
            "scrapePool": self.job,
            "scrapeUrl": url,
            "globalUrl": url,
            "lastError": "" if self.up is not False else f'Get "{url}": {self._format_reason()}',
            "lastScrape": format_time(self.scraped_ms),
            "lastScrapeDuration": 0,
            "health": "unknown" if self.up is None else "up" if self.up else "down",
            "scrapeInterval": f"{interval_s:g}s",
            "scrapeTimeout": "10s",
        }

    def _format_reason(self) -> str:
        if self.error is None or isinstance(self.error, ConnectTimedOut):
            return "context deadline exceeded"
        reason = _REASONS.get(type(self.error), str(self.error).lower())
        return f"dial tcp {self.instance}: connect: {reason}"


class Scraper:
    """Periodically scrapes the targets that ``discover`` returns."""

    def __init__(self, store: MetricStore, discover: Callable[[], Sequence[Target]]) -> None:
        self.store = store
        self.discover = discover
        self.interval_s = INTERVAL_S
        self._targets: dict[tuple[str, str, Labels], Target] = {}
        self._scrapes = 0

    def start(self, kernel: Kernel, epoch_s: float, spawn: Spawn | None = None) -> None:
        """Scrape from now on, whenever the world's age is a multiple of the interval."""
        (spawn or kernel.spawn)(self._run(kernel, epoch_s), "scraper")

    async def _run(self, kernel: Kernel, epoch_s: float) -> None:
        if early_s := -kernel.now % self.interval_s:
            await kernel.sleep(early_s)
        while True:
            self.scrape(round((epoch_s + kernel.now) * 1000))
            await kernel.sleep(self.interval_s)

    def scrape(self, t_ms: int) -> None:
        """Read every target once."""
        found = {(target.job, target.instance, target.labels): target for target in self.discover()}
        for key, target in self._targets.items():
            if key not in found:
                target.end(self.store, t_ms)
        # Known targets are kept, because they have the handles of their series. Removed targets end before new ones begin.
        self._targets = {key: self._targets.get(key, target) for key, target in found.items()}
        for target in self._targets.values():
            try:
                target.scrape(self.store, t_ms)
            except TooManySeries:
                target.up, target.scraped_ms = False, t_ms  # too many series: none is kept
        self._scrapes += 1
        if self._scrapes % SWEEP_EVERY == 0:
            self.store.sweep(t_ms)

    def document(self) -> dict[str, Any]:
        """Return the targets, for the HTTP API."""
        return {
            "activeTargets": [target.document(self.interval_s) for target in self._targets.values()],
            "droppedTargets": [],
        }
