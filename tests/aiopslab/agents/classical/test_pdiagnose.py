"""Each source votes for the cause, and the votes are counted."""

from __future__ import annotations

import pytest

from aiopslab.agents.classical.pdiagnose import (
    collect_if_any,
    count_log_votes,
    count_metric_votes,
    count_span_votes,
    rank_by_votes,
)
from aiopslab.agents.classical.telemetry import LogLine, Span, collect_spans
from tests.aiopslab.agents.classical.series import CHANGE, COMPONENTS, START_S, make_metrics

CHANGED_S = START_S + 15 * (CHANGE - 1)


def request(number: int, start_s: float, answered: bool) -> list[Span]:
    """The spans of a search, whose call of geo is answered or fails."""
    first = 10 * number
    spans = [
        Span(number, first + 1, 0, "frontend", "/hotels", start_s, 0.02, not answered),
        Span(number, first + 2, first + 1, "search", "/geo.Nearby", start_s, 0.01, not answered),
    ]
    return [*spans, Span(number, first + 3, first + 2, "geo", "/geo.Nearby", start_s, 0.005, False)][
        : 3 if answered else 2
    ]


SPANS = [
    span
    for number in range(40)
    for span in request(number, START_S + 4.5 * number, START_S + 4.5 * number < CHANGED_S)
]
LINES = [
    LogLine("search", CHANGED_S - 20, "error: slow reply of rate"),
    LogLine("search", CHANGED_S + 3, "error: slow reply of rate"),
    LogLine("search", CHANGED_S + 4, "error: dial tcp: connection refused by geo:8083"),
    LogLine("geo", CHANGED_S + 5, "panic: no reachable servers at mongodb-geo:27017"),
    LogLine("frontend", CHANGED_S + 6, "served 17 requests"),
]


def test_metrics_of_state_vote_and_metrics_of_load_do_not() -> None:
    metrics = make_metrics({("geo", "cpu"): 0.0, ("rate", "server rate"): 0.0})
    assert list(count_metric_votes(metrics, CHANGE)) == ["geo"]


def test_new_error_lines_vote_for_the_component_that_they_mention() -> None:
    votes = count_log_votes(LINES, CHANGED_S, COMPONENTS)
    assert dict(votes) == {"geo": 1.0, "mongodb-geo": 1.0}


def test_a_call_without_an_answer_votes_for_the_callee() -> None:
    assert list(count_span_votes(SPANS, CHANGED_S)) == ["geo"]


def test_a_slow_span_votes_for_the_service_that_is_slow_itself() -> None:
    slow = [
        Span(99, 991, 0, "frontend", "/hotels", CHANGED_S + 1, 0.9, False),
        Span(99, 992, 991, "search", "/geo.Nearby", CHANGED_S + 1, 0.8, False),
        Span(99, 993, 992, "geo", "/geo.Nearby", CHANGED_S + 1, 0.7, False),
    ]
    usual = [span for span in SPANS if span.start_s < CHANGED_S]
    assert dict(count_span_votes([*usual, *slow], CHANGED_S)) == {"geo": 1.0}


def test_the_sources_together_rank_the_cause_first() -> None:
    metrics = make_metrics({("geo", "cpu"): 0.0, ("geo", "memory"): 1.0, ("search", "server latency"): 1.0})
    assert rank_by_votes(metrics, LINES, SPANS, COMPONENTS)[0] == "geo"


def test_without_deviations_nobody_is_blamed() -> None:
    usual = [span for span in SPANS if span.start_s < CHANGED_S]
    assert rank_by_votes(make_metrics(), [], usual, COMPONENTS) == []


def test_a_source_that_cannot_be_had_casts_no_votes() -> None:
    steps = collect_if_any(collect_spans("test"))
    next(steps)
    with pytest.raises(StopIteration) as done:
        steps.send("No span was recorded in the last 5 minutes: no request reached a service.")
    assert done.value.value == []
