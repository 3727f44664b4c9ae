"""The word that a pod's STATUS column says, for every way a pod can be."""

from __future__ import annotations

from typing import Any

import pytest

from simcloud.kubernetes.api import times
from simcloud.kubernetes.api.resources import Catalogue
from simcloud.kubernetes.api.tables import make_table

PODS = Catalogue().find("pods")
NOW_S = times.parse("2026-11-15T12:00:00Z")
RUNNING = {"running": {"startedAt": "2026-11-15T11:00:00Z"}}


def waiting(reason: str) -> dict[str, Any]:
    return {"waiting": {"reason": reason}}


def ended(code: int, reason: str = "", signal: int = 0) -> dict[str, Any]:
    state: dict[str, Any] = {"exitCode": code}
    if reason:
        state["reason"] = reason
    if signal:
        state["signal"] = signal
    return {"terminated": state}


def status_of(name: str, state: dict[str, Any], *, ready: bool = False, **more: Any) -> dict[str, Any]:
    return {"name": name, "state": state, "ready": ready, "restartCount": 0, **more}


def pod(
    *containers: dict[str, Any],
    init: tuple[dict[str, Any], ...] = (),
    sidecars: tuple[str, ...] = (),
    phase: str = "Running",
    conditions: tuple[tuple[str, str], ...] = (),
    **metadata: Any,
) -> dict[str, Any]:
    return {
        "metadata": {"name": "p", "creationTimestamp": "2026-11-15T11:00:00Z", **metadata},
        "spec": {
            "containers": [{"name": one["name"]} for one in containers] or [{"name": "a"}],
            "initContainers": [
                {"name": one["name"], **({"restartPolicy": "Always"} if one["name"] in sidecars else {})}
                for one in init
            ],
        },
        "status": {
            "phase": phase,
            "conditions": [{"type": kind, "status": value} for kind, value in conditions],
            "initContainerStatuses": list(init),
            "containerStatuses": list(containers),
        },
    }


def cells(obj: dict[str, Any]) -> list[Any]:
    row: list[Any] = make_table(PODS, [obj], now_s=NOW_S)["rows"][0]["cells"]
    return row


UP = status_of("a", RUNNING, ready=True)
INITIALIZED = (("Initialized", "True"),)
READY = (("Initialized", "True"), ("Ready", "True"))

CASES = {
    "just made": (pod(phase="Pending"), "0/1", "Pending"),
    "no status at all": ({"metadata": {"name": "p"}, "spec": {"containers": [{}]}}, "0/1", ""),
    "running": (pod(UP, conditions=READY), "1/1", "Running"),
    "running, not ready": (pod(status_of("a", RUNNING)), "0/1", "Running"),
    "creating": (
        pod(status_of("a", waiting("ContainerCreating")), phase="Pending"),
        "0/1",
        "ContainerCreating",
    ),
    "no such image": (
        pod(status_of("a", waiting("ImagePullBackOff")), phase="Pending"),
        "0/1",
        "ImagePullBackOff",
    ),
    "crashing": (pod(status_of("a", waiting("CrashLoopBackOff"))), "0/1", "CrashLoopBackOff"),
    "exited well": (pod(status_of("a", ended(0, "Completed")), phase="Succeeded"), "0/1", "Completed"),
    "exited badly": (pod(status_of("a", ended(1, "Error")), phase="Failed"), "0/1", "Error"),
    "out of memory": (pod(status_of("a", ended(137, "OOMKilled"))), "0/1", "OOMKilled"),
    "exit code only": (pod(status_of("a", ended(3))), "0/1", "ExitCode:3"),
    "signal only": (pod(status_of("a", ended(137, signal=9))), "0/1", "Signal:9"),
    "the first container's word": (
        pod(status_of("a", waiting("CrashLoopBackOff")), status_of("b", ended(1, "Error"))),
        "0/2",
        "CrashLoopBackOff",
    ),
    "one completed, one runs and the pod is ready": (
        pod(status_of("a", ended(0, "Completed")), status_of("b", RUNNING, ready=True), conditions=READY),
        "1/2",
        "Running",
    ),
    "one completed, one runs and the pod is not ready": (
        pod(
            status_of("a", ended(0, "Completed")), status_of("b", RUNNING, ready=True), conditions=INITIALIZED
        ),
        "1/2",
        "NotReady",
    ),
    "one completed, one failed": (
        pod(status_of("a", ended(0, "Completed")), status_of("b", ended(2, "Error"))),
        "0/2",
        "Error",
    ),
    "initializing": (
        pod(
            status_of("a", waiting("PodInitializing")),
            init=(status_of("i", ended(0, "Completed")), status_of("j", RUNNING)),
            phase="Pending",
            conditions=(("Initialized", "False"),),
        ),
        "0/1",
        "Init:1/2",
    ),
    "init waits for its turn": (
        pod(init=(status_of("i", waiting("PodInitializing")),), phase="Pending"),
        "0/1",
        "Init:0/1",
    ),
    "init failed": (pod(init=(status_of("i", ended(1, "Error")),), phase="Pending"), "0/1", "Init:Error"),
    "init failed without a word": (
        pod(init=(status_of("i", ended(4)),), phase="Pending"),
        "0/1",
        "Init:ExitCode:4",
    ),
    "init was killed": (
        pod(init=(status_of("i", ended(137, signal=9)),), phase="Pending"),
        "0/1",
        "Init:Signal:9",
    ),
    "init crashes": (
        pod(init=(status_of("i", waiting("CrashLoopBackOff")),), phase="Pending"),
        "0/1",
        "Init:CrashLoopBackOff",
    ),
    "initialized, now starting": (
        pod(
            status_of("a", waiting("PodInitializing")),
            init=(status_of("i", ended(0, "Completed")),),
            phase="Pending",
            conditions=INITIALIZED,
        ),
        "0/1",
        "PodInitializing",
    ),
    "a sidecar counts": (
        pod(UP, init=(status_of("s", RUNNING, ready=True, started=True),), sidecars=("s",), conditions=READY),
        "2/2",
        "Running",
    ),
    "a sidecar that is not ready": (
        pod(UP, init=(status_of("s", RUNNING, started=True),), sidecars=("s",), conditions=READY),
        "1/2",
        "Running",
    ),
    "a sidecar that has not started": (
        pod(init=(status_of("s", RUNNING, started=False),), sidecars=("s",), phase="Pending"),
        "0/2",
        "Init:0/1",
    ),
    "a sidecar crashes later": (
        pod(UP, init=(status_of("s", waiting("CrashLoopBackOff")),), sidecars=("s",), conditions=READY),
        "1/2",
        "Init:CrashLoopBackOff",
    ),
    "terminating": (
        pod(UP, conditions=READY, deletionTimestamp="2026-11-15T12:00:30Z"),
        "1/1",
        "Terminating",
    ),
    "finished and deleted": (
        pod(
            status_of("a", ended(0, "Completed")), phase="Succeeded", deletionTimestamp="2026-11-15T12:00:30Z"
        ),
        "0/1",
        "Completed",
    ),
}


