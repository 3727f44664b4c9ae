"""Series of samples: columns per series, found by their labels."""

from aiopslab.machine.emit import Labels
from aiopslab.observer.metrics.matchers import Matcher
from aiopslab.observer.metrics.series import STALE, OutOfOrder, Series, is_stale, labels_of
from aiopslab.observer.metrics.store import Metadata, MetricStore, Retention

__all__ = [
    "STALE",
    "Labels",
    "Matcher",
    "Metadata",
    "MetricStore",
    "OutOfOrder",
    "Retention",
    "Series",
    "is_stale",
    "labels_of",
]
