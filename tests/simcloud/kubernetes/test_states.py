"""Every state of a pod that operators know, as ``kubectl get pods`` prints it, in a living cluster.

Each pod is watched from its first moment: its STATUS of every revision, each once.
"""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any

import pytest

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.api.tables import make_table
from simcloud.kubernetes.controllers.pods import is_ready
from simcloud.kubernetes.images import standard_registry
from simcloud.kubernetes.kubelet.pods.probes import HealthCheckResponse
from simcloud.kubernetes.shapes import MachineFacts
from simcloud.machine.computer import GIB
from simcloud.machine.image import Image
from simcloud.machine.process import Context
from tests.simcloud.kubernetes.lab import Lab

MIB = 1024**2
NODE = "kind-worker"


async def eat(ctx: Context) -> int:
    """Hold as many MiB as asked for, one more each moment."""
    for held in range(1, int(ctx.args[1]) + 1):
        ctx.memory.use(held * MIB)
        await ctx.sleep(0.02)
    while True:
        await ctx.sleep(1000)


async def serve_health(ctx: Context) -> int:
    """A gRPC server that is well for ten seconds."""
    began = ctx.kernel.now

    def accept(connection: Any) -> None:
        def answer(_: Any) -> None:
            connection.send(HealthCheckResponse("SERVING" if ctx.kernel.now < began + 10 else "NOT_SERVING"))

        connection.on_message = answer

    ctx.listen(9000, "grpc").on_accept = accept
    while True:
        await ctx.sleep(1000)


class Ward:
    """A cluster in which pods are watched."""

    def __init__(self, facts: MachineFacts | None = None) -> None:
        registry = standard_registry()
        registry.add("eat:1", Image("eat", {"eat": eat}))
        registry.add("rpc:1", Image("rpc", {"serve": serve_health}, entrypoint=["serve"]))
        self.lab = Lab(nodes=2, registry=registry, facts=facts)
        self.seen: dict[str, list[str]] = {}
        self.lab.client.follow("pods", self._see)

    def _see(self, write: Revision) -> None:
        history = self.seen.setdefault(write.key.name, [])
        shown = self.shown(write.object)
        if write.change != "DELETED" and history[-1:] != [shown]:
            history.append(shown)

    def shown(self, pod: Object) -> str:
        """The STATUS column."""
        table = make_table(self.lab.client.resource("pods"), [pod], now_s=self.lab.cluster.api.now_s)
        column = [one["name"] for one in table["columnDefinitions"]].index("Status")
        return str(table["rows"][0]["cells"][column])

    def run(self, name: str, *command: str, image: str = "busybox:1.36", **spec: Any) -> None:
        """A pod with one container."""
        container: Object = {"name": "main", "image": image, **spec.pop("container", {})}
        if command:
            container["command"] = list(command)
        spec = {"terminationGracePeriodSeconds": 2, **spec}
        self.lab.create("Pod", name, spec={"containers": [container], **spec})

    def pod(self, name: str) -> Object:
        return self.lab.get("pods", name)

    def told(self, name: str) -> list[tuple[str, str]]:
        """Reasons and messages of events about a pod."""
        return [
            (one["reason"], one["message"])
            for one in self.lab.client.list("events", "default")
            if one["involvedObject"]["name"] == name
        ]


@pytest.fixture(scope="module")
def ward() -> Ward:
    return Ward()


def sh(line: str) -> tuple[str, str, str]:
    return ("sh", "-c", line)


def init(line: str) -> Object:
    return {"initContainers": [{"name": "init", "image": "busybox:1.36", "command": list(sh(line))}]}


