"""Whatever is done to workloads and machines, in whatever order and at whatever pace, the cluster comes right.

Random operations of an operator, and losses of machines, with random pauses between them. Some things
hold at every moment (``invariants.Watcher.always``); the others once the cluster was left alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings, strategies as st

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.controllers.pods import is_ready
from simcloud.machine.process import Signal
from tests.simcloud.kubernetes.api.conftest import frozen_objects
from tests.simcloud.kubernetes.invariants import Watcher, restless, unsettled
from tests.simcloud.kubernetes.lab import Lab

__all__ = ["frozen_objects"]

WORKERS = ("kind-worker", "kind-worker2", "kind-worker3")
KINDS = {"web": "Deployment", "api": "Deployment", "db": "StatefulSet", "log": "DaemonSet"}
GOOD, OTHER, BAD = "nginx:1.19", "nginx:latest", "nginx:nosuchtag"
RESTED_S = 700.0
"""Enough for the longest back-off of a pull, for a node to be given up, and for a rollout after both."""

names, nodes = st.sampled_from(list(KINDS)), st.sampled_from(WORKERS)
step = st.one_of(
    st.tuples(st.just("wait"), st.sampled_from([0.004, 0.05, 0.4, 2.0, 15.0, 70.0])),
    st.tuples(st.just("scale"), st.sampled_from(["web", "api", "db"]), st.integers(0, 6)),
    st.tuples(st.just("image"), names, st.sampled_from([GOOD, OTHER, BAD])),
    st.tuples(st.just("pause"), st.sampled_from(["web", "api"]), st.booleans()),
    st.tuples(st.just("delete"), names, st.sampled_from(["Background", "Foreground", "Orphan"])),
    st.tuples(st.just("create"), names),
    st.tuples(st.just("delete_pod"), st.integers(0, 30), st.sampled_from([None, 0, 1])),
    st.tuples(st.just("kill"), st.integers(0, 30)),
    st.tuples(st.just("relabel"), st.integers(0, 30)),
    st.tuples(
        st.just("strategy"), st.sampled_from(["web", "api"]), st.sampled_from(["Recreate", 0, 1, "50%"])
    ),
    st.tuples(st.just("taint"), nodes, st.sampled_from(["NoSchedule", "NoExecute", ""])),
    st.tuples(st.just("stop_kubelet"), nodes),
    st.tuples(st.just("cordon"), nodes, st.booleans()),
    st.tuples(st.just("drain"), nodes),
    st.tuples(st.just("lose"), nodes),
    st.tuples(st.just("boot"), nodes),
    st.tuples(st.just("select"), st.sampled_from(["web", "api", "db", "nobody"])),
)


class Operator:
    """What is done to a cluster with two Deployments, a StatefulSet, a DaemonSet and a Service."""

    def __init__(self) -> None:
        self.lab = Lab(seed=5)
        self.watcher = Watcher(self.lab)
        ports = [{"port": 80}]
        for name in ("web", "db"):
            headless = {"clusterIP": "None"} if name == "db" else {}
            self.lab.create("Service", name, spec={"selector": {"app": name}, "ports": ports, **headless})
        for name in KINDS:
            self.create(name)
        self.lab.world.run_for(5)

    def do(self, verb: str, *what: Any) -> None:
        action: Callable[..., None] = getattr(self, verb)
        action(*what)
        wrong = self.watcher.always()
        assert not wrong, wrong

    def wait(self, seconds: float) -> None:
        self.lab.world.run_for(seconds)

    def create(self, name: str) -> None:
        if self.found(name) is not None:
            return
        resources = {"requests": {"cpu": "300m", "memory": "64Mi"}}
        container = {"name": "main", "image": GOOD, "resources": resources}
        pod = {"containers": [container], "terminationGracePeriodSeconds": 3}
        labels = {"app": name}
        spec: Object = {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        }
        if name == "db":
            spec |= {"serviceName": "db"}
        if name != "log":
            spec |= {"replicas": 3}
        self.lab.create(KINDS[name], name, "apps/v1", spec=spec)

    def scale(self, name: str, replicas: int) -> None:
        self.change(name, lambda obj: obj["spec"].update(replicas=replicas))

    def image(self, name: str, image: str) -> None:
        self.change(name, lambda obj: obj["spec"]["template"]["spec"]["containers"][0].update(image=image))

    def pause(self, name: str, paused: bool) -> None:
        self.change(name, lambda obj: obj["spec"].update(paused=paused))

    def delete(self, name: str, propagation: str) -> None:
        found = self.found(name)
        if found is not None:
            self.lab.client.delete(found, propagation=propagation)

    def delete_pod(self, number: int, grace_s: int | None) -> None:
        pods = self.lab.pods()
        if pods:
            self.lab.client.delete(pods[number % len(pods)], grace_s)

    def kill(self, number: int) -> None:
        """End the first process of some container by force."""
        running = [
            record.container
            for node in WORKERS
            for pod in self.lab.cluster.kubelets[node].node.runtime.pods.values()
            for record in pod.containers
            if record.container is not None and record.container.processes
        ]
        if running:
            processes = running[number % len(running)].processes
            next(iter(processes.values())).send(Signal.KILL, outside=True)

    def relabel(self, number: int) -> None:
        """Take a pod out of its owner's sight: it is released, and another comes in its place."""
        pods = self.lab.pods()
        if pods:
            self.lab.client.patch(pods[number % len(pods)], {"metadata": {"labels": {"app": "released"}}})

    def strategy(self, name: str, what: str | int) -> None:
        rolling = {"maxSurge": what, "maxUnavailable": 1 if what == 0 else 0}
        chosen: Object = {"type": "RollingUpdate", "rollingUpdate": rolling}
        if what == "Recreate":
            chosen = {"type": what}
        self.change(name, lambda obj: obj["spec"].update(strategy=chosen))

    def taint(self, node: str, effect: str) -> None:
        """Put a taint on a node that nobody tolerates, or take it away."""

        def change(obj: Object) -> None:
            kept = [one for one in obj["spec"].get("taints", ()) if one["key"] != "example.com/taint"]
            mine = [{"key": "example.com/taint", "effect": effect}] if effect else []
            obj["spec"]["taints"] = kept + mine

        self.lab.set(node, change, "nodes")

    def stop_kubelet(self, node: str) -> None:
        """The kubelet dies; containers go on."""
        for process in self.lab.world.machines[node].processes.values():
            if process.argv[0].endswith("kubelet"):
                process.send(Signal.KILL, outside=True)
                return

    def cordon(self, node: str, cordoned: bool) -> None:
        self.lab.cordon(node, cordoned)

    def drain(self, node: str) -> None:
        self.lab.drain(node)

    def lose(self, node: str) -> None:
        if self.lab.world.machines[node].running:
            self.lab.world.machines[node].lose()

    def boot(self, node: str) -> None:
        if not self.lab.world.machines[node].running:
            self.lab.world.machines[node].boot()
        self.lab.cluster.kubelets[node].start()

    def select(self, name: str) -> None:
        self.lab.set("web", lambda obj: obj["spec"].update(selector={"app": name}), "services")

    def found(self, name: str) -> Object | None:
        return self.lab.client.get(f"{KINDS[name].lower()}s.apps", "default", name)

    def change(self, name: str, change: Callable[[Object], None]) -> None:
        found = self.found(name)
        if found is not None:
            self.lab.client.edit(found, change)

    def put_right(self, lost: str) -> None:
        """Undo what hinders; what is broken beyond that the cluster mends by itself."""
        for name in KINDS:
            self.create(name)
            self.image(name, GOOD)
        for name in ("web", "api"):
            self.pause(name, False)
        for node in WORKERS:
            self.cordon(node, False)
            self.taint(node, "")
            if node != lost:
                self.boot(node)
        # A StatefulSet waits for a pod that cannot start, and for a name that another pod has.
        for pod in self.lab.pods():
            stuck = not is_ready(pod) or pod["metadata"]["labels"]["app"] == "released"
            if pod["metadata"]["name"].startswith("db-") and stuck:
                self.lab.client.delete(pod)
        if lost:
            self.lose(lost)


few = settings(
    max_examples=4,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.mark.slow
@few
@given(steps=st.lists(step, min_size=4, max_size=25))
def test_the_cluster_comes_to_rest_as_declared(steps: list[tuple[Any, ...]]) -> None:
    check_rest_after(steps)


@pytest.mark.slow
@few
@given(steps=st.lists(step, min_size=4, max_size=12), lost=nodes)
def test_deployments_come_to_rest_without_a_machine(steps: list[tuple[Any, ...]], lost: str) -> None:
    check_rest_after(steps, lost)


def check_rest_after(steps: list[tuple[Any, ...]], lost: str = "") -> None:
    operator = Operator()
    for verb, *what in steps:
        operator.do(verb, *what)
    operator.put_right(lost)
    operator.do("wait", RESTED_S)
    wrong = unsettled(operator.lab, lost) or restless(operator.lab, 60.0)
    assert not wrong, wrong
