"""The targets that a monitored cluster has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from simcloud.kubernetes import KUBELET_PORT, Cluster
from simcloud.kubernetes.kubelet import Kubelet
from simcloud.telemetry.collectors.exposition import Exposition, Programs
from simcloud.telemetry.collectors.kube_state import KubeState
from simcloud.telemetry.collectors.kubelets import KubeletReadings
from simcloud.telemetry.collectors.machines import MachineReadings
from simcloud.telemetry.metrics import MetricStore
from simcloud.telemetry.scrape import Target
from simcloud.telemetry.sink import Telemetry

API_SERVER: Final = "kubernetes.default.svc:443"

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
    "kubelet_running_pods": ("gauge", "Pods whose sandbox is up."),
    "apiserver_request_total": ("counter", "Writes that the API server has answered."),
    "node_cpu_seconds_total": ("counter", "Seconds that processors spent in each mode."),
    "node_memory_MemAvailable_bytes": ("gauge", "Memory that could be given to programs."),
    "node_filesystem_avail_bytes": ("gauge", "Space that is left for everybody."),
    **{
        f"{protocol}_server_{name}": about
        for protocol in ("grpc", "http", "thrift")
        for name, about in (
            ("requests_total", ("counter", "Requests that a service has answered.")),
            ("errors_total", ("counter", "Requests that failed.")),
            ("duration_seconds", ("histogram", "How long requests took.")),
        )
    },
}


def describe_families(store: MetricStore) -> None:
    """Set the metadata of the usual metrics in a store."""
    for name, (type, help) in _HELP.items():
        store.describe(name, type, help)


def cluster_targets(cluster: Cluster, telemetry: Telemetry) -> Callable[[], Sequence[Target]]:
    """Finds the targets of a cluster: its objects, its machines, their containers, and programs with metrics."""
    state = Target("kube-state-metrics", "kube-state-metrics:8080", KubeState(cluster.api).read)
    server = Target("apiserver", API_SERVER, Exposition(cluster.api.requests.metrics).read)
    hosts = [machine.host.namespace.address for machine in cluster.machines]
    programs = Programs(telemetry, hosts)
    nodes: dict[str, list[Target]] = {}

    def discover() -> list[Target]:
        found = [state, server]
        for name, kubelet in cluster.kubelets.items():
            if name not in nodes:
                nodes[name] = _node_targets(name, kubelet)
                hosts.append(kubelet.node.machine.host.namespace.address)
            found += nodes[name]
        return found + programs.targets()

    return discover


def _node_targets(name: str, kubelet: Kubelet) -> list[Target]:
    machine = kubelet.node.machine
    address, of = machine.host.namespace.address, (("node", name),)
    return [
        Target("node-exporter", f"{address}:9100", MachineReadings(machine).read, of),
        Target("kubelet", f"{address}:{KUBELET_PORT}", KubeletReadings(kubelet).read, of),
    ]
