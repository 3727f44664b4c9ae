"""Every view on a world with an incident: what it shows, that it changes nothing, and that it gives nothing away."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from aiopslab.orchestrator import Orchestrator, Stage, Stages, ignore_progress
from aiopslab.servers.view_parameters import InvalidView
from aiopslab.servers.views import VIEWS, describe
from simcloud.world import Copy

PROBLEM = "misconfig_app_hotel_res-mitigation-1"
HOTEL = "test-hotel-reservation"
LOOK = f'exec_shell("kubectl -n {HOTEL} get pods")'
REPAIR = f'exec_shell("kubectl -n {HOTEL} rollout undo deployment/geo")'
WRONG = [
    ("answer", {}, "There is no view 'answer'"),
    ("pods", {"namespace": "nowhere"}, "There is no namespace 'nowhere'"),
    ("logs", {"lines": "many"}, "must be a number"),
    ("logs", {"lines": "100000"}, "must be from 1 to 500"),
    ("topology", {"seconds": "nan"}, "must be from 1 to 3600"),
    ("traces", {"service": "nobody"}, "No service 'nobody' sends traces"),
    ("traces", {"id": "no-number"}, "hexadecimal"),
    ("traces", {"id": "1"}, "There is no such trace"),
]


@pytest.fixture(scope="module")
def prepared(stages: Stages) -> Iterator[Copy[Stage]]:
    with stages.episode(PROBLEM) as copy:
        yield copy


def begin(stage: Stage) -> Orchestrator:
    orchestrator = Orchestrator(None, tell=ignore_progress)
    assert stage.problem is not None
    orchestrator.use_problem(stage.problem)
    return orchestrator


def show(stage: Stage, *requests: tuple[str, dict[str, str]]) -> list[Any]:
    """Take one step, then return views as a client gets them."""
    orchestrator = begin(stage)
    orchestrator.take_step(LOOK)
    return [json.loads(json.dumps(describe(what, orchestrator, query))) for what, query in requests]


def ask(copy: Copy[Stage], *requests: tuple[str, dict[str, str]]) -> list[Any]:
    with copy.branch() as branch:
        return branch.call(show, *requests)


def refuse(stage: Stage, what: str, query: dict[str, str]) -> str:
    try:
        describe(what, begin(stage), query)
    except InvalidView as error:
        return str(error)
    return ""


def work(stage: Stage, watched: bool) -> tuple[float, str, str]:
    """Look twice, with or without somebody who looks at all views in between."""
    orchestrator = begin(stage)
    orchestrator.take_step(LOOK)
    environment = stage.environment
    if watched:
        before = environment.now
        for what in VIEWS:
            describe(what, orchestrator, {})
        assert environment.now == before
    step, _ = orchestrator.take_step(f'get_logs("{HOTEL}", "geo")')
    return environment.now, environment.cluster.api.log.hash(), step.observation


def solve(stage: Stage) -> tuple[Any, Any]:
    """Return the time series before and after the end."""
    orchestrator = begin(stage)
    orchestrator.take_step(REPAIR)
    before = describe("series", orchestrator, {})
    orchestrator.take_step("submit()")
    orchestrator.finish_problem()
    return before, describe("series", orchestrator, {})


def test_the_summary_shows_time_severity_and_users(prepared: Copy[Stage]) -> None:
    [summary] = ask(prepared, ("summary", {}))
    assert summary["namespace"] == HOTEL
    assert 0.1 < summary["severity"] <= 1
    assert summary["failed"] > 0.1
    assert summary["steps"] == 1
    assert summary["elapsed_s"] > 5
    assert sum(journey["requests"] for journey in summary["journeys"]) > 100
    assert sum(journey["errors"] for journey in summary["journeys"]) > 10


def test_the_topology_has_the_calls_with_their_traffic(prepared: Copy[Stage]) -> None:
    [topology] = ask(prepared, ("topology", {"seconds": "30"}))
    calls = {(call["parent"], call["child"]): call for call in topology["calls"]}
    assert calls["frontend", "search"]["rate"] > 1
    assert calls["frontend", "search"]["error_share"] > 0.5
    assert topology["users"]["rate"] > 5
    services = {service["service"]: service for service in topology["services"]}
    assert services["frontend"]["rate"] > 5
    assert services["search"]["p99_s"] > 0


def test_the_series_begin_with_the_baseline(prepared: Copy[Stage]) -> None:
    [series] = ask(prepared, ("series", {}))
    users = series["users"]
    assert users[0]["at_s"] < -120
    assert users[0]["errors"] == 0
    assert users[-1]["errors"] > 0.5
    assert users[-1]["at_s"] + series["bucket_s"] == pytest.approx(series["end_s"], abs=0.001)
    assert [marker["text"] for marker in series["markers"]] == ["exec_shell"]
    assert series["severity"][-1]["at_s"] == series["end_s"]


def test_the_injection_is_shown_only_after_the_end(prepared: Copy[Stage]) -> None:
    with prepared.branch() as branch:
        before, after = branch.call(solve)
    assert [marker["kind"] for marker in before["markers"]] == ["action"]
    markers = {marker["kind"]: marker for marker in after["markers"]}
    assert markers["verdict"]["text"] == "solved"
    assert -120 < markers["injection"]["at_s"] < -59
    assert after["end_s"] == markers["verdict"]["at_s"] == after["severity"][-1]["at_s"]


def test_pods_and_events_are_those_of_a_namespace(prepared: Copy[Stage]) -> None:
    pods, system, events = ask(prepared, ("pods", {}), ("pods", {"namespace": "kube-system"}), ("events", {}))
    geo = next(pod for pod in pods["pods"] if pod["workload"] == "geo")
    assert geo["name"].startswith("geo-")
    assert geo["status"] != "Running" or int(geo["restarts"].split()[0]) > 0
    assert {"frontend", "geo"} <= {workload["name"] for workload in pods["workloads"]}
    assert any(pod["name"].startswith("coredns-") for pod in system["pods"])
    assert "kube-system" in pods["namespaces"]
    warning = next(event for event in events["events"] if event["type"] == "Warning")
    assert warning["object"].startswith("pod/")
    assert warning["message"]
    assert [event["time"] for event in events["events"]] == sorted(
        (event["time"] for event in events["events"]), reverse=True
    )


def test_logs_are_of_a_workload_and_bounded(prepared: Copy[Stage]) -> None:
    geo, few, everything = ask(
        prepared,
        ("logs", {"workload": "geo"}),
        ("logs", {"workload": "geo", "lines": "3", "text": "mongo"}),
        ("logs", {}),
    )
    assert geo["lines"] and all(line["pod"].startswith("geo-") for line in geo["lines"])
    assert 0 < len(few["lines"]) <= 3 and all("mongo" in line["text"] for line in few["lines"])
    assert len({line["pod"] for line in everything["lines"]}) > 1
    assert len(everything["lines"]) == 200


def test_a_trace_is_a_waterfall(prepared: Copy[Stage]) -> None:
    [listed, failed] = ask(prepared, ("traces", {"service": "frontend"}), ("traces", {"errors": "1"}))
    assert "frontend" in listed["services"]
    assert len(listed["traces"]) == 30
    assert failed["traces"] and all(trace["errors"] for trace in failed["traces"])
    chosen = max(listed["traces"], key=lambda trace: trace["spans"])
    [trace] = ask(prepared, ("traces", {"id": chosen["id"]}))
    assert trace["rows"][0]["depth"] == 0
    assert len(trace["rows"]) == trace["spans"] > 1
    assert max(row["offset_us"] + row["duration_us"] for row in trace["rows"]) == trace["duration_us"]
    assert [row["depth"] for row in trace["rows"][:2]] == [0, 1]


def test_looking_changes_nothing(prepared: Copy[Stage]) -> None:
    with prepared.branch() as alone, prepared.branch() as watched:
        assert alone.call(work, False) == watched.call(work, True)


def test_no_view_names_the_problem_or_its_fault(prepared: Copy[Stage]) -> None:
    shown = ask(prepared, *((what, {}) for what in VIEWS if what != "logs"))
    text = json.dumps(shown).lower()
    assert "misconfig" not in text
    assert "inject" not in text
    assert "expected" not in text


@pytest.mark.parametrize(("what", "query", "message"), WRONG)
def test_a_wrong_request_is_explained(
    prepared: Copy[Stage], what: str, query: dict[str, str], message: str
) -> None:
    with prepared.branch() as branch:
        assert message in branch.call(refuse, what, query)
