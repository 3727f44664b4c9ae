from __future__ import annotations

import pytest

from simcloud.machine.emit import Span
from simcloud.telemetry.topology import Topology
from simcloud.telemetry.traces import TraceStore

NOW_S = 1_000.0


def topology() -> Topology:
    """A front end that calls a back end every second; one call in ten fails and is slow."""
    store = TraceStore()
    for number in range(100):
        start, failed = NOW_S - number - 0.5, number % 10 == 0
        error = "unavailable" if failed else None
        store.add(Span(number, 2, 1, "back", "get", start, 0.4 if failed else 0.01, error))
        store.add(Span(number, 1, 0, "front", "/", start, 0.5, None))
    return Topology(store, lambda: round(NOW_S * 1e6))


def test_calls_of_the_time_looked_back_over_are_counted() -> None:
    graph = topology().document(lookback_s=50)
    (call,) = graph["calls"]
    assert (call["parent"], call["child"], call["requests"], call["rate"]) == ("front", "back", 50, 1.0)
    assert (call["errors"], call["error_share"]) == (5, 0.1)
    assert (call["p50_s"], call["p99_s"]) == (0.01, 0.4)
    assert [(one["service"], one["requests"]) for one in graph["services"]] == [("back", 50), ("front", 50)]


def test_without_spans_there_is_nobody() -> None:
    graph = Topology(TraceStore(), lambda: 0).document(300)
    assert (graph["services"], graph["calls"]) == ([], [])


@pytest.mark.parametrize("lookback_s", [0.0, -1.0, 1e300, float("nan"), float("inf")])
def test_a_time_to_look_back_over_is_needed(lookback_s: float) -> None:
    with pytest.raises(ValueError, match="look back"):
        topology().document(lookback_s)
