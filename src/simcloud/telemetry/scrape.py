"""Scraping: the readings of all targets go into the store every 15 virtual seconds.

A target is a job, an instance, and a function that returns its readings, or raises a ``NetworkError`` if it cannot be
reached. A series that it no longer reports ends with a staleness marker; if it does not answer, all its series end and
``up`` is 0. All targets are read at the same instant: a scrape takes no virtual time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
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


class Snapshot(list[Reading]):
    """Readings whose values stay as they are: a target that reports the same snapshot again has nothing new."""


_get_value: Final = attrgetter("value")
_NO_SERIES: Final = SeriesGroup(())


@dataclass(eq=False)
class Target:
    """A scrape target. ``labels`` are added to its readings, unless they have them already.

    As long as it reports the same readings as before, which is the usual case, only their values are read, and not even
    they when it reports the same ``Snapshot``.
    """

    job: str
    instance: str
    read: Callable[[], Readings | None]
    labels: Labels = ()
    scheme: str = "http"
    path: str = "/metrics"
    up: bool | None = field(default=None, init=False)
    error: NetworkError | None = field(default=None, init=False)
    scraped_ms: int = field(default=0, init=False)
    _reported: Readings = field(default_factory=list, init=False)
    _kept: Readings = field(default_factory=list, init=False)
    _group: SeriesGroup = field(default=_NO_SERIES, init=False)
    _snapshot: Snapshot | None = field(default=None, init=False)
    """Whose values ``_values`` are."""
    _values: list[float] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self._own = (Reading("up", ()), Reading("scrape_samples_scraped", ()))

    def scrape(self, store: MetricStore, t_ms: int) -> None:
        """Read it once."""
        readings: Readings | None = None
        try:
            readings, self.error = self.read(), None
        except NetworkError as error:
            self.error = error
        reported = [] if readings is None else readings
        if reported == self._reported and self._group.can_append(t_ms):
            if self._snapshot is None or reported is not self._snapshot:
                self._values = list(map(_get_value, self._kept))
            self._group.append(t_ms, self._values)
        else:
            self._take(store, t_ms, reported)
        self._snapshot = reported if isinstance(reported, Snapshot) else None
        self.up, self.scraped_ms = readings is not None, t_ms
        self._own[0].value, self._own[1].value = float(self.up), float(len(self._kept))
        for reading in self._own:
            store.append(self._handle(store, reading), t_ms, reading.value)

    def end(self, store: MetricStore, t_ms: int) -> None:
        """It is a target no more."""
        self._take(store, t_ms, [])
        for reading in self._own:
            store.end(self._handle(store, reading), t_ms)

    def _take(self, store: MetricStore, t_ms: int, readings: Readings) -> None:
        """Store other readings than the time before, and end the series that are not among them."""
        handles = [self._handle(store, reading) for reading in readings]  # all or none: there may be too many
        found: dict[int, Series] = {}
        kept: Readings = []
        for reading, series in zip(readings, handles, strict=True):
            if (
                series.last_ms < t_ms and series.id not in found
            ):  # a reading that is reported twice counts once
                found[series.id] = series
                kept.append(reading)
        for series in self._group.series:
            if series.id not in found:
                store.end(series, t_ms)
        self._reported, self._kept, self._group = list(readings), kept, store.group(list(found.values()))
        self._values = list(map(_get_value, kept))
        self._group.append(t_ms, self._values)

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
