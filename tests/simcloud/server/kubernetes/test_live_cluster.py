"""A living cluster under genuine kubectl: what an operator does all day, and what then happens."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.simcloud.server.kubernetes.served import CLIENTS, NEW, PATIENCE_S, Served, cluster

pytestmark = pytest.mark.differential("kubectl")

CLIENT = """\
apiVersion: v1
kind: Pod
metadata: {name: cli}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - {name: main, image: 'busybox:1.36', command: [sh, -c, 'echo ready; sleep 36000']}
"""


@pytest.fixture(scope="module")
def living(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with cluster(tmp_path_factory.mktemp("living"), "--nodes", "3", "--speed", "5") as served:
        served.ok("create", "deployment", "web", "--image=nginx:1.19", "--replicas=3")
        served.ok("expose", "deployment", "web", "--port=80")
        served.ok("apply", "-f", "-", stdin=CLIENT)
        served.ok("rollout", "status", "deploy/web", "--timeout=240s")
        served.ok("wait", "--for=condition=Ready", "pod/cli", "--timeout=240s")
        yield served


@pytest.fixture(params=NEW)
def operator(request: pytest.FixtureRequest, living: Served) -> Served:
    return replace(living, version=request.param)


def test_the_system_is_there(operator: Served) -> None:
    listed = operator.ok("get", "pods", "-n", "kube-system", "--no-headers")
    assert all(line.split()[1:3] == ["1/1", "Running"] for line in listed.splitlines())
    assert "kind-control-plane" in operator.ok("get", "nodes")


def test_logs(operator: Served) -> None:
    assert operator.ok("logs", "cli") == "ready\n"
    assert operator.ok("logs", "cli", "--tail=1", "--timestamps").endswith(" ready\n")
    assert "ready for start up" in operator.ok("logs", "-l", "app=web", "--prefix")
    missing = operator.kubectl("logs", "cli", "-c", "nosuch")
    assert "container nosuch is not valid for pod cli" in missing.stderr


def test_exec_and_copy(operator: Served, tmp_path: Path) -> None:
    assert operator.ok("exec", "cli", "--", "sh", "-c", "echo $HOSTNAME; pwd") == "cli\n/\n"
    failed = operator.kubectl("exec", "cli", "--", "sh", "-c", "echo told >&2; exit 3")
    assert (failed.exit, failed.stderr) == (3, "told\ncommand terminated with exit code 3\n")
    assert operator.ok("exec", "-i", "cli", "--", "wc", "-c", stdin="12345").strip() == "5"
    there, back = tmp_path / "there", tmp_path / "back"
    there.write_text("carried\n")
    operator.ok("cp", str(there), "cli:/tmp/carried")
    operator.ok("cp", "cli:/tmp/carried", str(back))
    assert back.read_text() == "carried\n"


def test_a_service_answers_by_its_name(operator: Served) -> None:
    assert "<title>" in operator.ok("exec", "cli", "--", "wget", "-qO-", "http://web")
    found = operator.ok("exec", "cli", "--", "nslookup", "web.default.svc.cluster.local")
    address = operator.ok("get", "svc", "web", "-o", "jsonpath={.spec.clusterIP}")
    assert f"Address: {address}" in found
    missing = operator.kubectl("exec", "cli", "--", "wget", "-qO-", "http://nosuch")
    assert missing.exit != 0


def test_port_forward(operator: Served) -> None:
    command = [str(CLIENTS / f"kubectl-{operator.version}"), "port-forward", "svc/web", ":80"]
    env = {"KUBECONFIG": str(operator.kubeconfig), "HOME": str(operator.home), "PATH": "/usr/bin:/bin"}
    forward = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
    try:
        assert forward.stdout is not None
        output = forward.stdout.readline()
        port = output.split(":")[1].split(" ")[0]
        with urlopen(f"http://127.0.0.1:{port}/", timeout=PATIENCE_S) as page:
            assert b"<title>" in page.read()
    finally:
        forward.kill()
        forward.wait()


@pytest.mark.slow
def test_a_rollout_that_breaks_and_is_undone(operator: Served) -> None:
    name = f"shop-{operator.version.replace('.', '-')}"
    operator.ok("create", "deployment", name, "--image=nginx:1.19", "--replicas=2")
    operator.ok("rollout", "status", f"deploy/{name}", "--timeout=240s")
    operator.ok("set", "image", f"deploy/{name}", "nginx=nginx:nosuchtag")
    stuck = operator.kubectl("rollout", "status", f"deploy/{name}", "--timeout=2s")
    assert stuck.exit == 1
    states = operator.until(
        lambda output: "ImagePull" in output, "get", "pods", "-l", f"app={name}", "--no-headers"
    )
    assert states.count("Running") == 2
    assert "nginx:nosuchtag" in operator.ok("describe", "pods", "-l", f"app={name}")
    operator.ok("rollout", "undo", f"deploy/{name}")
    operator.ok("rollout", "status", f"deploy/{name}", "--timeout=240s")
    assert "2/2" in operator.ok("get", "deploy", name)
    operator.ok("delete", "deploy", name, "--cascade=foreground", "--timeout=240s")
    assert operator.ok("get", "rs", "-l", f"app={name}", "-o", "name") == ""


def test_a_job_and_a_crashing_pod(operator: Served) -> None:
    tag = operator.version.replace(".", "-")
    operator.ok("create", "job", f"once-{tag}", "--image=busybox:1.36", "--", "echo", "done")
    operator.ok("wait", "--for=condition=Complete", f"job/once-{tag}", "--timeout=240s")
    assert operator.ok("logs", f"job/once-{tag}") == "done\n"
    operator.ok("run", f"crash-{tag}", "--image=busybox:1.36", "--", "sh", "-c", "echo no; exit 2")
    code = "jsonpath={.status.containerStatuses[0].lastState.terminated.exitCode}"
    assert operator.until(bool, "get", "pod", f"crash-{tag}", "-o", code) == "2"
    assert operator.until(bool, "logs", f"crash-{tag}") == "no\n"
    operator.ok("delete", "pod", f"crash-{tag}", "--now")


@pytest.mark.slow
def test_a_deleted_namespace_ends(operator: Served) -> None:
    name = f"gone-{operator.version.replace('.', '-')}"
    operator.ok("create", "namespace", name)
    operator.ok("create", "deployment", "web", "--image=nginx:1.19", "-n", name)
    operator.ok("rollout", "status", "deploy/web", "-n", name, "--timeout=240s")
    operator.ok("delete", "namespace", name, "--timeout=240s")
    assert operator.kubectl("get", "ns", name).exit == 1


@pytest.mark.slow
def test_a_node_is_drained_and_comes_back(operator: Served) -> None:
    operator.ok(
        "drain", "kind-worker2", "--ignore-daemonsets", "--force", "--delete-emptydir-data", "--timeout=240s"
    )
    assert "SchedulingDisabled" in operator.ok("get", "node", "kind-worker2")
    left = operator.ok("get", "pods", "-A", "--field-selector=spec.nodeName=kind-worker2", "-o", "name")
    assert {one.split("/")[1].split("-")[0] for one in left.split()} <= {"kindnet", "kube"}
    operator.ok("uncordon", "kind-worker2")
    operator.ok("apply", "-f", "-", stdin=CLIENT)
    operator.ok("wait", "--for=condition=Ready", "pod/cli", "--timeout=240s")
    operator.ok("rollout", "status", "deploy/web", "--timeout=240s")
