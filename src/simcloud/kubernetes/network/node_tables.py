"""What tools on a node show of the cluster's network: routes to pods, kube-proxy's rules, connections to the API server.

System components reach the API in process, without messages. Their connections are therefore derived from the processes
that run: as long as a component and the API server are there, so are the sockets of both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final
from zlib import crc32

from simcloud.kubernetes.network.iptables import find_dns_port, list_rules
from simcloud.kubernetes.network.pod_network import ClusterNetwork
from simcloud.kubernetes.network.policies import Policies
from simcloud.kubernetes.network.services import ServiceProxies
from simcloud.machine import Machine
from simcloud.machine.network import (
    EPHEMERAL_PORTS,
    NODE_PORT,
    Interface,
    Network,
    RuleLine,
    SocketInfo,
    is_host,
)
from simcloud.machine.process import Process

API_SERVER: Final = "kube-apiserver"
SERVICE_END: Final = ("10.96.0.1", 443)
SERVER_PORTS: Final = {API_SERVER: 6443, "kubelet": 10250, "node_exporter": 9100}
CLIENTS: Final = {
    API_SERVER: {"kubelet": 3, "kube-proxy": 1, "kindnetd": 1, "kube-controller": 3, "kube-scheduler": 2, "coredns": 1,
                 "local-path-prov": 1, "metrics-server": 1, "prometheus": 1},
    "kubelet": {"metrics-server": 1, "prometheus": 1},
    "node_exporter": {"prometheus": 1},
}  # fmt: skip
"""Connections that each program keeps open to a server."""

ETCD_END: Final = ("127.0.0.1", 2379)
ETCD_CONNECTIONS: Final = 24
CONTAINERD: Final = "containerd"
DOCKER_DNS: Final = "127.0.0.11"
LOCAL: Final = "127.0.0.1"
NFS_PORT: Final = 2049
RESERVED: Final = range(665, 1024)
"""The ports that the kernel's own clients use."""
_make_established: Final = partial(SocketInfo, "tcp", "ESTAB", 0, 0)


class NodeTables:
    """The cluster's part of the tables of its nodes."""

    def __init__(
        self,
        network: Network,
        pods: ClusterNetwork,
        services: ServiceProxies,
        policies: Policies,
        machines: Sequence[Machine],
    ) -> None:
        self._network = network
        self._pods = pods
        self._services = services
        self._policies = policies
        self._machines = machines

    def is_node(self, machine: str) -> bool:
        """Whether a machine is a node."""
        return self._pods.is_node(machine)

    def routes(self, machine: str) -> list[tuple[str, str]]:
        """The pod ranges of other nodes, each with its node's address."""
        found = []
        for cidr, node in self._pods.other_ranges(machine):
            host = self._network.host_of(node)
            if host is not None:
                found.append((cidr, host.address))
        return found

    def rules(self, machine: str) -> dict[str, list[RuleLine]]:
        """The rules of kube-proxy and the kubelet; none on a machine that is not a node."""
        if not self._pods.is_node(machine):
            return {}
        pods = [each.received for each in self._network.interfaces_on(machine) if not is_host(each)]
        forwarded = (sum(pod.total("packets") for pod in pods), sum(pod.total("bytes") for pod in pods))
        return list_rules(self._services.table_of(machine), machine, forwarded)

    def list_isolated(self, machine: str) -> list[str]:
        """The addresses of a machine's pods that a policy selects."""
        pods = [each.address for each in self._network.interfaces_on(machine) if not is_host(each)]
        return [address for address in pods if self._policies.has_policy(address)]

    def service_uses(self) -> dict[str, dict[str, int]]:
        """The connections to each Service by machine."""
        found: dict[str, dict[str, int]] = {}
        for port in self._services.list_ports():
            name = "/".join(port.key)
            found |= {name: port.uses, NODE_PORT + name: port.node_port_uses}
        return found

    def sockets(self, namespace: Interface) -> list[SocketInfo]:
        """The sockets of system components in a namespace."""
        machine = next((each for each in self._machines if each.name == namespace.machine), None)
        if machine is None:
            return []
        found = [socket for owner, socket in self._list_connections() if owner is namespace]
        if is_host(namespace):
            found += self._local_sockets(machine)
        return found

    def _list_connections(self) -> Iterator[tuple[Interface, SocketInfo]]:
        """Both ends of every connection that is always open, each with the namespace that it is in."""
        processes = [
            (process, container.namespace)
            for machine in self._machines
            if machine.running
            for container in machine.containers.values()
            for process in container.processes.values()
        ]
        servers = [each for each in processes if each[0].name in SERVER_PORTS]
        for client, inside in processes:
            for server, outside in servers:
                end = (outside.address, SERVER_PORTS[server.name])
                by_service = server.name == API_SERVER and not is_host(inside)
                dialled = SERVICE_END if by_service else end
                for index in range(CLIENTS[server.name].get(client.name, 0)):
                    port = _choose_port(f"{inside.name} {client.host_pid} {outside.name} {index}")
                    local = (inside.address, port)
                    yield inside, _make_established(local, dialled, owner=client, translated=end)
                    yield outside, _make_established(end, local, owner=server, is_dual=True)

    def _local_sockets(self, machine: Machine) -> Iterator[SocketInfo]:
        mounts = [mount.options for mount in machine.host.files.mounts() if mount.fstype == "nfs4"]
        for address in dict.fromkeys(options.rpartition("addr=")[2] for options in mounts):
            port = _choose_port(f"{machine.name} {address}", RESERVED)
            yield _make_established((machine.host.namespace.address, port), (address, NFS_PORT))
        if self._pods.is_node(machine.name):  # of Docker, whose processes a node does not see
            for transport, state in (("tcp", "LISTEN"), ("udp", "UNCONN")):
                end = (DOCKER_DNS, find_dns_port(machine.name, transport))
                yield SocketInfo(transport, state, 0, 4096 if transport == "tcp" else 0, end, ("0.0.0.0", 0))
        runtime = _find_process(machine, CONTAINERD)
        if runtime is not None:
            port = _choose_port(f"{machine.name} {CONTAINERD}")
            yield SocketInfo("tcp", "LISTEN", 0, 4096, (LOCAL, port), ("0.0.0.0", 0), owner=runtime)
        server, store = _find_process(machine, API_SERVER), _find_process(machine, "etcd")
        if server is not None and store is not None:
            for index in range(ETCD_CONNECTIONS):
                local = (LOCAL, _choose_port(f"{API_SERVER} {server.host_pid} etcd {index}"))
                yield _make_established(local, ETCD_END, owner=server)
                yield _make_established(ETCD_END, local, owner=store)


def _find_process(machine: Machine, name: str) -> Process | None:
    return next((process for process in machine.processes.values() if process.name == name), None)


def _choose_port(identity: str, ports: range = EPHEMERAL_PORTS) -> int:
    """A port that stays the same as long as the processes do."""
    return ports[crc32(identity.encode()) % len(ports)]
