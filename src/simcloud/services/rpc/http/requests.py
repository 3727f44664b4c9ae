"""Helpers for HTTP requests: target and parameters, error pages, the trace header."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qs, unquote, unquote_plus

from simcloud.machine.network import HttpRequest, HttpResponse, respond
from simcloud.services.tracing import SpanContext

PLAIN_TEXT: Final = "text/plain; charset=utf-8"
TRACE_HEADER: Final = "Uber-Trace-Id"
"""Jaeger's trace header: trace, span, parent (0 today) and flags, in hexadecimal."""


class Query(dict[str, str]):
    """The first value of each parameter; a missing one is empty, as in Go's ``Query().Get``."""

    def __missing__(self, name: str) -> str:
        return ""


def query_of(request: HttpRequest) -> Query:
    """Parse the query parameters of a request."""
    found = Query()
    for pair in request.path.partition("?")[2].partition("#")[0].split("&"):
        if "%" in pair or "+" in pair:
            name, _, value = (unquote_plus(part) for part in pair.partition("="))
        else:
            name, _, value = pair.partition("=")
        if pair and name not in found:
            found[name] = value
    return found


def http_error(status: int, text: str) -> HttpResponse:
    """Return a page with an error, as ``http.Error`` makes it."""
    headers = {"Content-Type": PLAIN_TEXT, "X-Content-Type-Options": "nosniff"}
    return respond(status, f"{text}\n", **headers)


def span_header(span: SpanContext) -> str:
    """Return a span as a header's value."""
    return f"{span.trace_id:x}:{span.span_id:x}:0:{1 if span.trace_id else 0}"


def parent_of(request: HttpRequest) -> SpanContext | None:
    """Return the span a request belongs to, if its sender said so in words that make sense."""
    value = request.headers.get(TRACE_HEADER)
    if value is None:
        return None
    parts = value.split(":")
    try:
        if len(parts) == 4 and len(value) < 80:
            sampled = int(parts[3], 16) & 1
            return SpanContext(int(parts[0], 16) if sampled else 0, int(parts[1], 16))
    except ValueError:
        pass
    return None


MAX_QUERY: Final = 8_192
MAX_PARAMETERS: Final = 256


def target_of(request: HttpRequest) -> tuple[str, dict[str, list[str]]]:
    """Return the decoded path and the values of each parameter; invalid UTF-8 is replaced."""
    text = request.path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    path, _, query = text.partition("?")
    try:
        parameters = parse_qs(query[:MAX_QUERY], keep_blank_values=True, max_num_fields=MAX_PARAMETERS)
    except ValueError:
        parameters = {}
    return unquote(path), parameters