BEGUN = ["Pending", "ContainerCreating"]
STATES: dict[str, tuple[Callable[[Ward, str], None], list[str]]] = {
    "Pending": (lambda ward, name: ward.run(name, nodeSelector={"disk": "none"}), ["Pending"]),
    "ContainerCreating": (
        lambda ward, name: ward.run(
            name,
            volumes=[{"name": "v", "configMap": {"name": "nosuch"}}],
            container={"volumeMounts": [{"name": "v", "mountPath": "/v"}]},
        ),
        BEGUN,
    ),
    "Running": (lambda ward, name: ward.run(name, image="nginx:1.19"), [*BEGUN, "Running"]),
    "Completed": (
        lambda ward, name: ward.run(name, "sleep", "3", restartPolicy="Never"),
        [*BEGUN, "Running", "Completed"],
    ),
    "Error": (
        lambda ward, name: ward.run(name, *sh("sleep 3; exit 3"), restartPolicy="Never"),
        [*BEGUN, "Running", "Error"],
    ),
    "CrashLoopBackOff": (
        lambda ward, name: ward.run(name, *sh("sleep 1; exit 1")),
        [*BEGUN, "Running", "Error", "Running", "Error", "CrashLoopBackOff", "Running", "Error"],
    ),
    "ErrImagePull": (
        lambda ward, name: ward.run(name, image="nginx:nosuchtag"),
        [*BEGUN, "ErrImagePull", "ImagePullBackOff", "ErrImagePull", "ImagePullBackOff"],
    ),
    "InvalidImageName": (
        lambda ward, name: ward.run(name, image="No:Such:Name"),
        [*BEGUN, "InvalidImageName"],
    ),
    "CreateContainerConfigError": (
        lambda ward, name: ward.run(name, container={"envFrom": [{"secretRef": {"name": "nosuch"}}]}),
        [*BEGUN, "CreateContainerConfigError"],
    ),
    "RunContainerError": (
        lambda ward, name: ward.run(name, "/nosuch"),
        [*BEGUN, "RunContainerError", "CrashLoopBackOff", "RunContainerError", "CrashLoopBackOff"],
    ),
    "OOMKilled": (
        lambda ward, name: ward.run(
            name,
            "eat",
            "200",
            image="eat:1",
            restartPolicy="Never",
            container={"resources": {"limits": {"memory": "64Mi"}}},
        ),
        [*BEGUN, "Running", "OOMKilled"],
    ),
    "Init:0/1": (
        lambda ward, name: ward.run(name, image="nginx:1.19", **init("sleep 5")),
        ["Pending", "Init:0/1", "PodInitializing", "Running"],
    ),
    "Init:CrashLoopBackOff": (
        lambda ward, name: ward.run(name, image="nginx:1.19", **init("exit 1")),
        ["Pending", "Init:0/1", "Init:Error", "Init:CrashLoopBackOff", "Init:Error"],
    ),
    "Init:ErrImagePull": (
        lambda ward, name: ward.run(
            name, image="nginx:1.19", initContainers=[{"name": "init", "image": "nginx:nosuchtag"}]
        ),
        ["Pending", "Init:0/1", "Init:ErrImagePull", "Init:ImagePullBackOff", "Init:ErrImagePull"],
    ),
}


@pytest.mark.parametrize("state", STATES)
def test_a_pod_comes_to_its_state(ward: Ward, state: str) -> None:
    make, expected = STATES[state]
    name = state.lower().replace(":", "-").replace("/", "-")
    make(ward, name)
    ward.lab.world.run_for(60)
    assert state in expected
    assert ward.seen[name][: len(expected)] == expected


def test_a_deleted_pod_is_terminating_until_its_process_has_ended(ward: Ward) -> None:
    ward.run("deaf", *sh("trap '' TERM; while true; do sleep 1; done"))
    ward.lab.world.run_for(5)
    ward.lab.client.delete(ward.pod("deaf"))
    ward.lab.world.run_for(1)
    assert ward.shown(ward.pod("deaf")) == "Terminating"
    ward.lab.world.run_for(5)
    assert ward.lab.client.get("pods", "default", "deaf") is None


PROBES: dict[str, tuple[str, Object, list[str]]] = {
    "httpGet": ("nginx:1.19", {"path": "/ready", "port": 80}, []),
    "tcpSocket": ("nginx:1.19", {"port": 81}, []),
    "exec": ("busybox:1.36", {"command": ["test", "-e", "/tmp/ok"]}, list(sh("sleep 1000"))),
    "grpc": ("rpc:1", {"port": 9001}, []),
}
UNHEALTHY = {
    "httpGet": "Liveness probe failed: HTTP probe failed with statuscode: 404",
    "tcpSocket": "Liveness probe failed: dial tcp 10.244.*:81: connect: connection refused",
    "exec": "Liveness probe failed: ",
    "grpc": "Liveness probe failed: *10.244.*:9001*",
}


