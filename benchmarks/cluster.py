"""The living cluster under load: what a pod costs from its Deployment to ready, and how that grows.

Every figure comes from a process of its own, so that memory is that of one cluster. Times are CPU time, so that
a busy machine counts little. ``python benchmarks/cluster.py [--json]``
"""

from __future__ import annotations

import gc
import json
import multiprocessing
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.component_client import Client
from simcloud.kubernetes.cluster import Cluster
from simcloud.kubernetes.nodes import node_names
from simcloud.world.world import World

SIZES = (100, 300, 1_000)
PODS_EACH = 5
PODS_PER_NODE = 100
UPDATED = 100
PATIENCE_S = 600.0
KINDS = ("pods", "replicasets.apps", "deployments.apps", "events")

BUDGETS: dict[str, tuple[float, float]] = {
    "start_s": (0.0, 1.0),
    "idle_speed": (1_000.0, float("inf")),
    "ms_per_pod": (0.0, 12.0),
    "growth": (0.0, 1.5),
    "kb_per_pod_beyond_objects": (0.0, 100.0),
}
"""The least and the most of each."""

Figures = dict[str, float]


class Lab:
    """A cluster whose system is ready, and its administrator."""

    def __init__(self, nodes: int) -> None:
        self.world = World(seed=7)
        self.cluster = Cluster(
            self.world.kernel, [self.world.add_machine(name) for name in node_names(nodes)]
        )
        self.cluster.start()
        self.log = self.cluster.api.log
        self.client = Client(self.cluster.api, "kubernetes-admin", "kubectl")
        self.run_until(lambda: all(map(ready, self.client.list("pods", "kube-system"))))

    def run_until(self, done: Callable[[], bool]) -> float:
        """Let time pass until something holds; how many virtual seconds that took."""
        begun = self.world.kernel.now
        while not done():
            assert self.world.kernel.now - begun < PATIENCE_S, "the cluster does not get there"
            self.world.run_for(0.5)
        return self.world.kernel.now - begun

    def deploy(self, count: int) -> None:
        for number in range(count):
            self.client.create(deployment(f"app-{number:04}"))

    def rolled_out(self) -> bool:
        return all(map(complete, self.client.list("deployments.apps", "default")))

    def roll(self) -> None:
        """Change the template of every Deployment."""
        for one in self.client.list("deployments.apps", "default"):
            self.client.edit(one, lambda obj: container(obj).update(env=[{"name": "RELEASE", "value": "2"}]))


def deployment(name: str) -> Object:
    labels = {"app": name}
    main = {"name": "main", "image": "busybox:1.36", "command": ["sleep", "86400"]}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [main]}}
    spec = {"replicas": PODS_EACH, "selector": {"matchLabels": labels}, "template": template}
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def container(obj: Object) -> Object:
    found: Object = obj["spec"]["template"]["spec"]["containers"][0]
    return found


def ready(pod: Object) -> bool:
    conditions = pod["status"].get("conditions") or ()
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def complete(obj: Object) -> bool:
    status, wanted = obj.get("status") or {}, obj["spec"]["replicas"]
    counts = [status.get(name, 0) for name in ("replicas", "updatedReplicas", "availableReplicas")]
    return status.get("observedGeneration") == obj["metadata"]["generation"] and counts == [wanted] * 3


