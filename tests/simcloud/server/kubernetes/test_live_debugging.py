"""What an operator does with a pod that misbehaves, by genuine kubectl: attach, debug, events, wait, evictions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.simcloud.server.kubernetes.served import Served, cluster

pytestmark = pytest.mark.differential("kubectl")

TALKER = """\
apiVersion: v1
kind: Pod
metadata: {name: talker}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - {name: main, image: 'busybox:1.36', command: [sleep, '36000']}
"""
LISTENER = """\
apiVersion: v1
kind: Pod
metadata: {name: listener}
spec:
  restartPolicy: Never
  containers:
  - {name: main, image: 'busybox:1.36', stdin: true, command: [sh, -c, 'read line; echo "heard $line"']}
"""
BUDGET = """\
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}
"""


@pytest.fixture(scope="module")
def living(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with cluster(tmp_path_factory.mktemp("living"), "--nodes", "3", "--speed", "10") as served:
        served.ok("apply", "-f", "-", stdin=TALKER)
        served.ok("create", "deployment", "web", "--image=nginx:1.19", "--replicas=2")
        served.ok("wait", "--for=condition=Ready", "pod/talker", "--timeout=240s")
        served.ok("rollout", "status", "deploy/web", "--timeout=240s")
        yield served


def test_attach(living: Served) -> None:
    living.ok("apply", "-f", "-", stdin=LISTENER)
    living.ok("wait", "--for=condition=Ready", "pod/listener", "--timeout=240s")
    assert living.ok("attach", "-i", "listener", stdin="you\n") == "heard you\n"
    run = ("run", "once", "--image=busybox:1.36", "--restart=Never", "-i", "--rm", "-q")
    assert "heard me" in living.ok(*run, "--", "sh", "-c", 'read x; echo "heard $x"', stdin="me\n")


def test_debug_by_an_ephemeral_container(living: Served) -> None:
    living.ok(
        "debug", "talker", "--image=busybox:1.36", "-c", "look", "--", "sh", "-c", "echo here; sleep 3600"
    )
    living.ok(
        "wait",
        "--for=jsonpath={.status.ephemeralContainerStatuses[0].state.running}",
        "pod/talker",
        "--timeout=240s",
    )
    assert living.ok("logs", "talker", "-c", "look") == "here\n"
    assert "Ephemeral Containers:\n  look:" in living.ok("describe", "pod", "talker")


def test_debug_by_a_copy(living: Served) -> None:
    output = living.ok(
        "debug", "talker", "--copy-to=copy", "--container=main", "--image=busybox:1.36", "--", "sleep", "3600"
    )
    assert output == ""
    living.ok("wait", "--for=condition=Ready", "pod/copy", "--timeout=240s")
    assert (
        living.ok("get", "pod", "copy", "-o", "jsonpath={.spec.containers[0].command}") == '["sleep","3600"]'
    )


def test_debug_a_node(living: Served) -> None:
    output = living.ok("debug", "node/kind-worker", "--image=busybox:1.36", "--", "cat", "/host/etc/hostname")
    name = output.split()[3]
    assert output.startswith("Creating debugging pod node-debugger-kind-worker-")
    living.ok("wait", "--for=jsonpath={.status.phase}=Succeeded", f"pod/{name}", "--timeout=240s")
    assert living.ok("logs", name) == "kind-worker\n"


@pytest.mark.slow
def test_events_and_waiting(living: Served) -> None:
    listed = living.ok("events", "--for", "pod/talker")
    assert listed.splitlines()[0].split() == ["LAST", "SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]
    assert "Started" in listed
    late = living.kubectl("wait", "--for=delete", "pod/talker", "--timeout=5s")
    said = late.stderr.splitlines()[-1]  # a client whose time is over may first complain of its watch
    assert (late.exit, said) == (1, "error: timed out waiting for the condition on pods/talker")


@pytest.mark.slow
def test_a_budget_holds_back_a_drain(living: Served) -> None:
    living.ok("apply", "-f", "-", stdin=BUDGET)
    living.ok("wait", "--for=jsonpath={.status.currentHealthy}=2", "pdb/web", "--timeout=240s")
    path = "jsonpath={.items[0].spec.nodeName}"
    node = living.ok("get", "pods", "-l", "app=web", "-o", path)
    held = living.kubectl(
        "drain", node, "--ignore-daemonsets", "--force", "--delete-emptydir-data", "--timeout=20s"
    )
    assert held.exit == 1
    assert "Cannot evict pod as it would violate the pod's disruption budget." in held.stderr
    living.ok("scale", "deploy/web", "--replicas=3")
    living.ok("rollout", "status", "deploy/web", "--timeout=240s")
    drained = living.ok(
        "drain", node, "--ignore-daemonsets", "--force", "--delete-emptydir-data", "--timeout=240s"
    )
    assert f"node/{node} drained" in drained
    living.ok("uncordon", node)
