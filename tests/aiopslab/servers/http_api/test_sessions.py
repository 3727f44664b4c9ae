"""Sessions over HTTP: steps, events, records, agents, and what happens when something goes wrong."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aiopslab.servers.http_api import ServerLimits
from tests.aiopslab.servers.http_api.running_server import RunningServer, run_server

PROBLEM = "misconfig_app_hotel_res-detection-1"
LOOK = 'exec_shell("kubectl get pods -n test-hotel-reservation")'
LIMITS = ServerLimits(max_sessions=6, memory_mb=512)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with run_server(tmp_path_factory.mktemp("results"), LIMITS) as running:
        yield running
    assert [path.name for path in running.results.glob("unfinished-*")] == []


@pytest.fixture
def session(server: RunningServer) -> Iterator[dict[str, Any]]:
    begun = server.begin(PROBLEM)
    yield begun
    server.ask("DELETE", f"/api/sessions/{begun['id']}")


def read_events(data: bytes) -> list[tuple[int, str, Any]]:
    """Return number, kind and content of server-sent events."""
    events = []
    for block in data.decode().strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if fields:
            events.append((int(fields["id"]), fields["event"], json.loads(fields["data"])))
    return events


def test_a_session_from_its_order_to_its_record(server: RunningServer) -> None:
    begun = server.begin(PROBLEM, seed=0, max_steps=5)
    place = f"/api/sessions/{begun['id']}"
    assert (begun["state"], begun["problem"], begun["task"]) == ("open", PROBLEM, "detection")
    assert "test-hotel-reservation" in begun["observation"] and "submit" in begun["instructions"]
    assert {"exec_shell", "submit"} <= {tool["name"] for tool in begun["actions"]}
    assert server.ask("GET", f"{place}/actions").json == begun["actions"]

    looked = server.act(begun["id"], LOOK).json
    assert looked["step"] == 1 and not looked["ended"] and looked["results"] is None
    assert "geo" in looked["observation"]
    by_name = {"name": "exec_shell", "arguments": {"command": "echo two words"}}
    assert "two words" in server.ask("POST", f"{place}/actions", by_name).json["observation"]
    assert "There is no action" in server.act(begun["id"], "guess()").json["observation"]

    open_record = server.ask("GET", f"{place}/record").json
    assert open_record["ending"] == "in progress" and len(open_record["steps"]) == 3
    assert not {"expected", "solution", "results", "settings", "session_id"} & open_record.keys()

    ended = server.act(begun["id"], 'submit("Yes")').json
    assert ended["ended"] and ended["results"]["success"] is True
    record = server.ask("GET", f"{place}/record").json
    assert (record["ending"], record["expected"], record["agent"]) == ("submitted", "Yes", "client")
    assert [step["api_name"] for step in record["steps"]] == ["exec_shell", "exec_shell", "guess", "submit"]

    events = read_events(server.ask("GET", f"{place}/events").data)
    kinds = [kind for _, kind, _ in events]
    assert kinds == ["open", *["step", "severity"] * 4, "ended"]
    assert [number for number, _, _ in events] == list(range(1, 11))
    later = read_events(server.ask("GET", f"{place}/events", headers={"Last-Event-ID": "8"}).data)
    assert later == events[8:]
    assert events[-1][2]["results"]["success"] is True

    over = server.act(begun["id"], LOOK)
    assert (over.status, over.error) == (410, "The session is over. Its record has everything that happened.")
    listed = server.ask("GET", "/api/records").json
    (stored,) = [row for row in listed if row["name"] == ended_name(server, begun["id"])]
    assert (stored["problem"], stored["success"], stored["steps"]) == (PROBLEM, True, 4)
    assert server.ask("GET", f"/api/records/{stored['name']}").json == record


def ended_name(server: RunningServer, id: str) -> str:
    return str(server.ask("GET", f"/api/sessions/{id}").json["record"])


def test_the_step_limit_ends_a_session(server: RunningServer) -> None:
    begun = server.begin(PROBLEM, max_steps=1)
    ended = server.act(begun["id"], LOOK).json
    assert ended["ended"] and ended["results"]["success"] is False
    assert server.ask("GET", f"/api/sessions/{begun['id']}").json["ending"] == "step limit"


def test_a_drawn_problem_has_no_name_before_the_end(server: RunningServer) -> None:
    answer = server.ask(
        "POST", "/api/sessions", {"suite": "smoke", "app": "hotel-reservation", "task": "detection"}
    )
    begun = answer.json
    place = f"/api/sessions/{begun['id']}"
    assert "problem" not in begun and "problem" not in server.ask("GET", place).json
    assert "problem_id" not in server.ask("GET", f"{place}/record").json
    running = [path.name for path in server.results.glob("unfinished-*")]
    assert running and all(server.ask("GET", f"/api/records/{name}").status == 404 for name in running)
    ended = server.ask("DELETE", place).json
    assert ended["ending"] == "interrupted" and ended["problem"].endswith(("-detection", "-1"))
    assert server.ask("DELETE", place).json == ended


def test_a_view_is_made_in_the_session_and_takes_no_step(
    server: RunningServer, session: dict[str, Any]
) -> None:
    place = f"/api/sessions/{session['id']}"
    summary = server.ask("GET", f"{place}/view/summary").json
    assert (summary["elapsed_s"], summary["severity"]) == (0.0, session["severity"])
    server.act(session["id"], LOOK)
    assert server.ask("GET", f"{place}/view/summary").json["elapsed_s"] > 0
    wrong = server.ask("GET", f"{place}/view/answer")
    assert wrong.status == 400 and "Choose one of: " in wrong.error


def test_the_course_of_an_ended_session_can_still_be_seen(server: RunningServer) -> None:
    begun = server.begin(PROBLEM)
    place = f"/api/sessions/{begun['id']}"
    assert server.ask("GET", f"{place}/view/series").json["markers"] == []
    server.act(begun["id"], 'submit("Yes")')
    series = server.ask("GET", f"{place}/view/series").json
    assert [marker["kind"] for marker in series["markers"]] == ["action", "verdict", "injection"]
    assert server.ask("GET", f"{place}/view/summary").json["ending"] == "submitted"
    assert server.ask("GET", f"{place}/view/topology").status == 410


def test_faults_are_described(server: RunningServer) -> None:
    faults = {fault["name"]: fault for fault in server.ask("GET", "/api/faults").json}
    assert faults["wrong_selector"]["layer"] == "virtualization"
    described = server.ask("GET", "/api/faults/wrong_selector").json
    assert described["repair"] == "Make the objects as they were."
    assert "wrong_selector_hotel_res-mitigation" in described["problems"]
    assert "Misconfiguration" in described["analysis"]
    unknown = server.ask("GET", "/api/faults/no_fault")
    assert unknown.status == 404 and unknown.error == "There is no such fault. GET /api/faults lists all."


def test_of_two_actions_at_once_the_second_is_refused(server: RunningServer, session: dict[str, Any]) -> None:
    answers: list[int] = []

    def act() -> None:
        answers.append(server.act(session["id"], 'exec_shell("sleep 29; echo done")').status)

    threads = [threading.Thread(target=act) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers)[0] == 200
    assert set(answers) <= {200, 409}
    assert server.ask("GET", f"/api/sessions/{session['id']}").json["steps"] == answers.count(200)


def test_a_killed_process_ends_its_session_in_a_record(server: RunningServer) -> None:
    begun = server.begin(PROBLEM)
    server.act(begun["id"], LOOK)
    server.kill(begun["id"])
    lost = server.act(begun["id"], LOOK)
    assert lost.status in (410, 500) and "Begin a new session" in lost.error
    ended = server.wait_for_end(begun["id"])
    record = server.ask("GET", f"/api/records/{ended['record']}").json
    assert (record["ending"], len(record["steps"]), record["results"]) == ("cut off", 1, {})
    assert record["problem_id"] == PROBLEM and "killed" in record["why"]


def test_a_process_that_dies_unnoticed_is_found(server: RunningServer) -> None:
    begun = server.begin(PROBLEM)
    server.kill(begun["id"])
    assert server.wait_for_end(begun["id"])["ending"] == "cut off"


def test_an_idle_session_and_one_that_takes_too_long_end(server: RunningServer) -> None:
    idle = server.begin(PROBLEM)
    server.sessions.limits = replace(LIMITS, idle_timeout_s=0.0)
    try:
        assert "no request" in server.wait_for_end(idle["id"])["why"]
        server.sessions.limits = replace(LIMITS, max_time_s=0.0)
        late = server.ask("POST", "/api/sessions", {"problem": PROBLEM}).json
        assert "longer than the server allows" in server.wait_for_end(late["id"])["why"]
    finally:
        server.sessions.limits = LIMITS


def test_a_session_that_outgrows_its_memory_fails_alone(
    server: RunningServer, session: dict[str, Any]
) -> None:
    server.sessions.limits = replace(LIMITS, memory_mb=1)
    try:
        small = server.begin(PROBLEM, max_steps=100)
    finally:
        server.sessions.limits = LIMITS
    line = "kubectl get pods -A -o yaml; kubectl get all -A -o json; seq 1 200000 | sort | uniq | tail -1"
    answer = server.act(small["id"], f'exec_shell("{line}")')
    assert answer.status == 500
    ended = server.wait_for_end(small["id"])
    assert ended["ending"] in (
        "harness error",
        "cut off",
    )  # the latter if nothing is left to raise the error with
    assert server.ask("GET", f"/api/records/{ended['record']}").json["problem_id"] == PROBLEM
    assert server.act(session["id"], LOOK).status == 200


def test_an_agent_works_while_others_watch(server: RunningServer) -> None:
    begun = server.begin(PROBLEM, agent="noop")
    refused = server.act(begun["id"], LOOK)
    assert refused.status in (409, 410)
    ended = server.wait_for_end(begun["id"])
    assert (ended["ending"], ended["agent"], ended["results"]["success"]) == ("submitted", "noop", False)
    record = server.ask("GET", f"/api/records/{ended['record']}").json
    assert record["agent"] == "noop" and record["wall"]["agent_s"] > 0


def test_agents_and_models_are_those_of_the_server(server: RunningServer) -> None:
    for name in ("nobody", "cmd:touch /tmp/x", "scripted:/etc/passwd", "my_agent.py:Agent"):
        assert server.ask("POST", "/api/sessions", {"problem": PROBLEM, "agent": name}).status == 404
    order = {"problem": PROBLEM, "agent": "react", "model": "gpt?base_url=http://elsewhere"}
    assert "not offered" in server.ask("POST", "/api/sessions", order).error


def test_the_public_service_s_requests(server: RunningServer) -> None:
    order = {"problem_id": PROBLEM, "agent_name": "noop", "temperature": 0.7}
    answer = server.ask("POST", "/simulate", order).json
    assert set(answer) == {"agent", "session_id", "problem_id", "start_time", "end_time", "trace", "results"}
    assert answer["results"]["Detection Accuracy"] == "Incorrect"
    unknown = server.ask("POST", "/simulate", {**order, "problem_id": "no-such-problem"})
    assert unknown.status == 404 and "no-such-problem" in unknown.json["detail"]
    assert server.ask("POST", "/simulate", {**order, "agent_name": "gpt"}).status == 404
    assert PROBLEM in server.ask("GET", "/problems").json
    assert "noop" in server.ask("GET", "/agents").json
    assert server.ask("GET", "/health", token=None).json["status"] == "healthy"


def test_a_session_s_token_opens_that_session_to_its_agent(
    server: RunningServer, session: dict[str, Any]
) -> None:
    other = server.begin(PROBLEM, max_steps=1)
    token = other["token"]
    place = f"/api/sessions/{other['id']}"
    described = server.ask("GET", place, token=token).json
    assert described["actions"] and not {"problem", "severity", "results", "token"} & described.keys()
    for method, path in (
        ("GET", "/api/sessions"),
        ("GET", f"/api/sessions/{session['id']}"),
        ("POST", f"/api/sessions/{session['id']}/actions"),
        ("GET", f"{place}/record"),
        ("GET", f"{place}/events"),
        ("GET", f"{place}/view/summary"),
        ("DELETE", place),
        ("GET", "/api/records"),
        ("POST", "/api/sessions"),
    ):
        assert server.ask(method, path, {}, token=token).status == 403, (method, path)
    acted = server.ask("POST", f"{place}/actions", {"action": 'submit("Yes")'}, token=token).json
    assert acted["ended"] and acted["results"] is None
    assert server.ask("GET", place, token=f"{other['id']}.guess").status == 401


def test_there_are_not_more_sessions_than_allowed(server: RunningServer, session: dict[str, Any]) -> None:
    begun = [server.begin(PROBLEM) for _ in range(LIMITS.max_sessions - 1)]
    refused = server.ask("POST", "/api/sessions", {"problem": PROBLEM})
    assert (refused.status, refused.headers["retry-after"]) == (429, "10")
    for other in begun:
        assert server.ask("DELETE", f"/api/sessions/{other['id']}").status == 200
    again = server.begin(PROBLEM)
    assert server.ask("DELETE", f"/api/sessions/{again['id']}").status == 200


def test_a_world_that_cannot_be_prepared_is_an_error(server: RunningServer) -> None:
    unknown = server.ask("POST", "/api/sessions", {"problem": "misconfig_app_hotel_res-detection-9"})
    assert unknown.status == 404 and "Did you mean" in unknown.error
    for problem in ("a\nb", "x" * 201):
        assert server.ask("POST", "/api/sessions", {"problem": problem}).status in (400, 404)
    fixed = server.ask("POST", "/api/sessions", {"problem": PROBLEM, "noise": "heavy"})
    assert fixed.status == 404


@pytest.mark.slow
def test_stopping_the_server_closes_every_record(tmp_path: Path) -> None:
    with run_server(tmp_path, LIMITS) as running:
        begun = running.begin(PROBLEM)
        running.act(begun["id"], LOOK)
        preparing = running.ask("POST", "/api/sessions", {"problem": PROBLEM, "wait": False}).json
        assert preparing["state"] == "preparing" and preparing["actions"] is None
    records = [json.loads(path.read_text()) for path in tmp_path.glob("*.json")]
    assert sorted(len(record["steps"]) for record in records) == [0, 1]
    assert {(record["ending"], record["why"]) for record in records} == {
        ("interrupted", "The server was stopped.")
    }