@pytest.mark.parametrize("kind", PROBES)
def test_a_probe_that_fails_often_enough_restarts_the_container(ward: Ward, kind: str) -> None:
    image, action, command = PROBES[kind]
    probe = {kind: action, "periodSeconds": 2, "failureThreshold": 3}
    name = f"live-{kind.lower()}"
    ward.run(name, *command, image=image, container={"livenessProbe": probe})
    ward.lab.world.run_for(5)
    assert ward.pod(name)["status"]["containerStatuses"][0]["restartCount"] == 0  # two failures are not three
    ward.lab.world.run_for(9)
    assert ward.pod(name)["status"]["containerStatuses"][0]["restartCount"] == 1
    killed = "Container main failed liveness probe, will be restarted"
    assert ("Killing", killed) in ward.told(name)
    unhealthy = [message for reason, message in ward.told(name) if reason == "Unhealthy"]
    assert [message for message in unhealthy if fnmatchcase(message, UNHEALTHY[kind])], unhealthy


@pytest.mark.parametrize("kind", PROBES)
def test_a_probe_that_fails_keeps_a_pod_from_being_ready_and_nothing_else(ward: Ward, kind: str) -> None:
    image, action, command = PROBES[kind]
    name = f"ready-{kind.lower()}"
    ward.run(name, *command, image=image, container={"readinessProbe": {kind: action, "periodSeconds": 2}})
    ward.lab.world.run_for(30)
    pod = ward.pod(name)
    assert ward.shown(pod) == "Running"
    assert not is_ready(pod)
    assert pod["status"]["containerStatuses"][0]["restartCount"] == 0


def test_a_server_that_falls_ill_is_unready_after_as_many_failures_as_allowed(ward: Ward) -> None:
    probe = {"grpc": {"port": 9000}, "periodSeconds": 2, "failureThreshold": 2}
    ward.run("ill", image="rpc:1", container={"readinessProbe": probe})
    ward.lab.world.run_for(9)
    assert is_ready(ward.pod("ill"))
    ward.lab.world.run_for(12)
    assert not is_ready(ward.pod("ill"))
    told = 'Readiness probe failed: service unhealthy (responded with "NOT_SERVING")'
    assert ("Unhealthy", told) in ward.told("ill")


@pytest.mark.parametrize(
    ("resources", "quality"),
    [
        ({}, "BestEffort"),
        ({"requests": {"cpu": "10m"}}, "Burstable"),
        ({"limits": {"cpu": "10m"}}, "Burstable"),
        ({"limits": {"cpu": "10m", "memory": "20Mi"}}, "Guaranteed"),
        (
            {"requests": {"cpu": "5m", "memory": "20Mi"}, "limits": {"cpu": "10m", "memory": "20Mi"}},
            "Burstable",
        ),
    ],
)
def test_quality_of_service(ward: Ward, resources: Object, quality: str) -> None:
    name = f"quality-{len(ward.seen)}"
    ward.run(name, "sleep", "1000", container={"resources": resources})
    assert ward.pod(name)["status"]["qosClass"] == quality


