"""The cost of scheduling a pod, including its binding and its event, and its growth with the number of pods.

The pods belong to twenty ReplicaSets, so that spreading has something to count; the cluster has no other workload.
Figures are CPU time of this process. The budget is on growth: with 5,000 pods, a pod may cost at most half as
much again as with 500. ``python benchmarks/scheduler.py [--json] [--short]``
"""

from __future__ import annotations

import gc
import sys

from _measure import Stopwatch
from _report import Budget, Report, run, tabulate_rows

from simcloud.kubernetes.api.admission.nodes import TaintNodes
from simcloud.kubernetes.api.admission.service_accounts import ServiceAccounts
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.cluster import Cluster
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.scheduler import Scheduler
from simcloud.sim import Kernel

NODES, OWNERS = 20, 20
SMALL, LARGE = 500, 5_000
GROWTH = Budget(1.5)
VIRTUAL_S = 60.0
CAPACITY = {"cpu": "64", "memory": "512Gi", "pods": "600"}


def measure_ms_per_pod(pods: int) -> float:
    """Schedule this many pods and return the CPU time of one."""
    api = Cluster(Kernel(1)).api
    api.admission = [
        plugin for plugin in api.admission if not isinstance(plugin, ServiceAccounts | TaintNodes)
    ]
    client = ComponentClient(api, "admin", "benchmark")
    client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}})
    Scheduler(api).start()
    for number in range(NODES):
        create_node(client, f"n{number}")
    owners = [create_owner(client, f"app{number}") for number in range(OWNERS)]
    for number in range(pods):
        create_pod(client, f"p{number}", owners[number % OWNERS])
    gc.collect()
    gc.disable()
    watch = Stopwatch()
    api.kernel.run_for(VIRTUAL_S)
    cpu_s = watch.cpu_s
    gc.enable()
    placed = sum(bool(pod["spec"].get("nodeName")) for pod in client.list("pods", "lab"))
    assert placed == pods, f"{placed} of {pods} pods have a node"
    return cpu_s / pods * 1e3


def create_node(client: ComponentClient, name: str) -> None:
    metadata = {"name": name, "labels": {"kubernetes.io/hostname": name}}
    changed: Object = copy(client.create({"apiVersion": "v1", "kind": "Node", "metadata": metadata}))
    changed["status"] = {"capacity": CAPACITY, "allocatable": CAPACITY}
    client.update_status(changed)


def create_owner(client: ComponentClient, name: str) -> Object:
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


def create_pod(client: ComponentClient, name: str, owner: Object) -> None:
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


def measure(short: bool) -> Report:
    sizes = (10, 20) if short else (SMALL, LARGE)
    rows = [{"pods": pods, "nodes": NODES, "CPU ms per pod": measure_ms_per_pod(pods)} for pods in sizes]
    growth = rows[-1]["CPU ms per pod"] / rows[0]["CPU ms per pod"]
    return Report(
        {"scheduled": rows, "growth": growth},
        [tabulate_rows("Pods scheduled", rows), f"growth {growth:.2f}x ({GROWTH})"],
        GROWTH.find_missed("growth of the CPU time per pod", growth),
    )


if __name__ == "__main__":
    sys.exit(run(__doc__, measure))
