"""Traces: a store of spans, Jaeger's search, and the call graph of services."""

from simcloud.telemetry.traces.graph import (
    Edge,
    Figures,
    Health,
    ServiceMap,
    dependencies,
    service_health,
    service_map,
)
from simcloud.telemetry.traces.jaeger_api import JaegerApi
from simcloud.telemetry.traces.records import TraceRecord, records
from simcloud.telemetry.traces.row_runs import RowRuns
from simcloud.telemetry.traces.store import Retention, TraceStore
from simcloud.telemetry.traces.view import Operation, Search, StoredSpan, Trace, TraceView

__all__ = [
    "Edge",
    "Figures",
    "Health",
    "JaegerApi",
    "Operation",
    "Retention",
    "RowRuns",
    "Search",
    "ServiceMap",
    "StoredSpan",
    "Trace",
    "TraceRecord",
    "TraceStore",
    "TraceView",
    "dependencies",
    "records",
    "service_health",
    "service_map",
]
