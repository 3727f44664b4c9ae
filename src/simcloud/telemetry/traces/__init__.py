"""Traces: spans in columns, searched as Jaeger searches them, and the map of who calls whom."""

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
from simcloud.telemetry.traces.received import Received
from simcloud.telemetry.traces.records import TraceRecord, records
from simcloud.telemetry.traces.store import Retention, TraceStore
from simcloud.telemetry.traces.view import Operation, Search, StoredSpan, Trace, TraceView

__all__ = [
    "Edge",
    "Figures",
    "Health",
    "JaegerApi",
    "Operation",
    "Received",
    "Retention",
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
