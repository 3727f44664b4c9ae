"""Telemetry becomes the data frames of RCAEval, and its rankings become components. RCAEval itself is optional."""

from __future__ import annotations

from importlib import util

import pytest

from aiopslab.agents import NoSuchAgent, find_agent
from aiopslab.agents.classical import rcaeval
from aiopslab.agents.classical.rcaeval import list_components, make_metric_frame, make_span_frame
from aiopslab.agents.classical.telemetry import Span
from tests.aiopslab.agents.classical.series import CHANGE, COMPONENTS, make_metrics


def test_metrics_are_columns() -> None:
    metrics = make_metrics()
    frame = make_metric_frame(metrics)
    assert list(frame["time"]) == metrics.times_s
    assert list(frame["geo_mem"]) == metrics.series["geo", "memory"]
    assert "mongodb-geo_server-rate" in frame


def test_operations_without_a_past_are_left_out() -> None:
    spans = [
        Span(1, 11, 0, "geo", "/Nearby", 100.0, 0.01, False),
        Span(2, 21, 0, "geo", "/Nearby", 200.0, 0.01, True),
        Span(2, 22, 21, "geo", "/retry", 200.0, 0.01, True),
    ]
    frame = make_span_frame(spans, 150.0)
    assert list(frame["operationName"]) == ["/Nearby", "/Nearby"]
    assert list(frame["startTime"]) == [100e6, 200e6]


def test_a_ranking_names_each_component_once() -> None:
    ranks = ["time", "geo_cpu", "mongodb-geo_mem", "geo_mem", "stranger_cpu", "rate_/Get_Rates"]
    assert list_components(ranks, COMPONENTS) == ["geo", "mongodb-geo", "rate"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("rcaeval", "pass it as rcaeval:METHOD"),
        ("rcaeval:magic", "Choose one of: baro, nsigma, tracerca, microrank"),
        ("rcaeval:baro", r"pip install 'aiopslab-in-a-box\[rcaeval\]'"),
    ],
)
def test_errors_say_what_to_do(spec: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rcaeval, "find_spec", lambda name: None)
    with pytest.raises((NoSuchAgent, rcaeval.AIOpsLabError), match=message):
        find_agent(spec)


@pytest.mark.skipif(util.find_spec("RCAEval") is None, reason="the extra rcaeval is not installed")
@pytest.mark.parametrize("method", ["baro", "nsigma"])
def test_the_package_finds_the_metric_that_rises(method: str) -> None:
    from importlib import import_module

    metrics = make_metrics({("geo", "cpu"): 90.0})
    function = getattr(import_module(rcaeval.METHODS[method][0]), method)
    ranks = function(make_metric_frame(metrics), inject_time=metrics.times_s[CHANGE], dataset="aiopslab")[
        "ranks"
    ]
    assert list_components(ranks, COMPONENTS)[0] == "geo"
