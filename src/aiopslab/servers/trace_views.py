"""Views made of traces: the topology with its traffic, a list of traces, and one trace as a waterfall."""

from __future__ import annotations

from typing import Any, Final

from aiopslab.cloud import IncidentSite
from aiopslab.servers.view_parameters import InvalidView, Parameters, read_number
from simcloud.telemetry.traces import Search, StoredSpan, Trace, TraceView, record

LOOKBACK_S: Final = 60.0
MAX_LOOKBACK_S: Final = 3600.0
MAX_TRACES: Final = 100
MAX_SPANS: Final = 1000
MAX_TAG_CHARS: Final = 300


def view_topology(environment: IncidentSite, parameters: Parameters) -> dict[str, Any]:
    """Return services and the calls between them, with rates, errors and latencies of the last seconds.

    ``users`` has the rate of the requests that arrive from outside, and the share of them that failed.
    """
    seconds = read_number(parameters, "seconds", LOOKBACK_S, 1, MAX_LOOKBACK_S)
    found = environment.monitoring.topology.document(seconds)
    users = environment.users.results.between(environment.now - seconds, environment.now)
    return found | {"users": {"rate": users.requests / seconds, "error_share": users.error_rate}}


def view_traces(environment: IncidentSite, parameters: Parameters) -> dict[str, Any]:
    """Return one trace if ``id`` is given, or the newest traces of a service."""
    view = TraceView(environment.world.emitter.traces)
    if parameters.get("id"):
        return _build_waterfall(view, parameters["id"])
    services = sorted(view.services())
    service = parameters.get("service", "")
    if service and service not in services:
        raise InvalidView(f"No service '{service[:100]}' sends traces. Choose one of: {', '.join(services)}.")
    limit = int(read_number(parameters, "limit", 30, 1, MAX_TRACES))
    shortest_ms = read_number(parameters, "min_ms", 0, 0, 1e9)
    only_errors = parameters.get("errors", "") in ("1", "true", "yes")
    found: dict[int, Trace] = {}
    for name in [service] if service else services:
        search = Search(
            name, shortest_us=shortest_ms * 1000 or None, limit=MAX_TRACES if only_errors else limit
        )
        found |= {trace[0].trace_id: trace for trace in view.find(search)}
    rows = [_summarize(trace) for trace in found.values()]
    rows = [row for row in rows if row["errors"] or not only_errors]
    rows.sort(key=lambda row: row["start_us"], reverse=True)
    return {"services": services, "service": service, "traces": rows[:limit]}


def _summarize(trace: Trace) -> dict[str, Any]:
    start_us = min(span.start_us for span in trace)
    first = record(_find_root(trace))
    return {
        "id": first.trace_id,
        "service": first.service_name,
        "operation": first.operation_name,
        "start_us": start_us,
        "duration_us": max(span.end_us for span in trace) - start_us,
        "spans": len(trace),
        "services": len({span.shape.group.service for span in trace}),
        "errors": sum(span.shape.unserved for span in trace),
    }


def _find_root(trace: Trace) -> StoredSpan:
    ids = {span.span_id for span in trace}
    return min(trace, key=lambda span: (span.parent_id in ids, span.start_us))


def _build_waterfall(view: TraceView, text: str) -> dict[str, Any]:
    try:
        trace = view.trace(int(text, 16))
    except (ValueError, OverflowError):
        raise InvalidView("'id' must be the hexadecimal id of a trace.") from None
    if not trace:
        raise InvalidView("There is no such trace. Old traces are dropped; choose one of the list.")
    start_us = min(span.start_us for span in trace)
    children: dict[int, list[StoredSpan]] = {}
    ids = {span.span_id for span in trace}
    for span in trace:
        children.setdefault(span.parent_id if span.parent_id in ids else 0, []).append(span)
    rows: list[dict[str, Any]] = []
    waiting = [(span, 0) for span in sorted(children.get(0, ()), key=_get_order, reverse=True)]
    while waiting and len(rows) < MAX_SPANS:
        span, depth = waiting.pop()
        rows.append(_format_span(span, depth, start_us))
        below = sorted(children.pop(span.span_id, ()), key=_get_order, reverse=True)
        waiting += [(child, depth + 1) for child in below]
    return _summarize(trace) | {"rows": rows, "left_off": len(trace) - len(rows)}


def _get_order(span: StoredSpan) -> tuple[int, int]:
    return span.start_us, span.span_id


def _format_span(span: StoredSpan, depth: int, start_us: int) -> dict[str, Any]:
    row = record(span)
    return {
        "depth": depth,
        "service": row.service_name,
        "operation": row.operation_name,
        "offset_us": row.start_time - start_us,
        "duration_us": row.duration,
        "error": span.shape.unserved,
        "tags": [[key, str(value)[:MAX_TAG_CHARS]] for key, value in span.shape.tags],
    }
