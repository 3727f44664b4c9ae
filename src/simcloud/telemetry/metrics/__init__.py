"""Series of samples, stored in columns and selected by labels."""

from simcloud.machine import Labels as Labels
from simcloud.telemetry.metrics.matchers import Matcher as Matcher
from simcloud.telemetry.metrics.series import (
    STALE as STALE,
    OutOfOrder as OutOfOrder,
    Series as Series,
    is_stale as is_stale,
    labels_of as labels_of,
)
from simcloud.telemetry.metrics.store import (
    Metadata as Metadata,
    MetricStore as MetricStore,
    Retention as Retention,
)
