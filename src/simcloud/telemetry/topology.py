"""The call graph of services with rates, errors and latencies, as one document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from simcloud.telemetry.traces import Figures, TraceStore, TraceView, service_map

LONGEST_S: Final = 1e9


class Topology:
    """The service topology from the spans of the last minutes. ``now_us`` returns microseconds since 1970."""

    def __init__(self, store: TraceStore, now_us: Callable[[], int]) -> None:
        self._view = TraceView(store)
        self._now_us = now_us

    def document(self, lookback_s: float) -> dict[str, Any]:
        """Services and calls between them, seen in traces of the last ``lookback_s`` seconds; rates are per second."""
        if not 0 < lookback_s <= LONGEST_S:
            raise ValueError("a time to look back over is needed")
        end_us = self._now_us()
        start_us = end_us - round(lookback_s * 1e6)
        found = service_map(self._view, start_us, end_us)
        return {
            "lookback_s": lookback_s,
            "services": [
                {"service": service.service} | _format_figures(service.figures, lookback_s)
                for service in found.services
            ],
            "calls": [
                {"parent": edge.parent, "child": edge.child} | _format_figures(edge.figures, lookback_s)
                for edge in found.edges
            ],
        }


def _format_figures(figures: Figures, lookback_s: float) -> dict[str, float]:
    return {
        "requests": figures.calls,
        "errors": figures.errors,
        "rate": figures.calls / lookback_s,
        "error_share": figures.error_share,
        "p50_s": figures.p50_s,
        "p99_s": figures.p99_s,
    }
