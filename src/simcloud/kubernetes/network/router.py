"""Routing in the cluster: Services first, then host ports of pods, then network policies.

``ClusterRouter`` is the machines' ``Router``; ``install_network`` creates it with everything it looks up. It is
called once for each connection and each datagram, so every step is a table look-up.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.network.iptables import SYN_BYTES
from simcloud.kubernetes.network.node_tables import NodeTables
from simcloud.kubernetes.network.pod_network import ClusterNetwork
from simcloud.kubernetes.network.policies import Policies
from simcloud.kubernetes.network.services import SERVICE_PREFIX, ServiceProxies
from simcloud.machine import Machine
from simcloud.machine.network import (
    DROP,
    Interface,
    Network,
    Packet,
    Route,
    Verdict,
    gateway_of,
    is_host,
    is_loopback,
)


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
        if source.filter is not None:
            sent = Packet(transport, (source.address, 0), (address, port), SYN_BYTES, new=True)
            address, port = source.filter.redirect(sent)
        if is_loopback(address):
            return self._loopback(source, address, port, transport)
        route = self._translate(source, address, port, transport)
        if route.verdict is not Verdict.DELIVER:
            return route
        if not self._policies.permit(source, route, transport):
            return DROP
        return self._choose_source(source, route, address) if not route.source else route

    def _choose_source(self, source: Interface, route: Route, address: str) -> Route:
        """Pods see their machine by its address on their own link, and themselves too when a Service leads back."""
        if is_host(source):
            target = self._network.find(route.address)
            if target is None or target is source or target.machine != source.machine:
                return route
        elif route.address != source.address or address == source.address:
            return route
        return Route(Verdict.DELIVER, route.address, route.port, gateway_of(route.address), route.via)

    def _translate(self, source: Interface, address: str, port: int, transport: str) -> Route:
        found: Route | None
        if self._pods.is_node(source.machine):
            found = self._services.route_service(source.machine, source.address, address, port, transport)
        else:
            found = self._services.route_from_outside(source.address, address, port, transport)
            if found is None and address.startswith(SERVICE_PREFIX):
                return DROP  # the gateway has no route to it and does not answer
        if found is None:
            found = self._at_node(source, address, port, transport)
        return found if found is not None else Route.deliver(address, port)

    def _at_node(self, source: Interface, address: str, port: int, transport: str) -> Route | None:
        """What the node that has this address does with the packet; None when it simply takes it."""
        owner = self._network.find(address)
        if owner is None or self._pods.pod_at(address) is not None:
            return None
        node = owner.machine
        found = self._at_node_port(source, owner, port, transport)
        if found is None:
            found = self._services.route_external(node, source.address, address, port, transport)
        if found is None:
            end = self._pods.host_port(node, address, port, transport)
            found = Route.deliver(*end) if end is not None else None
        return found

    def _at_node_port(self, source: Interface, owner: Interface, port: int, transport: str) -> Route | None:
        """Where a node port leads; the node's address replaces the sender's unless the policy is ``Local``."""
        node = owner.machine
        service_port = self._services.find_node_port(node, port, transport)
        if service_port is None:
            return None
        found = self._services.route_node_port(node, service_port, source.address, node == source.machine)
        if found.verdict is not Verdict.DELIVER or service_port.external_local:
            return found
        target = self._network.find(found.address)
        if target is None or target is owner:
            return found
        address = gateway_of(found.address) if target.machine == node else owner.address
        via = node if node not in (source.machine, target.machine) else ""
        return Route(Verdict.DELIVER, found.address, found.port, address, via)

    def _loopback(self, source: Interface, address: str, port: int, transport: str) -> Route:
        """Node ports answer on a node's own loopback too; inside a pod it is just the pod."""
        if self._pods.pod_at(source.address) is None:
            found = self._at_node_port(source, source, port, transport)
            if found is not None:
                return found
        return Route.deliver(address, port)


class Networking(Struct, frozen=True):
    """The parts, each used by somebody else: ``pods`` by kubelets, ``services`` by kube-proxy."""

    pods: ClusterNetwork
    services: ServiceProxies


def install_network(api: Api, network: Network, machines: Sequence[Machine] = ()) -> Networking:
    """Let a cluster's Services and policies decide the way of packets from now on.

    Rules of Services hold on a node from the moment its kube-proxy runs (``services.run_on``).
    """
    pods = ClusterNetwork(api)
    services = ServiceProxies(api)
    policies = Policies(api, pods)
    network.router = ClusterRouter(network, pods, services, policies)
    network.cluster = NodeTables(network, pods, services, policies, machines)
    return Networking(pods, services)
