"""Traces as Jaeger's JSON."""

from __future__ import annotations

import re
from typing import Any, Final

from simcloud.machine import Labels
from simcloud.telemetry.traces.jaeger_warnings import warnings
from simcloud.telemetry.traces.store import Shape
from simcloud.telemetry.traces.tags import log_fields, span_tags
from simcloud.telemetry.traces.view import StoredSpan, Trace

_WHOLE_NUMBERS: Final = frozenset({"http.status_code", "peer.port", "response_code"})
_BOOLEANS: Final = {"true": True, "false": False}
_SAMPLER: Final = "sampler.param"
_SWITCHES: Final = ("error", _SAMPLER)
_DECIMAL: Final = re.compile(r"\d{1,15}(\.\d{1,15})?", re.ASCII)
_SAMPLED: Final = 1


def trace_document(trace: Trace, *, adjusted: bool = True) -> dict[str, Any]:
    """Return a trace; with warnings about its times when ``adjusted``."""
    process_ids: dict[tuple[str, Labels], str] = {}
    span_warnings = warnings(trace) if adjusted else [[] for _ in trace]
    spans = []
    for span, words in zip(trace, span_warnings, strict=True):
        process = (span.shape.group.service, span.shape.process)
        process_id = process_ids.setdefault(process, f"p{len(process_ids) + 1}")
        spans.append(_span_document(span, process_id, words))
    processes = {
        process_id: {"serviceName": service, "tags": _tags(tags)}
        for (service, tags), process_id in sorted(process_ids.items(), key=lambda item: item[1])
    }
    return {
        "traceID": id_text(trace[0].trace_id),
        "spans": spans,
        "processes": processes,
        "warnings": None,
    }


def id_text(number: int) -> str:
    """Return an id as Jaeger writes it."""
    return f"{number:016x}"


def _span_document(span: StoredSpan, process_id: str, words: list[str]) -> dict[str, Any]:
    trace_id = id_text(span.trace_id)
    parents = []
    if span.parent_id:
        parents.append({"refType": "CHILD_OF", "traceID": trace_id, "spanID": id_text(span.parent_id)})
    return {
        "traceID": trace_id,
        "spanID": id_text(span.span_id),
        "flags": _SAMPLED,
        "operationName": span.shape.group.operation,
        "references": parents,
        "startTime": span.start_us,
        "duration": span.duration_us,
        "tags": _tags(span_tags(span.shape)),
        "logs": _logs(span.shape, span.end_us),
        "processID": process_id,
        "warnings": words or None,
    }


def _logs(shape: Shape, time_us: int) -> list[dict[str, Any]]:
    fields = log_fields(shape)
    return [{"timestamp": time_us, "fields": _tags(fields)}] if fields else []


def _tags(labels: Labels) -> list[dict[str, Any]]:
    return [_tag(key, value) for key, value in labels]


def _tag(key: str, value: str) -> dict[str, Any]:
    """Return a tag with the type that the tracers give it; everything here is text, so the key decides."""
    if key in _WHOLE_NUMBERS and value.isdecimal():
        return {"key": key, "type": "int64", "value": int(value)}
    if key in _SWITCHES and value in _BOOLEANS:
        return {"key": key, "type": "bool", "value": _BOOLEANS[value]}
    if key == _SAMPLER and _DECIMAL.fullmatch(value):
        number = float(value)
        return {"key": key, "type": "float64", "value": int(number) if number.is_integer() else number}
    return {"key": key, "type": "string", "value": value}
