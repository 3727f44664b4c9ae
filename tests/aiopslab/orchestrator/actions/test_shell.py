"""The agent's terminal: what comes out, what would hang, and what a policy refuses."""

from __future__ import annotations

import pytest

from aiopslab.cloud.environment import Environment
from simcloud.world.copies import Copy
from tests.aiopslab.orchestrator.actions.sessions import HOTEL, say, spent


def test_output_then_errors_then_exit_code(hotels: Copy[Environment]) -> None:
    both, quiet, failed, code = say(
        hotels,
        ("exec_shell", "echo out; echo err >&2"),
        ("exec_shell", "true"),
        ("exec_shell", "ls /nothing"),
        ("exec_shell", "exit 3"),
    )
    assert both == "out\nerr"
    assert quiet == "[no output]"
    assert failed == "ls: cannot access '/nothing': No such file or directory\n[exit code 2]"
    assert code == "[exit code 3]"


def test_one_terminal_for_the_whole_session(hotels: Copy[Environment]) -> None:
    _, kept, listed = say(
        hotels,
        ("exec_shell", "echo hello > /tmp/note; kubectl port-forward -n test-hotel-reservation svc/frontend 8080:5000 > /tmp/pf 2>&1 &"),
        ("exec_shell", "cat /tmp/note"),
        ("exec_shell", "sleep 2; curl -s -o /dev/null -w '%{http_code}' 'localhost:8080/user?username=Cornell_7&password=7777777777'"),
    )  # fmt: skip
    assert kept == "hello"
    assert listed == "200"


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (f"kubectl logs -f -n {HOTEL} deploy/frontend", "Serving http"),
        (f"kubectl get pods -w -n {HOTEL}", "frontend-"),
        (f"kubectl port-forward -n {HOTEL} svc/frontend 8080:5000", "Forwarding from 127.0.0.1:8080 -> 5000"),
        ("tail -f /etc/passwd", "root:x:0:0"),
        ("sleep 100", ""),
    ],
)
def test_what_never_ends_runs_for_the_time_given(hotels: Copy[Environment], line: str, shown: str) -> None:
    with hotels.branch() as episode:
        seen, took_s = episode.call(spent, ("exec_shell", line, {"timeout": 7}))
    assert took_s == pytest.approx(7.0)
    assert shown in seen
    assert "[killed after 7 s, because it was still running. Use a longer timeout" in seen
    assert seen.endswith("[exit code 124]")


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        (
            f"kubectl edit deploy/geo -n {HOTEL}",
            "use 'kubectl patch', 'kubectl set' or 'kubectl apply -f FILE'",
        ),
        ("vi /tmp/x", "Vim: Error reading input, exiting..."),
        ("watch -n 2 date", "run the command itself, in a loop with sleep"),
        ("top", "use 'top -b -n 1', or 'kubectl top pods -A'"),
        (f"kubectl exec -it -n {HOTEL} deploy/geo -- bash", "pass the command to run, without -i and -t"),
        ("python3 -c 'print(1)'", "python3: command not found"),
    ],
)
def test_what_wants_a_person_says_what_to_use_instead(
    hotels: Copy[Environment], line: str, instead: str
) -> None:
    with hotels.branch() as episode:
        seen, took_s = episode.call(spent, ("exec_shell", line))
    assert instead in seen
    assert took_s < 1


@pytest.mark.parametrize("timeout", [0, -1])
def test_a_time_that_is_none_is_refused(hotels: Copy[Environment], timeout: int) -> None:
    (seen,) = say(hotels, ("exec_shell", "true", timeout))
    assert seen.startswith("INVALID: timeout must be above 0 seconds")


@pytest.mark.slow
def test_nobody_waits_for_longer_than_ten_minutes(hotels: Copy[Environment]) -> None:
    with hotels.branch(quiet) as episode:
        seen, took_s = episode.call(spent, ("exec_shell", "sleep 1000", 10**9))
    assert took_s == pytest.approx(600.0)
    assert "[killed after 600 s, because it was still running." in seen


def quiet(environment: Environment) -> None:
    """With hardly any users time passes faster."""
    environment.load.share = 0.01


@pytest.mark.parametrize(
    "line", ["seq 100000", "yes", "head -c 1000000 /dev/zero", "kubectl get pods -A -o yaml"]
)
def test_long_output_is_cut_and_says_so(hotels: Copy[Environment], line: str) -> None:
    (seen,) = say(hotels, ("exec_shell", line))
    assert len(seen.encode()) < 50_000
    assert "omitted: to see the rest, filter it with grep, head or tail" in seen
    assert "\0" not in seen


@pytest.mark.parametrize(
    ("policy", "line", "refusal"),
    [
        ("read-only", f"kubectl -n {HOTEL} get pods", ""),
        ("read-only", f"kubectl -n {HOTEL} scale deploy/geo --replicas=0", 'User "read-only" cannot patch resource'),
        ("read-only", f"kubectl -n {HOTEL} get secrets", 'User "read-only" cannot list resource "secrets"'),
        ("read-only", "ssh kind-worker true", "Permission denied (publickey)"),
        ("operator", f"kubectl -n {HOTEL} scale deploy/geo --replicas=1", ""),
        ("operator", "kubectl delete clusterrole view", 'User "operator" cannot delete resource "clusterroles"'),
        ("admin", "kubectl auth can-i '*' '*'", ""),
    ],
)  # fmt: skip
def test_a_policy_refuses_in_clear_words(
    hotels: Copy[Environment], policy: str, line: str, refusal: str
) -> None:
    (seen,) = say(hotels, ("exec_shell", line), policy=policy)
    assert refusal in seen
    assert ("[exit code" in seen) == bool(refusal)