def test_a_lost_node_is_not_ready_and_its_pods_go_after_five_minutes() -> None:
    ward = Ward()
    patient = {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute"}
    ward.run("web", image="nginx:1.19", nodeName=NODE)
    ward.run("patient", image="nginx:1.19", nodeName=NODE, tolerations=[patient])
    ward.run("job", "sleep", "9999", nodeName=NODE, restartPolicy="Never", tolerations=[patient])
    ward.lab.world.run_for(10)
    machine = ward.lab.world.machines[NODE]
    machine.lose()
    ward.lab.world.run_for(60)
    node = ward.lab.get("nodes", NODE)
    table = make_table(ward.lab.client.resource("nodes"), [node], now_s=ward.lab.cluster.api.now_s)
    assert table["rows"][0]["cells"][1] == "NotReady"
    assert {one["key"] for one in node["spec"]["taints"]} == {"node.kubernetes.io/unreachable"}
    assert ward.shown(ward.pod("web")) == "Running"
    assert not is_ready(ward.pod("web"))
    ward.lab.world.run_for(320)
    assert ward.shown(ward.pod("web")) == "Terminating"
    assert ("TaintManagerEviction", "Marking for deletion Pod default/web") in ward.told("web")
    assert ward.shown(ward.pod("patient")) == "Running"
    machine.boot()
    ward.lab.cluster.kubelets[NODE].start()
    ward.lab.world.run_for(30)
    assert ward.lab.client.get("pods", "default", "web") is None
    # What ran when the power went has ended, nobody knows how.
    assert ward.seen["patient"][-3:] == ["Running", "Unknown", "Running"]
    assert is_ready(ward.pod("patient"))
    before = ward.pod("patient")["status"]["containerStatuses"][0]["lastState"]["terminated"]
    assert (before["exitCode"], before["reason"]) == (255, "Unknown")
    assert ("SandboxChanged", "Pod sandbox changed, it will be killed and re-created.") in ward.told(
        "patient"
    )
    assert ward.seen["job"][-2:] == ["Running", "Unknown"]
    assert ward.pod("job")["status"]["phase"] == "Failed"


def test_a_pod_that_writes_more_than_its_limit_is_evicted(ward: Ward) -> None:
    """As recorded: STATUS tells how the container ended, the reason is the pod's."""
    limits = {"limits": {"ephemeral-storage": "10Mi"}}
    writes = sh("dd if=/dev/zero of=/big bs=1M count=20; sleep 1000")
    ward.run("writer", *writes, container={"resources": limits})
    ward.lab.world.run_for(40)
    assert ward.seen["writer"] == [*BEGUN, "Running", "Error"]
    status = ward.pod("writer")["status"]
    told = "Pod ephemeral local storage usage exceeds the total limit of containers 10Mi. "
    assert (status["phase"], status["reason"], status["message"]) == ("Failed", "Evicted", told)
    assert ("Evicted", told) in ward.told("writer")


def test_memory_pressure_evicts_by_quality_and_keeps_others_away() -> None:
    ward = Ward(MachineFacts(memory_bytes=2 * GIB))
    asked = {"resources": {"requests": {"memory": "900Mi"}}}
    ward.run("modest", "eat", "700", image="eat:1", nodeName=NODE, container=asked)
    ward.lab.world.run_for(10)
    ward.run("greedy", "eat", "730", image="eat:1", nodeName=NODE)
    ward.lab.world.run_for(60)
    status = ward.pod("greedy")["status"]
    assert (status["phase"], status["reason"]) == ("Failed", "Evicted")
    assert status["message"].startswith("The node was low on resource: memory. Threshold quantity: 100Mi")
    assert ward.shown(ward.pod("modest")) == "Running"
    node = ward.lab.get("nodes", NODE)
    assert {one["type"]: one["status"] for one in node["status"]["conditions"]}["MemoryPressure"] == "True"
    assert [one["key"] for one in node["spec"]["taints"]] == ["node.kubernetes.io/memory-pressure"]
    ward.run("late", "sleep", "1000", nodeName=NODE)
    ward.lab.world.run_for(2)
    assert ward.shown(ward.pod("late")) == "Evicted"
    told = "The node had condition: [MemoryPressure]. "
    assert ward.pod("late")["status"]["message"] == f"Pod was rejected: {told}"
    promised = {"resources": {"requests": {"memory": "1Mi"}}}
    ward.run("promised", "sleep", "1000", nodeName=NODE, container=promised)
    ward.lab.world.run_for(5)
    assert ward.shown(ward.pod("promised")) == "Running"
    ward.lab.world.run_for(360)
    assert "taints" not in ward.lab.get("nodes", NODE)["spec"]
