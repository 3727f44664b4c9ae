"""The warnings of Jaeger about clock skew between a span and its parent.

Jaeger could correct clock skew; in its default configuration it only reports the correction. It also warns if it cannot
compare, because a parent is missing or an id is duplicate.
"""

from __future__ import annotations

from simcloud.golang import format_duration
from simcloud.telemetry.traces.view import StoredSpan, Trace

Skew = tuple[int, str]
"""By how many nanoseconds a host's clock seems wrong, and the host's address."""


def warnings(trace: Trace) -> list[list[str]]:
    """Return the warnings of each span, in the trace's order."""
    messages: list[list[str]] = [[] for _ in trace]
    places: dict[int, int] = {}
    for place, span in enumerate(trace):
        if places.setdefault(span.span_id, place) != place:
            messages[place].append("duplicate span IDs; skipping clock skew adjustment")
    children: dict[int, list[int]] = {}
    walk: list[tuple[int, int | None, Skew]] = []
    for place in places.values():
        span = trace[place]
        if span.parent_id in places and span.parent_id:
            children.setdefault(places[span.parent_id], []).append(place)
            continue
        walk.append((place, None, (0, _host(span))))
        if span.parent_id:
            words = f"invalid parent span IDs={span.parent_id:016x}; skipping clock skew adjustment"
            messages[place].append(words)
    while walk:
        place, above, skew = walk.pop()
        host = _host(trace[place])
        if above is not None and (host != skew[1] or not host):
            skew = (_skew_ns(trace[place], trace[above]), host)
        if skew[0]:
            delta = format_duration(skew[0] / 1e9)
            messages[place].append(
                f"clock skew adjustment disabled; not applying calculated delta of {delta}"
            )
        walk.extend((child, place, skew) for child in children.get(place, ()))
    return messages


def _host(span: StoredSpan) -> str:
    return next((value for key, value in span.shape.process if key == "ip"), "")


def _skew_ns(child: StoredSpan, parent: StoredSpan) -> int:
    if child.duration_us > parent.duration_us:
        # It went on after its parent gave up, or was never waited for: all that is certain is which began first.
        return max(0, parent.start_us - child.start_us) * 1000
    if child.start_us >= parent.start_us and child.end_us <= parent.end_us:
        return 0
    latency_ns = (parent.duration_us - child.duration_us) * 1000 // 2
    return (parent.start_us - child.start_us) * 1000 + latency_ns
