"""Traces: a store of spans, Jaeger's search, and the call graph of services."""

from simcloud.telemetry.traces.graph import (
    Edge as Edge,
    Figures as Figures,
    Health as Health,
    ServiceMap as ServiceMap,
    dependencies as dependencies,
    service_health as service_health,
    service_map as service_map,
)
from simcloud.telemetry.traces.jaeger_api import JaegerApi as JaegerApi, Name as Name
from simcloud.telemetry.traces.records import TraceRecord as TraceRecord, record as record, records as records
from simcloud.telemetry.traces.row_runs import RowRuns as RowRuns
from simcloud.telemetry.traces.store import Retention as Retention, TraceStore as TraceStore
from simcloud.telemetry.traces.view import (
    Operation as Operation,
    Search as Search,
    StoredSpan as StoredSpan,
    Trace as Trace,
    TraceView as TraceView,
)
