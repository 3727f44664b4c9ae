"""Series of samples, stored in columns and selected by labels."""

from simcloud.machine.emit import Labels
from simcloud.telemetry.metrics.matchers import Matcher
from simcloud.telemetry.metrics.series import STALE, OutOfOrder, Series, is_stale, labels_of
from simcloud.telemetry.metrics.store import Metadata, MetricStore, Retention

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
