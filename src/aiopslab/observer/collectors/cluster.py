"""The targets that a monitored cluster has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from aiopslab.cluster.cluster import Cluster
from aiopslab.cluster.nodes import KUBELET_PORT
from aiopslab.machine.emit import MemoryEmitter
from aiopslab.observer.collectors.emitted import read_emitted
from aiopslab.observer.collectors.kube_state import KubeState
from aiopslab.observer.collectors.machines import read_containers, read_machine
from aiopslab.observer.metrics import MetricStore
from aiopslab.observer.scrape import Target

# What dashboards look up; the rest is as self-explaining as its name.
_HELP: Final = {
    "up": ("gauge", "Whether the last scrape of the target succeeded."),
    "kube_pod_status_phase": ("gauge", "The phase a pod is in."),
    "kube_pod_container_status_restarts_total": ("counter", "How often a container was restarted."),
    "kube_pod_container_status_waiting_reason": ("gauge", "Why a container waits."),
    "kube_deployment_spec_replicas": ("gauge", "How many pods a deployment wants."),
    "kube_deployment_status_replicas_available": ("gauge", "How many pods of a deployment are available."),
    "kube_node_status_condition": ("gauge", "The conditions of a node."),
    "container_cpu_usage_seconds_total": ("counter", "Processor time that a container has used."),
    "container_memory_working_set_bytes": ("gauge", "Memory that a container cannot do without."),
    "container_cpu_cfs_throttled_periods_total": ("counter", "Periods in which a container was held back."),
    "node_cpu_seconds_total": ("counter", "Seconds that processors spent in each mode."),
    "node_memory_MemAvailable_bytes": ("gauge", "Memory that could be given to programs."),
    "node_filesystem_avail_bytes": ("gauge", "Space that is left for everybody."),
    "rpc_server_requests_total": ("counter", "Calls that a service has answered."),
    "rpc_server_errors_total": ("counter", "Calls that failed."),
    "rpc_server_duration_seconds": ("histogram", "How long calls took."),
}


def describe_families(store: MetricStore) -> None:
    """Tell a store what the usual metrics are."""
    for name, (type, help) in _HELP.items():
        store.describe(name, type, help)


def cluster_targets(cluster: Cluster, emitter: MemoryEmitter | None = None) -> Callable[[], Sequence[Target]]:
    """Finds the targets of a cluster: its objects, its machines, their containers, and what software emits."""
    state = KubeState(cluster.api)
    fixed = [Target("kube-state-metrics", "kube-state-metrics:8080", state.read)]
    if emitter is not None:
        fixed.append(Target("services", "services", partial(read_emitted, emitter)))

    def discover() -> list[Target]:
        found = list(fixed)
        for name, kubelet in cluster.kubelets.items():
            machine = kubelet.node.machine
            address = machine.host.namespace.address
            node = (("node", name),)
            found.append(Target("node-exporter", f"{address}:9100", partial(read_machine, machine), node))
            read = partial(read_containers, kubelet)
            found.append(Target("kubelet", f"{address}:{KUBELET_PORT}", read, node))
        return found

    return discover
