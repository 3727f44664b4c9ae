"""Scraping: what targets tell about themselves goes into the store every 15 virtual seconds.

A target is a job, an instance, and a function that tells its readings, or None when it does not answer. What it told
last time and does not tell any more is ended by a marker, all of it when it does not answer; ``up`` says which. All
targets are read at the same instant: a scrape takes no virtual time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from aiopslab.machine.emit import Labels
from aiopslab.observer.metrics import MetricStore, Series, labels_of
from aiopslab.observer.rules.recording import written_time
from aiopslab.sim.kernel import Kernel

INTERVAL_S: Final = 15.0
SWEEP_EVERY: Final = 40
"""Old samples are swept out every so many scrapes: ten minutes."""


class Reading:
    """One value that a target tells. Who tells the same again and again keeps the reading: it knows its series."""

    __slots__ = ("labels", "name", "series", "value")

    def __init__(self, name: str, labels: Labels, value: float) -> None:
        self.name = name
        self.labels = labels
        self.value = value
        self.series: Series | None = None


Readings = Iterable[Reading]


@dataclass(eq=False)
class Target:
    """Something that is scraped. ``labels`` are added to all it tells, unless it tells them itself."""

    job: str
    instance: str
    read: Callable[[], Readings | None]
    labels: Labels = ()
    up: bool | None = field(default=None, init=False)
    scraped_ms: int = field(default=0, init=False)
    _series: dict[tuple[str, Labels], Series] = field(default_factory=dict, init=False)
    _told: dict[int, Series] = field(default_factory=dict, init=False)

    def scrape(self, store: MetricStore, t_ms: int) -> None:
        """Read it once."""
        readings = self.read()
        told: dict[int, Series] = {}
        for reading in readings or ():
            series = reading.series
            if series is None:
                series = reading.series = self._handle(store, reading.name, reading.labels)
            if series.last_ms < t_ms:  # what it tells twice counts once
                store.append(series, t_ms, reading.value)
                told[series.id] = series
        for id, series in self._told.items():
            if id not in told:
                store.end(series, t_ms)
        self._told = told
        self.up, self.scraped_ms = readings is not None, t_ms
        for name, value in (("up", float(self.up)), ("scrape_samples_scraped", float(len(told)))):
            store.append(self._handle(store, name, ()), t_ms, value)

    def end(self, store: MetricStore, t_ms: int) -> None:
        """It is a target no more."""
        own = [self._handle(store, name, ()) for name in ("up", "scrape_samples_scraped")]
        for series in (*self._told.values(), *own):
            store.end(series, t_ms)

    def _handle(self, store: MetricStore, name: str, labels: Labels) -> Series:
        key = (name, labels)
        series = self._series.get(key)
        if series is None:
            own = {"job": self.job, "instance": self.instance} | dict(self.labels) | dict(labels)
            series = self._series[key] = store.series_of(labels_of(name, tuple(own.items())))
        return series

    def document(self) -> dict[str, Any]:
        """What the HTTP API tells of it."""
        labels = {"instance": self.instance, "job": self.job} | dict(self.labels)
        address = f"http://{self.instance}/metrics"
        return {
            "discoveredLabels": {"__address__": self.instance, "job": self.job},
            "labels": labels,
            "scrapePool": self.job,
            "scrapeUrl": address,
            "globalUrl": address,
            "lastError": "" if self.up is not False else f'Get "{address}": context deadline exceeded',
            "lastScrape": written_time(self.scraped_ms),
            "lastScrapeDuration": 0,
            "health": "unknown" if self.up is None else "up" if self.up else "down",
            "scrapeInterval": "15s",
            "scrapeTimeout": "10s",
        }


class Scraper:
    """Scrapes whatever ``discover`` finds, again and again."""

    def __init__(self, store: MetricStore, discover: Callable[[], Sequence[Target]]) -> None:
        self.store = store
        self._discover = discover
        self._targets: dict[tuple[str, str], Target] = {}
        self._scrapes = 0

    def start(self, kernel: Kernel, epoch_s: float) -> None:
        """Scrape every 15 seconds from now on."""
        kernel.spawn(self._run(kernel, epoch_s), name="scraper")

    async def _run(self, kernel: Kernel, epoch_s: float) -> None:
        while True:
            self.scrape(round((epoch_s + kernel.now) * 1000))
            await kernel.sleep(INTERVAL_S)

    def scrape(self, t_ms: int) -> None:
        """Read every target once."""
        found = {(target.job, target.instance): target for target in self._discover()}
        for key, target in self._targets.items():
            if key not in found:
                target.end(self.store, t_ms)
        # A target that is known goes on: it knows its series.
        self._targets = {key: self._targets.get(key, target) for key, target in found.items()}
        for target in self._targets.values():
            target.scrape(self.store, t_ms)
        self._scrapes += 1
        if self._scrapes % SWEEP_EVERY == 0:
            self.store.sweep(t_ms)

    def document(self) -> dict[str, Any]:
        """The targets, for the HTTP API."""
        return {
            "activeTargets": [target.document() for target in self._targets.values()],
            "droppedTargets": [],
        }
