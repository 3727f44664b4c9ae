"""The tags and log fields that Jaeger adds to a span.

A failed span has the tag ``error`` and a log entry with the message at its end, as from OpenTracing's middlewares.
Jaeger's collector adds the format in which the span was received.
"""

from __future__ import annotations

from typing import Final

from simcloud.machine import Labels
from simcloud.telemetry.traces.store import Shape

_RECEIVED: Final = (("internal.span.format", "proto"),)
_FAILED: Final = (("error", "true"),)


def span_tags(shape: Shape) -> Labels:
    """Return the tags of a span."""
    return shape.tags + _list_added_tags(shape)


def log_fields(shape: Shape) -> Labels:
    """Return the fields of a span's log entry, which only a failed span has."""
    return (("event", "error"), ("message", shape.error)) if shape.error else ()


def has_tags(shape: Shape, wanted: Labels) -> bool:
    """Return whether a span has all these as tags, tags of its process or log fields."""
    for pair in wanted:
        own = pair in shape.tags or pair in shape.process
        if not own and pair not in _list_added_tags(shape) and pair not in log_fields(shape):
            return False
    return True


def _list_added_tags(shape: Shape) -> Labels:
    if _RECEIVED[0][0] in dict(shape.tags):  # a span of Jaeger itself
        return ()
    if shape.error is None or any(key == "error" for key, _ in shape.tags):
        return _RECEIVED
    return _FAILED + _RECEIVED
