"""Tables of a machine's or pod's kernel, computed when a tool asks: routes, neighbours, tracked connections."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from ipaddress import IPv4Address, IPv4Network
from typing import TYPE_CHECKING, Final, NamedTuple

from simcloud.machine.network.packets import SYN_SENT
from simcloud.machine.network.path import Interface
from simcloud.machine.network.ports import EPHEMERAL_PORTS
from simcloud.machine.network.routing import Endpoint, is_loopback
from simcloud.machine.network.tables import gateway_of, is_host, pair_name, prefix_length_of

if TYPE_CHECKING:
    from simcloud.machine.network.namespace import Namespace, NamespaceNetwork
    from simcloud.machine.network.ports import Pair

DEFAULT: Final = IPv4Network("0.0.0.0/0")


class RouteEntry(NamedTuple):
    """One row of the routing table."""

    target: IPv4Network
    gateway: str
    device: str
    scope: str = ""
    source: str = ""
    is_automatic: bool = False
    """Whether the kernel added it together with an address."""


class Neighbour(NamedTuple):
    """One row of ``ip neigh``."""

    address: str
    device: str
    hardware: str
    state: str


class Flow(NamedTuple):
    """One tracked connection: the way it began, and the way of its answers."""

    transport: str
    state: str
    source: Endpoint
    target: Endpoint
    reply_source: Endpoint
    reply_target: Endpoint
    left_s: int = 0
    """Of datagrams: how long it is still remembered."""


def hardware_of(address: str) -> str:
    """The Ethernet address of the interface that has an address: Docker derives it, kernels draw those of pods."""
    if address.startswith("172."):
        return "02:42:" + IPv4Address(address).packed.hex(":")
    return draw_hardware(address)


def draw_hardware(name: str) -> str:
    """An Ethernet address as the kernel draws it: locally administered, for one station."""
    first, *rest = sha256(name.encode()).digest()[:6]
    return bytes([first & 0xFC | 2, *rest]).hex(":")


def network_of(address: str) -> IPv4Network:
    """The network that an address belongs to."""
    return IPv4Network(f"{address}/{prefix_length_of(address)}", strict=False)


def routes_of(namespace: Namespace) -> list[RouteEntry]:
    """The routing table of a namespace, in the order of ``ip route``."""
    if not namespace.is_up:
        return []
    address, network = namespace.address, namespace.network
    own = network_of(address)
    gateway = str(own.network_address + 1)
    if not is_host(namespace):
        return [
            RouteEntry(DEFAULT, gateway, "eth0"),
            RouteEntry(own, gateway, "eth0", source=address),
            RouteEntry(IPv4Network(gateway), "", "eth0", "link", address),
        ]
    found = [RouteEntry(own, "", "eth0", "link", address, is_automatic=True)]
    if network.cluster is not None:
        for cidr, via in network.cluster.routes(namespace.machine):
            found.append(RouteEntry(IPv4Network(cidr), via, "eth0"))
    for pod in network.interfaces_on(namespace.machine):
        if not is_host(pod):
            found.append(RouteEntry(IPv4Network(pod.address), "", pair_name(pod), "host"))
    found.sort(key=lambda route: (int(route.target.network_address), route.target.prefixlen))
    return [RouteEntry(DEFAULT, gateway, "eth0"), *found]


def neighbours_of(namespace: Namespace) -> list[Neighbour]:
    """The addresses on the namespace's links that it has exchanged packets with."""
    network, address = namespace.network, namespace.address
    if not is_host(namespace):
        return [Neighbour(gateway_of(address), "eth0", draw_hardware(pair_name(namespace)), "REACHABLE")]
    found = []
    for pod in network.interfaces_on(namespace.machine):
        if not is_host(pod):
            state = "REACHABLE" if pod.connections() else "STALE"
            found.append(Neighbour(pod.address, pair_name(pod), hardware_of(pod.address), state))
    near = network_of(address)
    gateway = str(near.network_address + 1)
    peers = {gateway: "STALE"}
    talking = _find_connected_machines(network, namespace.machine)
    for machine in dict.fromkeys([*network.find_linked_machines(namespace.machine), *talking]):
        host = network.host_of(machine)
        if host is not None:
            end = host.address if IPv4Address(host.address) in near else gateway
            if peers.get(end) != "REACHABLE":
                peers[end] = "REACHABLE" if machine in talking else "STALE"
    found += [Neighbour(end, "eth0", hardware_of(end), state) for end, state in peers.items()]
    return found


