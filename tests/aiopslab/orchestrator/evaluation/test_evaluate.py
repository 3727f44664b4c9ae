"""Sessions at a real incident, evaluated: who repairs, who breaks, who looks, who brings metrics."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from aiopslab.cloud.environment import Environment
from aiopslab.generators.fault.scale_pod_zero import ScalePodZero
from aiopslab.orchestrator.evaluation import Metric, evaluate, evaluate_record
from aiopslab.orchestrator.models import ScriptedModel
from aiopslab.orchestrator.records import build_record
from aiopslab.orchestrator.redaction import Redactor
from aiopslab.orchestrator.session import Session
from aiopslab.orchestrator.tasks import DetectionTask, MitigationTask, Task
from simcloud.world.copies import Copy
from tests.aiopslab.orchestrator.evaluation.steps import typed_session

NS = "test-hotel-reservation"
REPAIR = f"kubectl -n {NS} scale deployment/user --replicas=1"


def stop_logins(environment: Environment) -> None:
    """Nobody can log in any more."""
    ScalePodZero("user").inject(environment)
    environment.run_for(60.0)


def worked(
    environment: Environment,
    kind: type[Task],
    solution: Any,
    *lines: str,
    metrics: tuple[Metric, ...] = (),
    judge: ScriptedModel | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A session's results, and its record as it would be read back."""
    task = kind(environment.app, (ScalePodZero("user"),))
    task.environment, task.metrics = environment, metrics
    session = typed_session(task, solution, *lines)
    session.wall_began, session.wall_ended, session.wall_agent_s = 100.0, 103.0, 1.0
    results = evaluate(task, session, judge)
    prompt = {"description": task.get_task_description()}
    record = build_record(session, prompt, task.get_expected(), results, {}, Redactor())
    return results, json.loads(json.dumps(record))


def planted(task: Task, session: Session) -> dict[str, Any]:
    return {"typed": sum(len(step.args[0]) for step in session.steps)}


def failing(task: Task, session: Session) -> dict[str, Any]:
    raise ZeroDivisionError("no steps to divide by")


def greedy(task: Task, session: Session) -> dict[str, Any]:
    return {"steps": 0, "mine": 1}


@pytest.fixture(scope="module")
def incident(hotels: Copy[Environment]) -> Iterator[Copy[Environment]]:
    with hotels.branch(stop_logins) as copy:
        yield copy


