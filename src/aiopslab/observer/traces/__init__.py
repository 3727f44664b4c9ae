"""Traces: spans in columns, searched as Jaeger searches them, and the map of who calls whom."""

from aiopslab.observer.traces.graph import (
    Edge,
    Figures,
    Health,
    ServiceMap,
    dependencies,
    service_health,
    service_map,
)
from aiopslab.observer.traces.jaeger_api import JaegerApi
from aiopslab.observer.traces.received import Received
from aiopslab.observer.traces.records import TraceRecord, records
from aiopslab.observer.traces.store import Retention, TraceStore
from aiopslab.observer.traces.view import Operation, Search, StoredSpan, Trace, TraceView

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