def _find_connected_machines(network: NamespaceNetwork, machine: str) -> dict[str, None]:
    """The other machines that sockets of this one are connected to."""
    found: dict[str, None] = {}
    for namespace in network.interfaces_on(machine):
        for socket in namespace.sockets():
            end = socket.connection
            peer: Interface | None = network.find(socket.remote[0])
            if end is not None and end.state != SYN_SENT:
                peer = end.peer.namespace
            if peer is not None and peer.machine != machine:
                found[peer.machine] = None
    return found


# -- tracked connections -------------------------------------------------------------------------


def flows_on(network: NamespaceNetwork, machine: str) -> list[Flow]:
    """The connections that a machine tracks: its own, its pods', and those it forwards."""
    found: dict[tuple[Endpoint, Endpoint], Flow] = {}
    for client, server, state in _exchanges(network):
        ends = [_machine_of(network, client[0][0]), _machine_of(network, server[0][0])]
        node = _machine_of(network, client[1][0])  # the machine whose node port was used
        via = node if node not in ends else ""
        translates = via or (ends[0] if _has_rules(network, ends[0]) else ends[1])
        if machine == translates:
            flow = Flow("tcp", state, *client, *server)
        elif machine in ends:
            flow = Flow("tcp", state, server[1], server[0], *server)
        else:
            continue
        found.setdefault((flow.source, flow.reply_source), flow)
    for namespace in network.interfaces_on(machine):
        for socket in network.cluster.sockets(namespace) if network.cluster is not None else ():
            if socket.state != "LISTEN":
                is_server = socket.remote[1] >= EPHEMERAL_PORTS.start
                first, second = (socket.remote, socket.local) if is_server else (socket.local, socket.remote)
                flow = Flow("tcp", socket.state, first, second, socket.translated or second, first)
                found.setdefault((first, flow.reply_source), flow)
    return [*found.values(), *_list_datagram_flows(network, machine)]


def _list_datagram_flows(network: NamespaceNetwork, machine: str) -> Iterator[Flow]:
    now = network.kernel.now
    for flow in network.datagram_flows.list_tracked(now):
        asker, server = _machine_of(network, flow.source[0]), _machine_of(network, flow.real[0])
        # The machine of the asker translates the address of a Service; that of the server sees what came of it.
        target = flow.asked if asker == machine else flow.real
        if machine in (asker, server):
            state = "ASSURED" if flow.is_stream else "ANSWERED" if flow.is_answered else "UNREPLIED"
            left_s = int(flow.forgotten_at - now)
            yield Flow("udp", state, flow.source, target, flow.real, flow.source, left_s)


def _exchanges(network: NamespaceNetwork) -> Iterator[tuple[Pair, Pair, str]]:
    """Every connection of the network once: its ends as the client and as the server see them."""
    for namespace in network.namespaces():
        for connection in namespace.connections():
            ends = (connection.local, connection.remote)
            if connection.listener is None:
                if connection.state == SYN_SENT:
                    yield ends, (ends[1], ends[0]), SYN_SENT
                else:
                    peer = connection.peer
                    yield ends, (peer.local, peer.remote), connection.state
        for ends, state, peer_ends in namespace.list_closed_connections():
            if ends[0][1] >= EPHEMERAL_PORTS.start:
                yield ends, peer_ends, state
            else:
                yield peer_ends, ends, state


def _machine_of(network: NamespaceNetwork, address: str) -> str:
    found = network.find(address) if not is_loopback(address) else None
    return found.machine if found is not None else ""


def _has_rules(network: NamespaceNetwork, machine: str) -> bool:
    return network.cluster is not None and bool(machine) and network.cluster.is_node(machine)
