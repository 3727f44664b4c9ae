"""The operator's host: lines, time-outs, cut output, what lives on, and what a session may do."""

from __future__ import annotations

import re
from collections.abc import Iterator

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


@pytest.mark.parametrize("name", ["python3", "git", "emacs", "docker", "sudo"])
def test_no_command_is_installed_that_refuses_to_work(lab: tuple[World, Cluster], name: str) -> None:
    at = terminal(lab)
    done = at.run(f"{name} x")
    assert (done.status, done.stderr.decode()) == (127, f"bash: line 1: {name}: command not found\n")
    assert at.run(f"which {name}").stdout == b""


def test_files_are_copied_to_and_from_nodes(lab: tuple[World, Cluster]) -> None:
    at = terminal(lab)
    line = "mkdir -p d/e; echo 1 > d/e/f; scp -r d kind-worker:/tmp && scp kind-worker:/tmp/d/e/f back && cat back"
    assert at.run(line).stdout == b"1\n"
    missing = at.run("scp kind-worker:/nope .")
    assert (missing.status, missing.stderr) == (1, b"scp: /nope: No such file or directory\n")


def test_without_a_key_nodes_refuse_a_login(lab: tuple[World, Cluster]) -> None:
    done = terminal(lab, READ_ONLY).run("ssh kind-worker true")
    assert (done.status, done.stderr) == (255, b"root@kind-worker: Permission denied (publickey).\n")


def test_the_administrator_has_the_rights_of_a_binding_that_kubeadm_made() -> None:
    world = World(4)
    cluster = add_cluster(world, 3)
    cluster.start()
    world.run_for(40.0)
    at = terminal((world, cluster))
    shown = at.run("kubectl auth whoami").stdout.decode()
    assert re.search(r"\nGroups {46}\[kubeadm:cluster-admins system:authenticated\]\n", shown)
    digest = at.run(
        "base64 -d <(grep client-certificate-data .kube/config | cut -d: -f2) | openssl x509 -noout -fingerprint -sha256"
    )
    assert digest.stdout.decode().rpartition("=")[2].replace(":", "").strip().lower() in shown
    version = at.run(
        "kubectl get cm -n kube-system kubeadm-config -o jsonpath={.data.ClusterConfiguration} | grep ^kubernetesVersion"
    )
    assert version.stdout == b"kubernetesVersion: v1.36.4\n"
    at.run("kubectl delete clusterrolebinding kubeadm:cluster-admins --wait=false")
    assert b'User "kubernetes-admin" cannot list resource "pods"' in at.run("kubectl get pods").stderr


def test_flow_schemas_are_listed_by_precedence(lab: tuple[World, Cluster]) -> None:
    schemas = terminal(lab, shown_bytes=4000).run("kubectl get flowschemas").stdout.decode().splitlines()
    assert schemas[0].split()[1:] == [
        "PRIORITYLEVEL", "MATCHINGPRECEDENCE", "DISTINGUISHERMETHOD", "AGE", "MISSINGPL",
    ]  # fmt: skip
    precedences = [int(line.split()[2]) for line in schemas[1:]]
    assert precedences == sorted(precedences)
    assert {line.split()[-1] for line in schemas[1:]} == {"False"}
    limits = terminal(lab).run("kubectl get prioritylevelconfigurations catch-all system --no-headers").stdout
    assert [line.split()[1:6] for line in limits.decode().splitlines()] == [
        ["Limited", "5", "<none>", "<none>", "<none>"],
        ["Limited", "30", "64", "6", "50"],
    ]
