"""Parameters of requests to Jaeger, with the error messages of Jaeger and Go."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from simcloud.golang import parse_duration_ns, quote
from simcloud.kubernetes.api.schema import go_json
from simcloud.machine import Labels
from simcloud.telemetry.traces.view import Search

Parameters = Mapping[str, Sequence[str]]

MOST_TRACES: Final = 1500
_USUAL_TRACES: Final = 100
_LOOKBACK_US: Final = 48 * 3600 * 1_000_000
_DEPENDENCY_LOOKBACK_MS: Final = 24 * 3600 * 1000
_LARGEST: Final = 2**63 - 1
_INTEGER: Final = re.compile(r"[+-]?\d+", re.ASCII)
_HEX: Final = re.compile(r"[0-9a-fA-F]+")
_GO_TYPES: Final = {bool: "bool", int: "number", float: "number", list: "array", dict: "object"}


class Refusal(Exception):
    """A request that fails."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def one(parameters: Parameters, name: str) -> str:
    """Return a parameter's first value; empty when it is not given."""
    values = parameters.get(name)
    return values[0] if values else ""


def service_required() -> Refusal:
    """Reject a request without a service name."""
    return Refusal(400, "parameter 'service' is required")


def search_of(parameters: Parameters, now_us: int) -> Search:
    """Parse the search of ``/api/traces``."""
    start_us = _time(parameters, "start", now_us - _LOOKBACK_US)
    end_us = _time(parameters, "end", now_us)
    tags = _tags(parameters)
    limit = _integer(text, bits=32) if (text := one(parameters, "limit")) else _USUAL_TRACES
    shortest_us = _duration_us(parameters, "minDuration")
    longest_us = _duration_us(parameters, "maxDuration")
    service = one(parameters, "service")
    if not service and not parameters.get("traceID"):
        raise service_required()
    if shortest_us and longest_us and longest_us < shortest_us:
        raise Refusal(400, "'maxDuration' should be greater than 'minDuration'")
    return Search(
        service=service,
        operation=one(parameters, "operation") or None,
        tags=tags,
        start_us=start_us,
        end_us=end_us,
        shortest_us=shortest_us or None,
        longest_us=longest_us or None,
        limit=min(limit, MOST_TRACES) if limit > 0 else MOST_TRACES,
    )


def window_of(parameters: Parameters, now_us: int) -> tuple[int, int]:
    """Between which times ``/api/dependencies`` looks."""
    end_us = _time(parameters, "endTs", now_us, unit_us=1000)
    lookback_ms = _DEPENDENCY_LOOKBACK_MS
    if text := one(parameters, "lookback"):
        lookback_ms = _parse_named("lookback", text)
    return end_us - lookback_ms * 1000, end_us


def trace_id_of(text: str) -> int:
    """Return the number of a trace that is written in hexadecimal digits."""
    if len(text) > 32:
        raise Refusal(400, f"TraceID cannot be longer than 32 hex characters: {text}")
    halves = (text[:-16], text[-16:]) if len(text) > 16 else (text,)
    for half in halves:
        if not _HEX.fullmatch(half):
            raise Refusal(400, f"strconv.ParseUint: parsing {quote(half)}: invalid syntax")
    return int(text, 16)


def trace_ids_of(parameters: Parameters) -> list[int]:
    """Return the traces that a search names itself."""
    try:
        return [trace_id_of(text) for text in list(parameters.get("traceID", ()))[:MOST_TRACES]]
    except Refusal as refusal:
        raise Refusal(400, f"cannot parse traceID param: {refusal.message}") from None


def _time(parameters: Parameters, name: str, default_us: int, unit_us: int = 1) -> int:
    text = one(parameters, name)
    return _parse_named(name, text) * unit_us if text else default_us


def _duration_us(parameters: Parameters, name: str) -> float:
    text = one(parameters, name)
    if not text:
        return 0.0
    try:
        return parse_duration_ns(text) / 1000
    except ValueError as fault:
        raise Refusal(400, f"unable to parse param '{name}': {fault}") from None


def _parse_named(name: str, text: str) -> int:
    try:
        return _integer(text)
    except Refusal as refusal:
        raise Refusal(400, f"unable to parse param '{name}': {refusal.message}") from None


def _integer(text: str, bits: int = 64) -> int:
    if not _INTEGER.fullmatch(text):
        raise Refusal(400, f"strconv.ParseInt: parsing {quote(text)}: invalid syntax")
    largest = _LARGEST >> (64 - bits)
    if len(text) > 20 or not -largest - 1 <= int(text) <= largest:
        raise Refusal(400, f"strconv.ParseInt: parsing {quote(text)}: value out of range")
    return int(text)


def _tags(parameters: Parameters) -> Labels:
    wanted: dict[str, str] = {}
    for text in parameters.get("tag", ()):
        key, colon, value = text.partition(":")
        if not colon:
            raise Refusal(400, f"malformed 'tag' parameter, expecting key:value, received: {text}")
        wanted[key] = value
    for text in parameters.get("tags", ()):
        try:
            wanted.update(_text_map(text))
        except ValueError as fault:
            raise Refusal(400, f"malformed 'tags' parameter, cannot unmarshal JSON: {fault}") from None
    return tuple(wanted.items())


def _text_map(text: str) -> dict[str, str]:
    """Parse JSON as Go does into a map of strings. Raise ``ValueError`` with Go's message."""
    found = go_json.find_syntax_error(text.encode("utf-8", "surrogateescape"))
    if found is not None:
        raise ValueError(found)
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("exceeded max depth") from None
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise ValueError(
            f"json: cannot unmarshal {_go_type(document)} into Go value of type map[string]string"
        )
    for value in document.values():
        if value is not None and not isinstance(value, str):
            raise ValueError(f"json: cannot unmarshal {_go_type(value)} into Go value of type string")
    return {key: value or "" for key, value in document.items()}


def _go_type(value: Any) -> str:
    return _GO_TYPES.get(type(value), "string")
