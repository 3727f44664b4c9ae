"""What software emits through its handles, as a client library would expose it."""

from __future__ import annotations

from collections.abc import Iterator

from aiopslab.machine.emit import Histogram, MemoryEmitter
from aiopslab.observer.promql.numbers import shortest
from aiopslab.observer.scrape import Reading


def read_emitted(emitter: MemoryEmitter) -> Iterator[Reading]:
    """The counters, gauges and histograms of an emitter."""
    for (name, labels), metric in emitter.metrics.items():
        if isinstance(metric, Histogram):
            seen = 0
            for bound, count in zip((*metric.bounds, float("inf")), metric.counts, strict=True):
                seen += count
                yield Reading(f"{name}_bucket", (*labels, ("le", shortest(bound))), float(seen))
            yield Reading(f"{name}_sum", labels, metric.total)
            yield Reading(f"{name}_count", labels, float(seen))
        else:
            yield Reading(name, labels, metric.value)
