"""The network of a cluster as one thing: what its assembly makes once and hands to kubelets and images."""

from __future__ import annotations

from dataclasses import dataclass

from aiopslab.cluster.api.api import Api
from aiopslab.cluster.network.pod_network import ClusterNetwork
from aiopslab.cluster.network.policies import Policies
from aiopslab.cluster.network.router import ClusterRouter
from aiopslab.cluster.network.services import ServiceProxies
from aiopslab.machine.network import Network


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
