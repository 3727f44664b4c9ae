"""Containers that end again and again, compared with a recorded timeline of several minutes."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.simcloud.kubernetes.kubelet.world import World

TIMELINE = Path(__file__).parent / "golden" / "crash-timeline.jsonl"


def recorded_states(name: str) -> list[str]:
    """The states of one pod in their order, each once."""
    rows = [json.loads(line) for line in TIMELINE.read_text().splitlines()]
    rows = [row for row in rows if row.get("row", "").split(" ")[0] == name]
    return _in_order(row["containerStatuses"][0][0] for row in rows)


def _in_order(statuses: Any) -> list[str]:
    states: list[str] = []
    for each in statuses:
        kind, said = next(iter(each["state"].items()))
        state = f"{each['restartCount']} {said.get('reason', kind)}"
        if states[-1:] != [state]:
            states.append(state)
    return states


def test_a_crashing_container_goes_through_the_recorded_states(world: World) -> None:
    world.run("fast", "sh", "-c", "exit 1")
    seen = []
    for _ in range(1_100):
        world.kernel.run_for(0.34)
        seen.append(world.status("fast") if world.pod("fast")["status"].get("containerStatuses") else None)
    states = _in_order(each for each in seen if each is not None)
    missing = [each for each in recorded_states("exit1-fast") if each not in states]
    # A state may be passed over between two looks; the order of those seen must be the recorded one.
    assert [each for each in states if each in recorded_states("exit1-fast")] == [
        each for each in recorded_states("exit1-fast") if each not in missing
    ]
    assert len(missing) <= 3, missing


def restarts(world: World, name: str, until_s: float) -> list[float]:
    """The moments at which the count of restarts grew."""
    moments, count = [], 0
    while world.kernel.now < until_s:
        world.kernel.run_for(0.5)
        statuses = world.pod(name)["status"].get("containerStatuses")
        if statuses and statuses[0]["restartCount"] > count:
            count = statuses[0]["restartCount"]
            moments.append(world.kernel.now)
    return moments


def test_pauses_between_restarts_grow(world: World) -> None:
    world.run("fast", "sh", "-c", "exit 1")
    moments = restarts(world, "fast", 400)
    pauses = [later - earlier for earlier, later in pairwise(moments)]
    for pause, (least, most) in zip(
        pauses, [(10, 19), (20, 34), (40, 64), (80, 130), (160, 250)], strict=False
    ):
        assert least <= pause <= most, pauses


def test_the_message_tells_the_pause(world: World) -> None:
    world.run("fast", "sh", "-c", "exit 1")
    uid = ""
    for _ in range(600):
        world.kernel.run_for(0.5)
        uid = world.pod("fast")["metadata"]["uid"]
        state = (world.pod("fast")["status"].get("containerStatuses") or [{"state": {}}])[0]["state"]
        if state.get("waiting", {}).get("reason") == "CrashLoopBackOff":
            break
    message = state["waiting"]["message"]
    assert message.endswith(f"restarting failed container=fast pod=fast_lab({uid})")
    assert message.split()[:2] in (["back-off", pause] for pause in ("10s", "20s", "40s", "1m20s", "2m40s"))


def test_a_container_that_lived_long_is_restarted_at_once_again(world: World) -> None:
    world.run("slow", "sh", "-c", "sleep 700; exit 1")
    world.kernel.run_for(702)
    world.kernel.run_for(5)
    assert world.status("slow")["restartCount"] == 1
    world.kernel.run_for(705)
    assert world.status("slow")["restartCount"] == 2
    assert "running" in world.status("slow")["state"]


def test_restart_policy_never_leaves_the_exit_code(world: World) -> None:
    world.run("once", "sh", "-c", "exit 7", restartPolicy="Never")
    world.kernel.run_for(10)
    pod = world.pod("once")
    assert pod["status"]["phase"] == "Failed"
    assert world.status("once")["state"]["terminated"]["exitCode"] == 7
    assert world.status("once")["restartCount"] == 0


def test_on_failure_restarts_only_failures(world: World) -> None:
    world.run("good", "true", restartPolicy="OnFailure")
    world.run("bad", "false", restartPolicy="OnFailure")
    world.kernel.run_for(20)
    assert world.pod("good")["status"]["phase"] == "Succeeded"
    assert world.pod("bad")["status"]["phase"] == "Running"
    assert world.status("bad")["restartCount"] >= 1


def test_a_killed_container_has_the_signals_exit_code(world: World) -> None:
    world.run("victim", "sh", "-c", "sleep 1000", restartPolicy="Never")
    world.kernel.run_for(5)
    record = next(iter(world.kubelet.node.runtime.pods.values())).containers[0]
    assert record.container is not None
    from simcloud.machine.process import Signal

    record.container.kill_all(Signal.KILL)
    world.kernel.run_for(5)
    ended = world.status("victim")["state"]["terminated"]
    assert (ended["exitCode"], ended["reason"]) == (137, "Error")


def test_a_container_beyond_its_memory_is_oom_killed(world: World) -> None:
    limits = {"resources": {"limits": {"memory": "32Mi"}}}
    world.run("oom", "tail", "/dev/zero", restartPolicy="Never", container=limits)
    world.kernel.run_for(10)
    ended = world.status("oom")["state"]["terminated"]
    assert (ended["exitCode"], ended["reason"]) == (137, "OOMKilled")


def test_termination_messages(world: World) -> None:
    world.run("file", "sh", "-c", "echo bad config > /dev/termination-log; exit 1", restartPolicy="Never")
    world.run(
        "log",
        "sh",
        "-c",
        "echo line1; echo panic: boom; exit 1",
        restartPolicy="Never",
        container={"terminationMessagePolicy": "FallbackToLogsOnError"},
    )
    world.kernel.run_for(10)
    assert world.status("file")["state"]["terminated"]["message"] == "bad config\n"
    assert world.status("log")["state"]["terminated"]["message"] == "line1\npanic: boom\n"
