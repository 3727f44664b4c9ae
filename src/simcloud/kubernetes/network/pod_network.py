"""Pod addresses: the interface of the network plugin for the kubelet, and the plugin.

Each node has its own range. Addresses are allocated in order, and a released address is reused only after the whole
range was used, as by CNI's host-local allocator. The first address of a range belongs to the bridge. A pod on the
host network has the machine's own namespace.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import NamedTuple, Protocol

from msgspec import Struct

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.store import Key, Revision
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.machine import Machine
from simcloud.machine.network import WILDCARDS, DnsSettings, Endpoint, Namespace, StubResolver

__all__ = ["ClusterNetwork", "DnsSettings", "NetworkNotReady", "NoAddressLeft", "PodIdentity", "PodNetwork"]


class PodNetworkError(Exception):
    """A pod's network could not be set up; the text is the plugin's."""


class NetworkNotReady(PodNetworkError):
    """The node has no range of addresses for its pods."""

    def __init__(self) -> None:
        super().__init__("cni plugin not initialized")


class NoAddressLeft(PodNetworkError):
    """All addresses of the node's range are taken."""

    def __init__(self, cidr: IPv4Network) -> None:
        first, last = cidr.network_address + 1, cidr.broadcast_address - 1
        super().__init__(
            f"failed to allocate for range 0: no IP addresses available in range set: {first}-{last}"
        )


class PodNetwork(Protocol):
    """What the kubelet needs of the network."""

    def attach(self, pod: Object, machine: Machine) -> Namespace:
        """A namespace for a pod: one of its own, or the machine's for a pod on the host's network.

        Raises ``PodNetworkError`` when there is no address for it.
        """
        ...

    def release(self, pod_uid: str) -> None:
        """A pod's sandbox is gone: end its namespace and free its address. Unknown pods are no matter."""
        ...

    def skip_addresses(self, machine: Machine, count: int) -> None:
        """Go on as if pods that are gone had used the next addresses and interfaces of a node."""
        ...

    def set_dns(self, namespace: Namespace, settings: DnsSettings) -> None:
        """Have the programs of a namespace find names in this way."""
        ...


class PodIdentity(Struct, frozen=True):
    """Which pod a namespace belongs to."""

    namespace: str
    name: str
    uid: str


class HostPort(NamedTuple):
    """A port of a node that leads into a pod."""

    host_address: str
    end: Endpoint


class ClusterNetwork:
    """The network plugin of all nodes."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._ranges: dict[str, _Range] = {}
        self._attached: dict[str, Namespace] = {}
        self._identities: dict[str, PodIdentity] = {}
        self._host_ports: dict[tuple[str, int, str], list[HostPort]] = {}
        self._nodes: dict[str, None] = {}
        ComponentClient(api, "system:serviceaccount:kube-system:kindnet", "kindnetd").follow(
            "nodes", self._node_changed
        )

    def attach(self, pod: Object, machine: Machine) -> Namespace:
        """A namespace with the next address of the node's range, or the machine's own."""
        if pod["spec"].get("hostNetwork"):
            return machine.host.namespace
        metadata = pod["metadata"]
        identity = PodIdentity(metadata["namespace"], metadata["name"], metadata["uid"])
        present = self._attached.get(identity.uid)
        if present is not None and not present.gone:
            return present
        self.release(identity.uid)
        address = self._range_of(machine).take()
        name = f"{identity.namespace}/{identity.name}"
        namespace = machine.network.namespace(name, address, machine.name)
        self._attached[identity.uid] = namespace
        self._identities[address] = identity
        for key, host_port in _host_ports(pod, machine.name, address):
            self._host_ports.setdefault(key, []).append(host_port)
        return namespace

    def skip_addresses(self, machine: Machine, count: int) -> None:
        """Leave out addresses and numbers of interfaces."""
        self._range_of(machine).last += count
        machine.network.machines[machine.name].next_interface += count

    def release(self, pod_uid: str) -> None:
        """End a pod's namespace; its address may be given to another pod from now on."""
        namespace = self._attached.pop(pod_uid, None)
        if namespace is None:
            return
        namespace.destroy()
        del self._identities[namespace.address]
        self._ranges[namespace.machine].give_back(namespace.address)
        self._forget_host_ports(namespace)

    def set_dns(self, namespace: Namespace, settings: DnsSettings) -> None:
        """Give a pod's namespace its resolver; a pod on the host's network leaves the host's as it is."""
        if namespace.address in self._identities:
            namespace.resolver = StubResolver(settings)

    def pod_at(self, address: str) -> PodIdentity | None:
        """The pod that has this address at present; none for nodes and strangers."""
        return self._identities.get(address)

    def host_port(self, node: str, address: str, port: int, transport: str) -> Endpoint | None:
        """Where a port of a node's address leads, if a pod there has asked for it."""
        for each in self._host_ports.get((node, port, transport), ()):
            if each.host_address in (*WILDCARDS, address):
                return each.end
        return None

    def is_node(self, machine: str) -> bool:
        """Whether a machine is a node of this cluster."""
        return machine in self._nodes

    def other_ranges(self, machine: str) -> list[tuple[str, str]]:
        """The pod ranges of the other nodes, each with its node's name, if ``machine`` is a node."""
        if machine not in self._nodes:
            return []
        found = []
        for name in self._nodes:
            node = self._api.log.get(Key("", "nodes", "", name)) or {}
            cidr = node.get("spec", {}).get("podCIDR")
            if name != machine and cidr:
                found.append((cidr, name))
        return sorted(found)

    def _node_changed(self, write: Revision) -> None:
        if write.change == "DELETED":
            self._nodes.pop(write.key.name, None)
        else:
            self._nodes[write.key.name] = None

    def _forget_host_ports(self, namespace: Namespace) -> None:
        for key in [key for key in self._host_ports if key[0] == namespace.machine]:
            left = [each for each in self._host_ports[key] if each.end[0] != namespace.address]
            if left:
                self._host_ports[key] = left
            else:
                del self._host_ports[key]

    def _range_of(self, machine: Machine) -> _Range:
        node = self._api.log.get(Key("", "nodes", "", machine.name))
        cidr = (node or {}).get("spec", {}).get("podCIDR")
        if not cidr:
            raise NetworkNotReady
        found = self._ranges.get(machine.name)
        if found is None or found.cidr != IPv4Network(cidr, strict=False):
            found = self._ranges[machine.name] = _Range(IPv4Network(cidr, strict=False))
        return found


def _host_ports(pod: Object, node: str, address: str) -> Iterator[tuple[tuple[str, int, str], HostPort]]:
    for container in pod["spec"].get("containers") or ():
        for port in container.get("ports") or ():
            if port.get("hostPort"):
                transport = port.get("protocol", "TCP").lower()
                end = (address, port["containerPort"])
                yield (node, port["hostPort"], transport), HostPort(port.get("hostIP") or "0.0.0.0", end)


class _Range:
    """The addresses of one node."""

    def __init__(self, cidr: IPv4Network) -> None:
        self.cidr = cidr
        self._taken: set[str] = set()
        self.last = 1

    def take(self) -> str:
        for offset in self._offsets():
            address = str(self.cidr.network_address + offset)
            if address not in self._taken:
                self._taken.add(address)
                self.last = offset
                return address
        raise NoAddressLeft(self.cidr)

    def give_back(self, address: str) -> None:
        self._taken.discard(address)

    def _offsets(self) -> Iterator[int]:
        """Every place for a pod once, beginning behind the last one given out."""
        end = self.cidr.num_addresses - 1
        yield from range(self.last + 1, end)
        yield from range(2, min(self.last + 1, end))