def memory_kb() -> float:
    """What this process holds now."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4.0


def started() -> Figures:
    """From nothing to a ready system of four nodes, the first time in a process and the second; then idling."""
    begun = time.process_time()
    Lab(4)
    first_s = time.process_time() - begun
    begun = time.process_time()
    lab = Lab(4)
    start_s = time.process_time() - begun
    virtual_s = lab.world.kernel.now
    return {
        "first_start_s": first_s,
        "start_s": start_s,
        "virtual_s": virtual_s,
        "idle_speed": speed(lab, 1_800.0),
    }


def speed(lab: Lab, virtual_s: float) -> float:
    """Simulated seconds per second of CPU."""
    begun = time.process_time()
    lab.world.run_for(virtual_s)
    return virtual_s / (time.process_time() - begun)


def deployed(count: int) -> Figures:
    """So many Deployments from their creation until all their pods are ready."""
    pods = count * PODS_EACH
    lab = Lab(1 + -(-pods // PODS_PER_NODE))
    lab.world.run_for(10)
    held_kb, writes, events = memory_kb(), lab.log.revision, lab.log.count("", "events")
    begun, wall = time.process_time(), time.perf_counter()
    lab.deploy(count)
    virtual_s = lab.run_until(lab.rolled_out)
    cpu_s, wall_s = time.process_time() - begun, time.perf_counter() - wall
    grown_kb = memory_kb() - held_kb
    objects = [copy(obj) for kind in KINDS for obj in lab.client.list(kind, "default")]
    objects_kb = memory_kb() - held_kb - grown_kb
    del objects
    return {
        "deployments": count,
        "pods": pods,
        "nodes": len(lab.cluster.kubelets),
        "wall_s": wall_s,
        "cpu_s": cpu_s,
        "virtual_s": virtual_s,
        "ms_per_pod": cpu_s / pods * 1e3,
        "writes_per_pod": (lab.log.revision - writes) / pods,
        "events_per_pod": (lab.log.count("", "events") - events) / pods,
        "kb_per_pod": grown_kb / pods,
        "kb_per_pod_beyond_objects": (grown_kb - objects_kb) / pods,
        "speed_afterwards": speed(lab, 60.0),
    }


def updated(count: int) -> Figures:
    """A rolling update of so many Deployments, until the last old pod is gone."""
    lab = Lab(1 + -(-2 * count * PODS_EACH // PODS_PER_NODE))
    lab.deploy(count)
    lab.run_until(lab.rolled_out)
    begun = time.process_time()
    lab.roll()
    pods = count * PODS_EACH
    virtual_s = lab.run_until(lambda: lab.rolled_out() and len(lab.client.list("pods", "default")) == pods)
    cpu_s = time.process_time() - begun
    return {"deployments": count, "cpu_s": cpu_s, "virtual_s": virtual_s, "ms_per_pod": cpu_s / pods * 1e3}


def alone(measure: Callable[..., Figures], *args: Any) -> Figures:
    """A measurement in a process of its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(measure, *args).result()


def main() -> int:
    start = alone(started)
    runs = [alone(deployed, count) for count in SIZES]
    update = alone(updated, UPDATED)
    growth = runs[-1]["ms_per_pod"] / runs[0]["ms_per_pod"]
    memory_growth = runs[-1]["kb_per_pod"] / runs[0]["kb_per_pod"]
    held = {**start, **runs[-1], "growth": growth}
    missed = [name for name, (least, most) in BUDGETS.items() if not least <= held[name] <= most]
    if "--json" in sys.argv:
        figures = {"start": start, "deployed": runs, "updated": update}
        print(json.dumps({**figures, "growth": growth, "memory_growth": memory_growth, "missed": missed}))
    else:
        console = Console()
        console.print(table("Four nodes from nothing, then idle", [start]))
        console.print(table(f"Deployments of {PODS_EACH} pods until ready", runs))
        console.print(f"growth per Deployment: CPU {growth:.2f}x, memory {memory_growth:.2f}x")
        console.print(table("Rolling update", [update]))
        if missed:
            console.print(f"over budget: {', '.join(missed)}")
    return 1 if missed else 0


def table(title: str, runs: list[Figures]) -> Table:
    """A line for each figure, a column for each run."""
    result = Table("", *("" for _ in runs), title=title, show_header=False)
    for name in runs[0]:
        result.add_row(name, *(f"{run[name]:,.4g}" for run in runs))
    return result


if __name__ == "__main__":
    sys.exit(main())
