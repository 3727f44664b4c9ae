"""Sessions from the first answer to the record, whatever an agent does: each runs in a copy of one prepared problem."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from aiopslab.orchestrator.orchestrator import NotReady, Orchestrator
from aiopslab.orchestrator.session import Step
from aiopslab.orchestrator.stages import Stage, Stages, run_episode
from aiopslab.utils.status import SubmissionStatus
from simcloud.world.copies import Copy, CopyFailed
from tests.aiopslab.orchestrator import agents_at_work as agents

NS = "test-hotel-reservation"
PROBLEM = "misconfig_app_hotel_res-detection-1"
LOOK = f'exec_shell("kubectl get pods -n {NS}")'
ANSWER = 'submit("Yes")'


@pytest.fixture
def copy(stages: Stages) -> Iterator[Copy[Stage]]:
    with stages.episode(PROBLEM) as fresh:
        yield fresh


def run(copy: Copy[Stage], make_agent: Callable[[], object], **settings: Any) -> dict[str, Any]:
    return copy.call(run_episode, make_agent, "tester", **settings)


def test_a_session_that_submits(copy: Copy[Stage], tmp_path: Path) -> None:
    result = run(copy, partial(agents.said, LOOK, ANSWER), results=tmp_path)
    assert result["ending"] == "submitted"
    assert result["final_state"] is SubmissionStatus.VALID_SUBMISSION
    assert [turn["role"] for turn in result["history"]] == ["assistant", "env"] * 2
    assert "NAME" in result["history"][1]["content"]
    assert result["results"]["Detection Accuracy"] == "Correct"
    assert result["results"]["steps"] == 2
    assert result["framework_overhead"] > 0
    record = json.loads(result["record"].read_text())
    assert record == result["session"]
    assert result["record"].name == f"{record['session_id']}_{record['start_time']}.json"
    assert (record["agent"], record["problem_id"], record["seed"]) == ("tester", PROBLEM, 5)
    assert (record["solution"], record["expected"]) == ("Yes", "Yes")
    assert NS in record["system_prompt"]["description"]
    assert {"exec_shell", "submit"} <= set(record["system_prompt"]["actions"])


def test_each_turn_costs_the_agent_s_thinking_and_the_action_s_own_time(copy: Copy[Stage]) -> None:
    result = run(copy, partial(agents.said, 'exec_shell("sleep 10")', LOOK, ANSWER), thinking_s=7.0)
    steps = result["session"]["steps"]
    assert steps[0]["at_s"] == 7.0
    assert 10.0 <= steps[0]["took_s"] < 10.5
    assert steps[1]["at_s"] == pytest.approx(14.0 + steps[0]["took_s"])
    assert result["results"]["TTD"] == result["session"]["simulated"]["duration_s"]


def test_an_agent_s_own_time_can_be_what_counts(copy: Copy[Stage]) -> None:
    result = run(copy, partial(agents.said, ANSWER), thinking_s="wall")
    assert result["session"]["steps"][0]["at_s"] == pytest.approx(
        result["session"]["wall"]["steps_s"][0], abs=1e-6
    )


def test_the_state_of_the_system_stands_beside_each_step(copy: Copy[Stage]) -> None:
    scale = f'exec_shell("kubectl -n {NS} scale deployment/search --replicas=0")'
    result = run(copy, partial(agents.said, LOOK, scale, 'exec_shell("sleep 25")', ANSWER))
    before, scaled, later, _ = result["session"]["steps"]
    assert before["changed"] == {}
    assert scaled["changed"] == {f"deployments/search ({NS})": "changed"}
    assert "deployments/search" in later["health"]["unhealthy"]
    assert later["health"]["severity"] > before["health"]["severity"] > 0


def test_what_an_agent_does_wrong_is_told_it_and_counts(copy: Copy[Stage]) -> None:
    wrong = [
        "I wonder what to do.",
        "get_pods()",
        "exec_shell()",
        'submit("Maybe")',
        "submit(1, 2, 3)",
        "submit({'a': [1]})",
        'get_logs("x", "y")\nget_logs("z", "y")',
    ]
    result = run(copy, partial(agents.said, *wrong, ANSWER))
    steps = result["session"]["steps"]
    assert [step["valid"] for step in steps] == [False] * len(wrong) + [True]
    assert all(step["observation"].strip() for step in steps)
    assert "get_logs" in steps[1]["observation"]
    assert '"Yes" or "No"' in steps[3]["observation"]
    assert not any("Traceback" in step["observation"] or "aiopslab" in step["observation"] for step in steps)
    assert result["ending"] == "submitted"
    assert result["results"]["steps"] == len(wrong) + 1
    assert result["results"]["invalid_actions"] == len(wrong)


def test_the_agent_is_told_what_came_of_its_action(copy: Copy[Stage]) -> None:
    told = copy.call(what_it_was_told)
    assert len(told) == 2
    assert told[0] == "Take your first action."
    assert told[1] == "hello\n\nTake your next action."


def what_it_was_told(stage: Stage) -> list[str]:
    agent = agents.Scripted(['exec_shell("echo hello")', ANSWER])
    run_episode(stage, lambda: agent)
    return agent.told


def test_steps_are_limited(copy: Copy[Stage]) -> None:
    result = run(copy, partial(agents.saying, LOOK), max_steps=3)
    assert (result["ending"], len(result["session"]["steps"])) == ("step limit", 3)
    assert result["results"]["Detection Accuracy"] == "Invalid Format"
    assert result["final_state"] == result["history"][-1]["content"]


def test_time_is_limited(copy: Copy[Stage]) -> None:
    result = run(copy, partial(agents.saying, "nothing"), time_limit_s=12.0)
    assert result["ending"] == "time limit"
    assert result["session"]["simulated"]["duration_s"] == 12.0
    assert len(result["session"]["steps"]) == 3


def test_a_command_that_still_runs_at_the_limit_of_time_is_ended_there(copy: Copy[Stage]) -> None:
    result = run(copy, partial(agents.saying, 'exec_shell("sleep 500", 600)'), time_limit_s=30.0)
    assert result["ending"] == "time limit"
    assert result["session"]["simulated"]["duration_s"] == 30.0
    (step,) = result["session"]["steps"]
    assert (step["at_s"], step["took_s"]) == (5.0, 25.0)
    assert "[killed after 25 s, because it was still running." in step["observation"]


def test_an_agent_that_raises(copy: Copy[Stage], tmp_path: Path) -> None:
    result = run(copy, agents.Raising, results=tmp_path)
    assert result["ending"] == "agent error"
    assert "no model behind the key [redacted] (" in result["why"]
    assert result["why"].endswith(", in get_action)")
    kept = result["record"].read_text()
    assert "no model behind the key [redacted]" in kept
    assert "sk-0123456789abcdef0123" not in kept
    assert result["results"]["success"] is None


def test_an_agent_that_wants_to_end_everything(copy: Copy[Stage], tmp_path: Path) -> None:
    result = run(copy, agents.Leaving, results=tmp_path)
    assert result["ending"] == "agent gone"
    assert result["record"].exists()


@pytest.mark.parametrize("make_agent", [agents.Hanging, agents.Sleeping])
def test_an_agent_that_hangs(copy: Copy[Stage], make_agent: Callable[[], object], tmp_path: Path) -> None:
    result = run(copy, make_agent, agent_timeout_s=0.3, results=tmp_path)
    assert result["ending"] == "agent timed out"
    assert result["why"]
    assert result["record"].exists()


def test_an_agent_that_floods(copy: Copy[Stage], tmp_path: Path) -> None:
    result = run(copy, agents.Flooding, max_steps=2, results=tmp_path)
    assert result["ending"] in ("step limit", "agent error")
    assert result["record"].stat().st_size < 2_000_000


@pytest.mark.parametrize("what", [None, 7, b"\xff\x00", ["submit()"], "", "\x00\ud800", "((((" * 5000])
def test_an_agent_that_answers_nonsense(copy: Copy[Stage], what: Any, tmp_path: Path) -> None:
    result = run(copy, partial(agents.saying, what), max_steps=2, results=tmp_path)
    assert result["ending"] in ("step limit", "agent error")
    assert result["results"]["success"] is (None if result["ending"] == "agent error" else False)
    assert json.loads(result["record"].read_text())["ending"] == result["ending"]


def test_an_agent_whose_process_dies(copy: Copy[Stage], tmp_path: Path) -> None:
    result = run(copy, agents.dying, results=tmp_path)
    assert result["ending"] == "agent gone"
    assert result["why"]
    assert json.loads(result["record"].read_text())["ending"] == "agent gone"


def test_a_full_disk_costs_the_record_and_says_so(copy: Copy[Stage], tmp_path: Path) -> None:
    result = copy.call(on_a_full_disk, tmp_path)
    assert result["ending"] == "submitted"
    assert result["results"]["Detection Accuracy"] == "Correct"
    assert result["record"] is None
    assert "could not be written" in result["record_error"]
    assert "another folder" in result["record_error"]
    assert result["session"]["trace"] == result["history"]
    assert list(tmp_path.iterdir()) == []


def on_a_full_disk(stage: Stage, folder: Path) -> dict[str, Any]:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
    return run_episode(stage, partial(agents.said, LOOK, ANSWER), results=folder)


def test_a_session_that_is_cancelled(copy: Copy[Stage], tmp_path: Path) -> None:
    assert copy.call(cancelled, tmp_path) == "TimeoutError"
    (path,) = tmp_path.iterdir()
    record = json.loads(path.read_text())
    assert record["ending"] == "interrupted"
    assert record["results"]["Detection Accuracy"] == "Invalid Format"


def cancelled(stage: Stage, folder: Path) -> str:
    orchestrator = Orchestrator(folder)
    assert stage.problem is not None
    orchestrator.use_problem(stage.problem)
    orchestrator.register_agent(agents.Hanging())
    try:
        asyncio.run(asyncio.wait_for(orchestrator.start_problem(), 0.2))
    except TimeoutError as error:
        return type(error).__name__
    return ""


def test_control_c_reaches_a_session_in_a_copy(copy: Copy[Stage], tmp_path: Path) -> None:
    begun, results = tmp_path / "begun", tmp_path / "results"
    with ThreadPoolExecutor() as threads:
        running = threads.submit(run, copy, partial(agents.thinking, str(begun)), results=results)
        while not begun.exists() and not running.done():
            time.sleep(0.02)
        os.kill(copy.pid, signal.SIGINT)
        with pytest.raises(CopyFailed, match="has ended"):
            running.result()
    (path,) = results.iterdir()
    record = json.loads(path.read_text())
    assert (record["ending"], len(record["steps"])) == ("interrupted", 1)


def test_an_interrupt_in_the_middle_of_the_world_s_own_work(stages: Stages, tmp_path: Path) -> None:
    with stages.episode(PROBLEM) as copy:
        detection = copy.call(interrupted_inside, tmp_path)
    with stages.episode("revoke_auth_mongodb-mitigation-1") as copy:
        mitigation = copy.call(interrupted_inside, tmp_path)
    assert [record["ending"] for record in (detection, mitigation)] == ["interrupted"] * 2
    assert [len(record["steps"]) for record in (detection, mitigation)] == [1, 1]
    assert detection["results"]["Detection Accuracy"] == "Invalid Format"
    # To judge a repair, time would have to pass in a world that cannot go on.
    assert mitigation["results"] == {}
    assert "cannot go on" in mitigation["why"]


def interrupted_inside(stage: Stage, folder: Path) -> dict[str, Any]:
    """As by Ctrl-C where nobody has taken care of it: it comes while the world takes a step."""
    kernel = stage.environment.world.kernel

    def interrupt(_: None) -> None:
        raise KeyboardInterrupt

    kernel.call_later(15.0, interrupt)
    try:
        run_episode(stage, partial(agents.said, LOOK, 'exec_shell("sleep 20")'), results=folder)
    except KeyboardInterrupt as error:
        path = error.__notes__[0].removeprefix("The record of the session is ").removesuffix(".")
        record: dict[str, Any] = json.loads(Path(path).read_text())
        return record
    return {}


def test_an_error_of_ours_is_raised_when_it_is_recorded(copy: Copy[Stage], tmp_path: Path) -> None:
    with pytest.raises(CopyFailed, match="ZeroDivisionError") as raised:
        run(copy, partial(agents.said, LOOK, ANSWER), on_step=broken_window, results=tmp_path)
    (path,) = tmp_path.iterdir()
    assert f"The record of the session is {path}." in str(raised.value)
    record = json.loads(path.read_text())
    assert record["ending"] == "harness error"
    assert "ZeroDivisionError" in record["why"]
    assert len(record["steps"]) == 1


def broken_window(step: Step) -> None:
    raise ZeroDivisionError(step.number)


def test_what_the_framework_does_not_get_done_with_ends_in_a_record(
    copy: Copy[Stage], tmp_path: Path
) -> None:
    long = 'exec_shell("sleep 600; echo token=ghp_0123456789abcdef0123456789abcdef0123", timeout=600)'
    with pytest.raises(CopyFailed, match="HarnessTimedOut") as raised:
        run(copy, partial(agents.said, long), action_timeout_s=0.01, results=tmp_path)
    (path,) = tmp_path.iterdir()
    assert f"The record of the session is {path}." in str(raised.value)
    record = json.loads(path.read_text())
    assert (record["ending"], record["results"], record["steps"]) == ("harness timed out", {}, [])
    assert "within 0.01 s of wall time" in record["why"]
    assert 'The agent had answered: exec_shell("sleep 600' in record["why"]
    assert "ghp_" not in record["why"]
    assert record["settings"]["action_timeout_s"] == 0.01


def test_judging_that_never_ends_is_broken_off(copy: Copy[Stage], tmp_path: Path) -> None:
    with pytest.raises(CopyFailed, match="HarnessTimedOut"):
        copy.call(judged_for_ever, tmp_path)
    (path,) = tmp_path.iterdir()
    record = json.loads(path.read_text())
    assert (record["ending"], record["results"], len(record["steps"])) == ("harness timed out", {}, 1)


def judged_for_ever(stage: Stage, folder: Path) -> None:
    assert stage.problem is not None

    def never(*_: object) -> dict[str, Any]:
        while True:
            pass

    stage.problem.task.eval = never  # type: ignore[method-assign]
    run_episode(stage, partial(agents.said, ANSWER), action_timeout_s=3.0, results=folder)


@pytest.mark.parametrize("limit_s", [0, -1, float("nan"), float("inf")])
def test_a_last_resort_that_makes_no_sense_is_refused(limit_s: float) -> None:
    with pytest.raises(ValueError, match="action_timeout_s must be above 0"):
        Orchestrator(action_timeout_s=limit_s)


def test_pods_reach_the_api_with_the_token_that_every_pod_has(copy: Copy[Stage]) -> None:
    home = "/var/run/secrets/kubernetes.io/serviceaccount"
    url = "https://kubernetes.default.svc/api/v1/namespaces/x/pods"
    inside = f'curl -sk -H "Authorization: Bearer $(cat {home}/token)" {url}'
    told = copy.call(typed, f"kubectl -n {NS} exec deploy/frontend -- sh -c '{inside}'")
    answer = json.loads(told)
    assert (answer["kind"], answer["code"], answer["reason"]) == ("Status", 403, "Forbidden")
    account = f"system:serviceaccount:{NS}:default"
    assert answer["message"].startswith(f'pods is forbidden: User "{account}" cannot list resource "pods"')


def typed(stage: Stage, line: str) -> str:
    assert stage.problem is not None
    return stage.problem.terminal.run(line).stdout.decode()


def test_an_operator_s_line_that_does_not_end_is_told(copy: Copy[Stage]) -> None:
    with pytest.raises(
        CopyFailed, match=r"sleep 60: it did not end within 2 simulated seconds. Use a longer timeout_s"
    ):
        copy.call(operated, "sleep 60", 2.0)
    copy.call(operated, "sleep 60", 61.0)


def operated(stage: Stage, line: str, timeout_s: float) -> None:
    stage.environment.operate(line, timeout_s)


def test_an_agent_sees_its_own_keys_and_records_do_not(copy: Copy[Stage], tmp_path: Path) -> None:
    lines = ('exec_shell("cat /root/.kube/config /root/.ssh/id_ed25519")', ANSWER)
    secrets = copy.call(secrets_of)
    result = run(copy, partial(agents.said, *lines), results=tmp_path)
    assert all(secret in result["history"][1]["content"] for secret in secrets)
    kept = result["record"].read_text()
    assert not any(secret in kept for secret in secrets)
    assert kept.count("client-key-data: [redacted]") == 2  # in the trace and in the step


def secrets_of(stage: Stage) -> tuple[str, ...]:
    assert stage.problem is not None
    return stage.problem.terminal.secrets


def test_tokens_are_counted_per_turn_where_the_agent_tells_them(copy: Copy[Stage]) -> None:
    result = run(copy, partial(agents.counting, LOOK, ANSWER))
    assert [(step["in_tokens"], step["out_tokens"]) for step in result["session"]["steps"]] == [(100, 10)] * 2
    assert (result["results"]["in_tokens"], result["results"]["out_tokens"]) == (200, 20)


def test_what_an_agent_left_running_does_not_work_on_while_it_is_judged(stages: Stages) -> None:
    leave = 'exec_shell("(sleep 20; kubectl create namespace late) > /dev/null 2>&1 &")'
    with stages.episode("misconfig_app_hotel_res-mitigation-1") as copy:
        result = run(copy, partial(agents.said, leave, "submit()"))
        assert result["results"]["success"] is False
        assert copy.call(namespace_exists, "late") is False


def namespace_exists(stage: Stage, name: str) -> bool:
    return any(
        one["metadata"]["name"] == name for one in stage.environment.cluster.api.log.objects("", "namespaces")
    )


def test_a_session_needs_a_problem_and_an_agent() -> None:
    orchestrator = Orchestrator(None)
    with pytest.raises(NotReady, match="register_agent"):
        asyncio.run(orchestrator.start_problem())
    orchestrator.register_agent(agents.Hanging())
    with pytest.raises(NotReady, match="init_problem"):
        asyncio.run(orchestrator.start_problem())


def test_a_problem_is_used_up_by_its_session(copy: Copy[Stage]) -> None:
    assert "init_problem" in copy.call(twice)


def twice(stage: Stage) -> str:
    orchestrator = Orchestrator(None)
    assert stage.problem is not None
    orchestrator.use_problem(stage.problem)
    orchestrator.register_agent(agents.Saying(ANSWER))
    asyncio.run(orchestrator.start_problem())
    try:
        asyncio.run(orchestrator.start_problem())
    except NotReady as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("setting", "value"), [("thinking_s", -1.0), ("thinking_s", float("nan")), ("time_limit_s", 0.0)]
)
def test_a_pace_that_makes_no_sense_is_refused(setting: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{setting} must be .* not"):
        Orchestrator(None, **{setting: value})  # type: ignore[arg-type]


@pytest.mark.slow
def test_other_teams_work_during_a_session_and_the_agent_is_not_charged_for_it(stages: Stages) -> None:
    look = 'exec_shell("kubectl get configmaps,poddisruptionbudgets,cronjobs,services -A -o json | jq .metadata,.items[].metadata.resourceVersion | md5sum")'
    wait = 'exec_shell("sleep 25")'
    with stages.episode("scaled_to_zero_hotel_res-mitigation+heavy") as drawn:
        result = run(drawn, partial(agents.said, look, *([wait] * 40), look, "submit()"), max_steps=50)
    steps = result["session"]["steps"]
    assert steps[0]["observation"] != steps[-2]["observation"], "somebody has changed something"
    assert not any(step["changed"] for step in steps), "it was not the agent"
    assert "root cause" in json.dumps(result["results"]), "what is left is the fault"
