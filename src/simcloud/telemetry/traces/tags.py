"""The tags and log fields that Jaeger tells of a span, beyond those the application gave.

A span that failed has the tag ``error``, and its words stand in a log entry at its end, as OpenTracing's middlewares
write it. Jaeger's collector adds how the span came in.
"""

from __future__ import annotations

from typing import Final

from simcloud.machine.emit import Labels
from simcloud.telemetry.traces.store import Shape

_RECEIVED: Final = (("internal.span.format", "proto"),)
_FAILED: Final = (("error", "true"),)


def span_tags(shape: Shape) -> Labels:
    """The tags of a span."""
    return shape.tags + _list_added_tags(shape)


def log_fields(shape: Shape) -> Labels:
    """The fields of a span's only log entry; none when it has no entry."""
    return (("event", "error"), ("message", shape.error)) if shape.error else ()


def has_tags(shape: Shape, wanted: Labels) -> bool:
    """Whether a span has all these, as tags of its own or of its process or as log fields."""
    for pair in wanted:
        own = pair in shape.tags or pair in shape.process
        if not own and pair not in _list_added_tags(shape) and pair not in log_fields(shape):
            return False
    return True


def _list_added_tags(shape: Shape) -> Labels:
    if shape.error is None or any(key == "error" for key, _ in shape.tags):
        return _RECEIVED
    return _FAILED + _RECEIVED
