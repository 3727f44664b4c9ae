"""The network of a cluster as one thing: what its assembly makes once and hands to kubelets and images."""

from __future__ import annotations

from dataclasses import dataclass

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.network.pod_network import ClusterNetwork
from simcloud.kubernetes.network.policies import Policies
from simcloud.kubernetes.network.router import ClusterRouter
from simcloud.kubernetes.network.services import ServiceProxies
from simcloud.machine.network import Network


@dataclass(frozen=True, slots=True)
class Networking:
    """The parts, each used by somebody else: ``pods`` by kubelets, ``services`` by kube-proxy."""

    pods: ClusterNetwork
    services: ServiceProxies


def install_network(api: Api, network: Network) -> Networking:
    """Let a cluster's Services and policies decide the way of packets from now on.

    Rules of Services hold on a node from the moment its kube-proxy runs (``services.run_on``).
    """
    pods = ClusterNetwork(api)
    services = ServiceProxies(api)
    network.router = ClusterRouter(network, pods, services, Policies(api, pods))
    return Networking(pods, services)