@pytest.mark.parametrize(("obj", "ready", "status"), CASES.values(), ids=CASES.keys())
def test_ready_and_status(obj: dict[str, Any], ready: str, status: str) -> None:
    assert cells(obj)[1:3] == [ready, status]


def test_a_reason_of_the_pod_itself() -> None:
    evicted = pod(phase="Failed")
    evicted["status"]["reason"] = "Evicted"
    assert cells(evicted)[2] == "Evicted"


def test_a_pod_of_a_lost_node() -> None:
    lost = pod(UP, deletionTimestamp="2026-11-15T12:00:30Z")
    lost["status"]["reason"] = "NodeLost"
    assert cells(lost)[2] == "Unknown"


def test_a_gated_pod() -> None:
    gated = pod(phase="Pending")
    gated["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]
    assert cells(gated)[2] == "SchedulingGated"


def ended_at(time: str) -> dict[str, Any]:
    return {"lastState": {"terminated": {"finishedAt": time}}}


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        (pod(UP), "0"),
        (pod({**UP, "restartCount": 3}), "3"),
        (pod({**UP, "restartCount": 3, **ended_at("2026-11-15T11:55:00Z")}), "3 (5m ago)"),
        (pod({**UP, **ended_at("2026-11-15T11:55:00Z")}), "0"),
        (
            pod(
                {**UP, "restartCount": 1, **ended_at("2026-11-15T11:00:00Z")},
                {**status_of("b", RUNNING), "restartCount": 2, **ended_at("2026-11-15T11:59:00Z")},
            ),
            "3 (60s ago)",
        ),
        # What an init container went through no longer counts once the containers run, unless it is a sidecar.
        (pod(UP, init=({**status_of("i", ended(0, "Completed")), "restartCount": 4},)), "0"),
        (pod(init=({**status_of("i", ended(1, "Error")), "restartCount": 4},), phase="Pending"), "4"),
        (
            pod(
                UP,
                init=(
                    {
                        **status_of("s", RUNNING, started=True),
                        "restartCount": 2,
                        **ended_at("2026-11-15T11:58:00Z"),
                    },
                ),
                sidecars=("s",),
            ),
            "2 (2m ago)",
        ),
    ],
)
def test_restarts(obj: dict[str, Any], expected: str) -> None:
    assert cells(obj)[3] == expected


def test_wide_cells() -> None:
    assert cells(pod(UP))[4:] == ["60m", "<none>", "<none>", "<none>", "<none>"]
    placed = pod(UP, conditions=(("a.example/x", "True"), ("b.example/y", "False")))
    placed["spec"] |= {
        "nodeName": "worker",
        "readinessGates": [{"conditionType": kind} for kind in ("a.example/x", "b.example/y", "c.example/z")],
    }
    placed["status"] |= {"podIPs": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}], "nominatedNodeName": "other"}
    assert cells(placed)[5:] == ["10.0.0.1", "worker", "other", "1/3"]


@pytest.mark.parametrize(
    ("phase", "conditions"),
    [
        ("Running", None),
        (
            "Succeeded",
            [
                {
                    "type": "Completed",
                    "status": "True",
                    "reason": "Succeeded",
                    "message": "The pod has completed successfully.",
                }
            ],
        ),
        (
            "Failed",
            [{"type": "Completed", "status": "True", "reason": "Failed", "message": "The pod failed."}],
        ),
    ],
)
def test_the_row_of_a_pod_that_is_done_says_so(phase: str, conditions: Any) -> None:
    row = make_table(PODS, [pod(phase=phase)], now_s=NOW_S)["rows"][0]
    assert row.get("conditions") == conditions
