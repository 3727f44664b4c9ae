"""Routing in the cluster: Services first, then host ports of pods, then network policies.

``ClusterRouter`` is the machines' ``Router``; ``install_network`` creates it with everything it looks up. It is
called once for each connection and each datagram, so every step is a table look-up.
"""

from __future__ import annotations

from dataclasses import dataclass

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.network.pod_network import ClusterNetwork
from simcloud.kubernetes.network.policies import Policies
from simcloud.kubernetes.network.services import ServiceProxies
from simcloud.machine.network import DROP, Interface, Network, Route, Verdict, is_loopback


class ClusterRouter:
    """Decides where packets of nodes and pods go."""

    def __init__(
        self, network: Network, pods: ClusterNetwork, services: ServiceProxies, policies: Policies
    ) -> None:
        self._network = network
        self._pods = pods
        self._services = services
        self._policies = policies

    def route(self, source: Interface, address: str, port: int, transport: str) -> Route:
        """Where a packet goes, or what becomes of it."""
        if is_loopback(address):
            return self._loopback(source, address, port, transport)
        route = self._translate(source, address, port, transport)
        if route.verdict is Verdict.DELIVER and not self._policies.permit(source, route, transport):
            return DROP
        return route

    def _translate(self, source: Interface, address: str, port: int, transport: str) -> Route:
        found: Route | None
        if self._pods.is_node(source.machine):
            found = self._services.route_service(source.machine, source.address, address, port, transport)
        else:
            found = self._services.route_from_outside(source.address, address, port, transport)
        if found is None:
            found = self._at_node(source, address, port, transport)
        return found if found is not None else Route.deliver(address, port)

    def _at_node(self, source: Interface, address: str, port: int, transport: str) -> Route | None:
        """What the node that has this address does with the packet; None when it simply takes it."""
        owner = self._network.find(address)
        if owner is None or self._pods.pod_at(address) is not None:
            return None
        node, from_here = owner.machine, owner.machine == source.machine
        found = self._services.route_node_port(node, source.address, port, transport, from_here)
        if found is None:
            found = self._services.route_external(node, source.address, address, port, transport)
        if found is None:
            end = self._pods.host_port(node, address, port, transport)
            found = Route.deliver(*end) if end is not None else None
        return found

    def _loopback(self, source: Interface, address: str, port: int, transport: str) -> Route:
        """Node ports answer on a node's own loopback too; inside a pod it is just the pod."""
        if self._pods.pod_at(source.address) is None:
            found = self._services.route_node_port(source.machine, source.address, port, transport, True)
            if found is not None:
                return found
        return Route.deliver(address, port)


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
