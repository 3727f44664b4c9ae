"""A running cluster under load: the cost of a pod from its Deployment to ready, and its growth.

Every figure comes from a process of its own, so that memory is that of one cluster. Times are CPU time.
``python benchmarks/cluster.py [--json] [--short]``
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable

from _measure import Stopwatch, call_in_own_process, resident_bytes
from _report import Budget, Report, find_missed, run, tabulate_figures

from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.cluster import Cluster
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.nodes import node_names
from simcloud.world.world import World

SIZES = (100, 300, 1_000)
PODS_EACH = 5
PODS_PER_NODE = 100
UPDATED = 100
TIMEOUT_S = 600.0
KINDS = ("pods", "replicasets.apps", "deployments.apps", "events")

IDLE_S = 1_800.0
BUDGETS = {
    "start, CPU s": Budget(1.0),
    "idle, virtual s/CPU s": Budget(least=1_000.0),
    "CPU ms/pod": Budget(12.0),
    "KB/pod without objects": Budget(100.0),
    "growth of CPU per pod": Budget(1.5),
}

Figures = dict[str, float]


class Lab:
    """A cluster whose system pods are ready, and a client with all rights."""

    def __init__(self, nodes: int) -> None:
        self.world = World(seed=7)
        self.cluster = Cluster(
            self.world.kernel, [self.world.add_machine(name) for name in node_names(nodes)]
        )
        self.cluster.start()
        self.log = self.cluster.api.log
        self.client = ComponentClient(self.cluster.api, "kubernetes-admin", "kubectl")
        self.run_until(lambda: all(map(is_ready, self.client.list("pods", "kube-system"))))

    def run_until(self, done: Callable[[], bool]) -> float:
        """Let virtual time pass until a condition holds, and return how many seconds that took."""
        start = self.world.kernel.now
        while not done():
            assert self.world.kernel.now - start < TIMEOUT_S, "the condition does not become true"
            self.world.run_for(0.5)
        return self.world.kernel.now - start

    def deploy(self, count: int) -> None:
        for number in range(count):
            self.client.create(make_deployment(f"app-{number:04}"))

    def is_rolled_out(self) -> bool:
        return all(map(is_complete, self.client.list("deployments.apps", "default")))

    def roll(self) -> None:
        """Change the template of every Deployment."""
        env = [{"name": "RELEASE", "value": "2"}]
        for deployment in self.client.list("deployments.apps", "default"):
            self.client.edit(deployment, lambda obj: container_of(obj).update(env=env))


def make_deployment(name: str) -> Object:
    labels = {"app": name}
    main = {"name": "main", "image": "busybox:1.36", "command": ["sleep", "86400"]}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [main]}}
    spec = {"replicas": PODS_EACH, "selector": {"matchLabels": labels}, "template": template}
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def container_of(obj: Object) -> Object:
    found: Object = obj["spec"]["template"]["spec"]["containers"][0]
    return found


def is_ready(pod: Object) -> bool:
    conditions = pod["status"].get("conditions") or ()
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


def is_complete(obj: Object) -> bool:
    status, wanted = obj.get("status") or {}, obj["spec"]["replicas"]
    counts = [status.get(name, 0) for name in ("replicas", "updatedReplicas", "availableReplicas")]
    return status.get("observedGeneration") == obj["metadata"]["generation"] and counts == [wanted] * 3


def collect_and_measure_kb() -> float:
    gc.collect()
    return resident_bytes() / 1024


def measure_start(idle_s: float) -> Figures:
    """Start four nodes until the system is ready, twice, because the first time loads modules; then leave it idle."""
    watch = Stopwatch()
    Lab(4)
    first_s = watch.cpu_s
    watch = Stopwatch()
    lab = Lab(4)
    return {
        "first start, CPU s": first_s,
        "start, CPU s": watch.cpu_s,
        "start, virtual s": lab.world.kernel.now,
        "idle, virtual s/CPU s": measure_speed(lab, idle_s),
    }


def measure_speed(lab: Lab, virtual_s: float) -> float:
    """Return simulated seconds per second of CPU time."""
    watch = Stopwatch()
    lab.world.run_for(virtual_s)
    return virtual_s / watch.cpu_s


def measure_creation(count: int) -> Figures:
    """Create this many Deployments and wait until all their pods are ready."""
    pods = count * PODS_EACH
    lab = Lab(1 + -(-pods // PODS_PER_NODE))
    lab.world.run_for(10)
    before_kb, writes, events = collect_and_measure_kb(), lab.log.revision, lab.log.count("", "events")
    watch = Stopwatch()
    lab.deploy(count)
    virtual_s = lab.run_until(lab.is_rolled_out)
    cpu_s, wall_s = watch.cpu_s, watch.wall_s
    grown_kb = collect_and_measure_kb() - before_kb
    # A second copy of the objects shows how much of the growth they are themselves.
    objects = [copy(obj) for kind in KINDS for obj in lab.client.list(kind, "default")]
    objects_kb = collect_and_measure_kb() - before_kb - grown_kb
    del objects
    return {
        "pods": pods,
        "nodes": len(lab.cluster.kubelets),
        "wall s": wall_s,
        "CPU s": cpu_s,
        "virtual s": virtual_s,
        "CPU ms/pod": cpu_s / pods * 1e3,
        "writes/pod": (lab.log.revision - writes) / pods,
        "events/pod": (lab.log.count("", "events") - events) / pods,
        "KB/pod": grown_kb / pods,
        "KB/pod without objects": (grown_kb - objects_kb) / pods,
        "virtual s/CPU s afterwards": measure_speed(lab, 60.0),
    }


def measure_update(count: int) -> Figures:
    """Update the template of this many Deployments and wait until the last old pod is gone."""
    lab = Lab(1 + -(-2 * count * PODS_EACH // PODS_PER_NODE))
    lab.deploy(count)
    lab.run_until(lab.is_rolled_out)
    watch, pods = Stopwatch(), count * PODS_EACH
    lab.roll()
    virtual_s = lab.run_until(lambda: lab.is_rolled_out() and len(lab.client.list("pods", "default")) == pods)
    cpu_s = watch.cpu_s
    return {"CPU s": cpu_s, "virtual s": virtual_s, "CPU ms/pod": cpu_s / pods * 1e3}


def measure(short: bool) -> Report:
    sizes, updated, idle_s = ((1,), 1, 30.0) if short else (SIZES, UPDATED, IDLE_S)
    start = call_in_own_process(measure_start, idle_s)
    runs = [call_in_own_process(measure_creation, count) for count in sizes]
    update = call_in_own_process(measure_update, updated)
    growth = {
        "growth of CPU per pod": runs[-1]["CPU ms/pod"] / runs[0]["CPU ms/pod"],
        "growth of memory per pod": runs[-1]["KB/pod"] / runs[0]["KB/pod"],
    }
    columns = {f"{count:,} Deployments": figures for count, figures in zip(sizes, runs, strict=True)}
    return Report(
        {"start": start, "created": columns, "updated": update, "growth": growth},
        [
            tabulate_figures("Four nodes from nothing, then idle", {"measured": start}, BUDGETS),
            tabulate_figures(f"Deployments of {PODS_EACH} pods until ready", columns, BUDGETS),
            tabulate_figures("The most Deployments compared with the fewest", {"measured": growth}, BUDGETS),
            tabulate_figures(f"Rolling update of {updated:,} Deployments", {"measured": update}),
        ],
        find_missed({**start, **runs[-1], **growth}, BUDGETS),
    )


if __name__ == "__main__":
    sys.exit(run(__doc__, measure))
