"""The scheduler under load: what a pod costs to place, with its binding and its event, and how that grows.

The pods belong to twenty ReplicaSets, so that spreading has something to count; nothing else lives in the cluster.
The figures are this process's own CPU time. The budget is growth: placing 5,000 pods must not cost more than half
as much again per pod as 500. ``python benchmarks/scheduler.py [--json]``
"""

from __future__ import annotations

import gc
import json
import sys
import time
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from simcloud.kubernetes.api.admission.nodes import TaintNodes
from simcloud.kubernetes.api.admission.service_accounts import ServiceAccounts
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.component_client import Client
from simcloud.kubernetes.cluster import Cluster
from simcloud.kubernetes.scheduler import Scheduler
from simcloud.sim import Kernel

NODES, OWNERS = 20, 20
SMALL, LARGE = 500, 5_000
LARGEST_RATIO = 1.5
VIRTUAL_S = 60.0
CAPACITY = {"cpu": "64", "memory": "512Gi", "pods": "600"}


@dataclass(frozen=True)
class Figure:
    """How many pods were placed, and what one of them cost."""

    pods: int
    each_ms: float


def measure(pods: int) -> Figure:
    """Place so many pods."""
    api = Cluster(Kernel(1)).api
    api.admission = [one for one in api.admission if not isinstance(one, ServiceAccounts | TaintNodes)]
    client = Client(api, "admin", "benchmark")
    client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}})
    Scheduler(api).start()
    for number in range(NODES):
        _node(client, f"n{number}")
    owners = [_owner(client, f"app{number}") for number in range(OWNERS)]
    for number in range(pods):
        _pod(client, f"p{number}", owners[number % OWNERS])
    gc.collect()
    gc.disable()
    start = time.process_time()
    api.kernel.run_for(VIRTUAL_S)
    took_s = time.process_time() - start
    gc.enable()
    placed = sum(bool(one["spec"].get("nodeName")) for one in client.list("pods", "lab"))
    assert placed == pods, f"{placed} of {pods} pods have a node"
    return Figure(pods, took_s / pods * 1000)


def _node(client: Client, name: str) -> None:
    metadata = {"name": name, "labels": {"kubernetes.io/hostname": name}}
    changed: Object = copy(client.create({"apiVersion": "v1", "kind": "Node", "metadata": metadata}))
    changed["status"] = {"capacity": CAPACITY, "allocatable": CAPACITY}
    client.update_status(changed)


def _owner(client: Client, name: str) -> Object:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return client.create(
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {"name": name, "namespace": "lab"},
            "spec": {"replicas": 0, "selector": {"matchLabels": labels}, "template": template},
        }
    )


def _pod(client: Client, name: str, owner: Object) -> None:
    metadata = owner["metadata"]
    reference = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
    }
    resources = {"requests": {"cpu": "100m", "memory": "64Mi"}}
    client.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": "lab",
                "labels": {"app": metadata["name"]},
                "ownerReferences": [reference],
            },
            "spec": {"containers": [{"name": "c", "image": "busybox:1.36", "resources": resources}]},
        }
    )


def main() -> int:
    """Print the figures; 1 if a budget is missed."""
    figures = [measure(SMALL), measure(LARGE)]
    ratio = figures[1].each_ms / figures[0].each_ms
    kept = ratio <= LARGEST_RATIO
    if "--json" in sys.argv:
        told = {f"ms_per_pod_of_{one.pods}": round(one.each_ms, 3) for one in figures}
        print(json.dumps({**told, "ratio": round(ratio, 2), "kept": kept}))
    else:
        table = Table("pods", "nodes", "ms of CPU per pod")
        for one in figures:
            table.add_row(f"{one.pods:,}", str(NODES), f"{one.each_ms:.3f}")
        Console().print(table)
        print(f"growth {ratio:.2f}x, at most {LARGEST_RATIO}x: {'kept' if kept else 'missed'}")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
