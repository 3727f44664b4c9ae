"""The operator's host: lines, time-outs, cut output, what lives on, and what a session may do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from simcloud.kubernetes.cluster import Cluster
from simcloud.world.clusters import add_cluster
from simcloud.world.policies import ADMIN, OPERATOR, READ_ONLY, Policy
from simcloud.world.terminal import Terminal
from simcloud.world.world import World


@pytest.fixture(scope="module")
def lab() -> Iterator[tuple[World, Cluster]]:
    world = World(3)
    cluster = add_cluster(world, 3)
    cluster.start()
    world.run_for(40.0)
    yield world, cluster


_count = iter(range(100))


def terminal(lab: tuple[World, Cluster], policy: Policy = ADMIN, shown_bytes: int = 1000) -> Terminal:
    return Terminal(*lab, policy, name=f"bastion-{next(_count)}", shown_bytes=shown_bytes)


def test_files_last_and_shells_do_not(lab: tuple[World, Cluster]) -> None:
    at = terminal(lab)
    assert at.run("cd /tmp; x=1; echo kept > file").status == 0
    assert at.run("cat /tmp/file; pwd; echo ${x-unset}").stdout == b"kept\n/root\nunset\n"


def test_a_line_that_takes_too_long_is_ended_in_virtual_time(lab: tuple[World, Cluster]) -> None:
    at, before = terminal(lab), lab[0].kernel.now
    done = at.run("echo begun; sleep 100; echo never", timeout_s=5)
    assert (done.status, done.stdout) == (124, b"begun\n")
    assert b"killed after 5 s" in done.stderr
    assert lab[0].kernel.now == pytest.approx(before + 5, abs=0.1)
    assert b"sleep" not in at.run("ps -o comm").stdout


def test_long_output_is_cut_and_says_how_to_see_it(lab: tuple[World, Cluster]) -> None:
    done = terminal(lab).run("seq 1000")
    assert done.stdout.startswith(b"1\n2\n")
    assert b"[cut: 1000 of 3893 bytes are shown." in done.stdout
    assert len(done.stdout) < 1300


def test_what_runs_in_the_background_lives_until_the_session_ends(lab: tuple[World, Cluster]) -> None:
    at = terminal(lab)
    at.run("sleep 500 &")
    assert at.run("pgrep -c sleep").stdout == b"1\n"
    at.close()
    assert at.run("pgrep -c sleep").stdout == b"0\n"


def test_control_c_ends_the_line(lab: tuple[World, Cluster]) -> None:
    typed = terminal(lab).type("sleep 100; echo never")
    assert not typed.wait(1.0)
    typed.interrupt()
    assert typed.wait(1.0)
    assert (typed.get_result().status, typed.get_result().stdout) == (130, b"")


def test_a_forwarded_port_is_a_port_of_the_host(lab: tuple[World, Cluster]) -> None:
    at = terminal(lab)
    pod = (
        at.run("kubectl get pods -n kube-system -l k8s-app=kube-dns -o name | head -1")
        .stdout.decode()
        .strip()
    )
    at.run(f"kubectl port-forward -n kube-system {pod} 8080 > /tmp/forward 2>&1 &")
    assert at.run("sleep 1; curl -s localhost:8080/health").stdout == b"OK"
    lines = at.run("cat /tmp/forward").stdout.decode().splitlines()
    assert lines == [
        "Forwarding from 127.0.0.1:8080 -> 8080",
        "Forwarding from [::1]:8080 -> 8080",
        "Handling connection for 8080",
    ]


@pytest.mark.parametrize(
    ("policy", "line", "allowed"),
    [
        (READ_ONLY, "kubectl get nodes", True),
        (READ_ONLY, "kubectl get pods -A", True),
        (READ_ONLY, "kubectl get events -A", True),
        (READ_ONLY, "kubectl get secrets -A", False),
        (READ_ONLY, "kubectl scale deploy coredns -n kube-system --replicas=2", False),
        (READ_ONLY, "kubectl exec -n kube-system deploy/coredns -- ls", False),
        (OPERATOR, "kubectl get secrets -A", True),
        (OPERATOR, "kubectl scale deploy coredns -n kube-system --replicas=2", True),
        (OPERATOR, "kubectl auth can-i patch nodes", True),
        (OPERATOR, "kubectl auth can-i create pods/eviction -n kube-system", True),
        (OPERATOR, "kubectl auth can-i create clusterroles", False),
        (ADMIN, "kubectl auth can-i create clusterroles", True),
    ],
)
def test_rights_are_those_of_the_policy(
    lab: tuple[World, Cluster], policy: Policy, line: str, allowed: bool
) -> None:
    done = terminal(lab, policy).run(line)
    assert (done.status == 0) is allowed, done
    if not allowed and "can-i" not in line:
        assert b"Forbidden" in done.stderr


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("python3 -c 'print(1)'", "jq"),
        ("git status", "heredoc"),
        ("vi x", "sed"),
        ("scp kind-worker:/etc/hosts .", "ssh NODE cat FILE"),
        ("kubectl -n kube-system edit deploy coredns", "kubectl patch"),
    ],
)
def test_what_is_not_there_says_what_to_use_instead(
    lab: tuple[World, Cluster], line: str, instead: str
) -> None:
    done = terminal(lab).run(line)
    assert done.status in (126, 127)
    assert instead in done.stderr.decode()


def test_a_session_may_be_given_only_some_commands(lab: tuple[World, Cluster]) -> None:
    at = terminal(lab, replace(ADMIN, allowed=frozenset({"kubectl", "grep"})))
    assert at.run("kubectl version | grep -c v1.36").status == 0
    refused = at.run("curl localhost")
    assert refused.status == 126
    assert refused.stderr.decode() == "curl: not permitted in this session; allowed commands: grep, kubectl\n"