def session_of(
    incident: Copy[Environment], kind: type[Task], solution: Any, *lines: str, **more: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    with incident.branch() as episode:
        return episode.call(worked, kind, solution, *lines, **more)


@pytest.fixture(scope="module")
def repaired(incident: Copy[Environment]) -> tuple[dict[str, Any], dict[str, Any]]:
    return session_of(incident, MitigationTask, True, f"kubectl -n {NS} get deploy", REPAIR, "sleep 20")


def test_the_tasks_own_keys_come_first_and_keep_their_names(
    repaired: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    results, _ = repaired
    assert list(results)[:2] == ["success", "TTM"]
    assert results["success"] is True
    assert results["TTM"] == results["simulated_s"] > 35.0
    assert results["steps"] == 3
    assert results["tokens_estimated"] is True
    assert results["wall"] == {"wall_s": 3.0, "agent_wall_s": 1.0, "framework_wall_s": 2.0}


def test_a_good_repair_does_no_harm(repaired: tuple[dict[str, Any], dict[str, Any]]) -> None:
    harm = repaired[0]["harm"]
    assert harm["regressions"] == []
    assert harm["changes_beyond_need"] == []
    assert harm["changing_steps"] == [2]
    assert harm["severity"]["start"] > 0.3
    assert harm["after"]["severity"] < 0.1
    assert harm["severity"]["area_s"] > 0


def test_the_fault_itself_burns_the_budget_of_its_journey(
    repaired: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    budget = repaired[0]["harm"]["error_budget"]
    assert budget["failed"] > 0
    assert budget["burn_rate_by_journey"]["user"] > 100
    assert budget["burn_rate_by_journey"]["search"] < 1
    share = budget["burn_rate"] * repaired[0]["simulated_s"] / (30 * 86_400)
    assert budget["burnt"] == pytest.approx(share, rel=0.01)


def test_a_record_gives_the_same_results_without_a_world(
    repaired: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    results, record = repaired
    assert evaluate_record(record) == json.loads(json.dumps(results))
    bare = evaluate_record({**record, "results": {}})
    for key in ("steps", "in_tokens", "actions_by_name", "simulated_s"):
        assert bare[key] == results[key]
    assert bare["harm"]["severity"] == results["harm"]["severity"]


def test_a_record_of_another_version_is_read_as_far_as_it_goes(
    repaired: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    results, record = repaired
    steps = [{**step, "mood": "good"} for step in record["steps"]]
    for step in steps:
        del step["changed"]
    again = evaluate_record({**record, "steps": steps})
    assert again["harm"] == json.loads(json.dumps(results["harm"]))


def test_what_an_agent_said_it_used_is_kept_when_a_record_is_read_again(
    repaired: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    said = {"in_tokens": 9, "out_tokens": 4, "tokens_estimated": False, "cost_usd": 0.5}
    record = {**repaired[1], "results": {**repaired[1]["results"], **said}}
    again = evaluate_record(record)
    assert {key: again[key] for key in said} == said


def test_an_agent_that_only_had_to_look_and_broke_something_shows_harm(incident: Copy[Environment]) -> None:
    results, _ = session_of(
        incident, DetectionTask, "Yes", "kubectl get pods -A", f"kubectl -n {NS} delete deploy/recommendation"
    )
    assert results["Detection Accuracy"] == "Correct"
    assert results["success"] is True
    [regression] = results["harm"]["regressions"]
    assert regression["step"] == 2
    assert "deployments/recommendation" in regression["became_unhealthy"]
    assert regression["mended_at_the_end"] is False
    assert results["harm"]["changes_beyond_need"] == ["deployments/recommendation was removed"]
    assert results["harm"]["after"]["severity"] > results["harm"]["severity"]["start"]


def test_looking_alone_does_no_harm(incident: Copy[Environment]) -> None:
    results, _ = session_of(
        incident, DetectionTask, "No", "kubectl get pods -A", f"kubectl -n {NS} describe pods"
    )
    assert results["Detection Accuracy"] == "Incorrect"
    harm = results["harm"]
    assert (harm["changing_steps"], harm["regressions"], harm["changes_beyond_need"]) == ([], [], [])


def test_restarting_what_keeps_no_one_waiting_is_seen_as_acting_though_nothing_is_declared(
    incident: Copy[Environment],
) -> None:
    results, _ = session_of(
        incident, DetectionTask, "Yes", f"kubectl -n {NS} delete pods -l io.kompose.service=geo"
    )
    assert results["harm"]["changing_steps"] == [1]
    assert results["harm"]["changes_beyond_need"] == []


def test_what_was_changed_and_changed_back_is_not_beyond_need(incident: Copy[Environment]) -> None:
    results, _ = session_of(
        incident,
        DetectionTask,
        "Yes",
        f"kubectl -n {NS} label service geo seen=yes",
        f"kubectl -n {NS} label service geo seen-",
        f"kubectl -n {NS} create configmap notes --from-literal=a=b",
    )
    assert results["harm"]["changes_beyond_need"] == ["configmaps/notes was added"]
    assert results["harm"]["changing_steps"] == [1, 2, 3]


def test_a_borrowed_name_hides_no_change(incident: Copy[Environment]) -> None:
    borrowed = "--as=system:apiserver --as-group=system:masters"
    results, _ = session_of(
        incident, DetectionTask, "Yes", f"kubectl {borrowed} -n {NS} label service geo seen=yes"
    )
    assert results["harm"]["changes_beyond_need"] == ["services/geo was changed (metadata.labels.seen)"]


def test_what_goes_with_its_namespace_is_beyond_need(incident: Copy[Environment]) -> None:
    results, _ = session_of(
        incident, DetectionTask, "Yes", f"kubectl delete namespace {NS} --wait=false", "sleep 60"
    )
    gone = results["harm"]["changes_beyond_need"]
    assert "deployments/frontend was removed" in gone
    assert results["harm"]["after"]["severity"] > 0.9


def test_authors_metrics_are_added_and_a_bad_one_costs_a_sentence(incident: Copy[Environment]) -> None:
    results, record = session_of(incident, DetectionTask, "Yes", "ls", metrics=(planted, failing, greedy))
    assert results["typed"] == 2
    assert results["steps"] == 1
    assert "mine" not in results
    failed, refused = results["metric_errors"]
    assert failed == "The metric failing failed: ZeroDivisionError: no steps to divide by"
    assert "The metric greedy returned existing keys (steps)" in refused
    assert record["results"]["typed"] == 2


def test_a_judge_is_given_the_truth_and_its_word_is_in_the_results(incident: Copy[Environment]) -> None:
    verdict = {
        "score": 2,
        "reasoning_supports_answer": False,
        "right_for_wrong_reasons": True,
        "judgement": "It did not look.",
    }
    results, record = session_of(incident, DetectionTask, "Yes", judge=ScriptedModel([json.dumps(verdict)]))
    assert results["reasoning_score"] == 2
    assert results["judge"]["right_for_wrong_reasons"] is True
    assert '"component": "user"' in results["judge"]["prompt"][1]["content"]
    assert record["results"]["reasoning_judgement"] == "It did not look."


def test_the_same_session_gives_the_same_results(incident: Copy[Environment]) -> None:
    one, other = (
        session_of(incident, DetectionTask, "Yes", f"kubectl -n {NS} scale deploy/geo --replicas=0")
        for _ in range(2)
    )
    assert one == other
