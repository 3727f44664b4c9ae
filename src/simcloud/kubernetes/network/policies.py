"""NetworkPolicies: which pods may communicate, decided at the start of a connection or for each datagram.

A pod that no policy selects accepts and sends everything; one that a policy selects for a direction accepts or sends
only what one of its policies allows there. Policies apply after Services are resolved, to the addresses of pods.
Forbidden packets are dropped, so the sender runs into its time-out. Replies to allowed traffic always pass,
established connections are not affected, and a node always reaches its own pods (for the kubelet's probes).
"""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_address, ip_network
from typing import Final, NamedTuple

from msgspec import Struct

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.selectors import from_label_selector
from simcloud.kubernetes.api.store import Key, Revision
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.network.pod_network import ClusterNetwork, PodIdentity
from simcloud.machine.network import Interface, Route

REPLY_S: Final = 30.0
"""How long an answer to a datagram is expected."""

FLOWS: Final = 16_384
"""Maximum number of datagram exchanges remembered; the oldest are dropped first."""


class Peer(NamedTuple):
    """The other end of a packet: its address, and its pod if it is one."""

    address: str
    pod: Object | None


PeerTest = Callable[[Peer], bool]
PortTest = Callable[[Object | None, int, str], bool]


class Allowance(Struct, frozen=True):
    """One rule of a policy: with whom, on which ports. No peers, or no ports, means all of them."""

    peers: tuple[PeerTest, ...] | None
    ports: tuple[PortTest, ...] | None

    def allows(self, peer: Peer, target: Object | None, port: int, transport: str) -> bool:
        """Whether this rule lets a packet through; ports with names are those of the target."""
        if self.peers is not None and not any(test(peer) for test in self.peers):
            return False
        return self.ports is None or any(test(target, port, transport) for test in self.ports)


class Isolation(NamedTuple):
    """What a pod may take and send; None where nothing is forbidden."""

    ingress: tuple[Allowance, ...] | None
    egress: tuple[Allowance, ...] | None


OPEN: Final = Isolation(None, None)


class Policies:
    """All policies, indexed by the pods they select."""

    def __init__(self, api: Api, pods: ClusterNetwork) -> None:
        self._log = api.log
        self._kernel = api.kernel
        self._pods = pods
        self._by_namespace: dict[str, dict[str, Object]] = {}
        self._isolations: dict[str, dict[str, Isolation]] = {}
        self._flows: dict[tuple[str, str], float] = {}
        client = ComponentClient(api, "system:serviceaccount:kube-system:kindnet", "kindnetd")
        client.follow("networkpolicies.networking.k8s.io", self._policy_changed)
        client.follow("pods", self._pod_changed)

    def permit(self, source: Interface, route: Route, transport: str) -> bool:
        """Whether a packet may go where it is routed."""
        if not self._by_namespace:
            return True
        sender, taker = self._pods.pod_at(source.address), self._pods.pod_at(route.address)
        of_sender, of_taker = self._isolation(sender), self._isolation(taker)
        if (of_sender is OPEN and of_taker is OPEN) or source.address == route.address:
            return True
        if transport == "udp" and self._is_answer(source.address, route.address):
            return True
        leaves, enters = of_sender.egress, of_taker.ingress
        source_pod, target_pod = self._object(sender), self._object(taker)
        if leaves is not None and not _is_allowed(
            leaves, Peer(route.address, target_pod), target_pod, route.port, transport
        ):
            return False
        from_own_node = sender is None and _machine_of(source, route.address) == source.machine
        if enters is not None and not (
            from_own_node
            or _is_allowed(enters, Peer(source.address, source_pod), target_pod, route.port, transport)
        ):
            return False
        if transport == "udp":
            self._expect_answer(source.address, route.address)
        return True

    def has_policy(self, address: str) -> bool:
        """Whether a policy selects the pod with an address."""
        return self._isolation(self._pods.pod_at(address)) != OPEN

    # -- answers to datagrams ------------------------------------------------------------------

    def _is_answer(self, source: str, target: str) -> bool:
        return self._flows.get((source, target), 0.0) > self._kernel.now

    def _expect_answer(self, source: str, target: str) -> None:
        self._flows.pop((target, source), None)
        self._flows[target, source] = self._kernel.now + REPLY_S
        if len(self._flows) > FLOWS:
            del self._flows[next(iter(self._flows))]

    # -- which policies select a pod -----------------------------------------------------------

    def _isolation(self, pod: PodIdentity | None) -> Isolation:
        if pod is None:
            return OPEN
        policies = self._by_namespace.get(pod.namespace)
        if not policies:
            return OPEN
        known = self._isolations.setdefault(pod.namespace, {})
        found = known.get(pod.name)
        if found is None:
            found = known[pod.name] = self._compute(policies, self._object(pod))
        return found

    def _compute(self, policies: dict[str, Object], pod: Object | None) -> Isolation:
        labels = ((pod or {}).get("metadata") or {}).get("labels") or {}
        ingress: list[Allowance] | None = None
        egress: list[Allowance] | None = None
        for _, policy in sorted(policies.items()):
            spec = policy["spec"]
            if not from_label_selector(spec.get("podSelector") or {}).matches(labels):
                continue
            namespace = policy["metadata"]["namespace"]
            if "Ingress" in (spec.get("policyTypes") or ("Ingress",)):
                ingress = (ingress or []) + self._allowances(namespace, spec.get("ingress"), "from")
            if "Egress" in (spec.get("policyTypes") or ()):
                egress = (egress or []) + self._allowances(namespace, spec.get("egress"), "to")
        return Isolation(
            None if ingress is None else tuple(ingress), None if egress is None else tuple(egress)
        )

    def _allowances(self, namespace: str, rules: list[Object] | None, side: str) -> list[Allowance]:
        return [
            Allowance(
                tuple(self._peer_test(namespace, peer) for peer in rule[side]) if rule.get(side) else None,
                tuple(_port_test(port) for port in rule["ports"]) if rule.get("ports") else None,
            )
            for rule in rules or ()
        ]

    def _peer_test(self, namespace: str, peer: Object) -> PeerTest:
        if peer.get("ipBlock"):
            return _block_test(peer["ipBlock"])
        pods = from_label_selector(peer.get("podSelector") or {})
        spaces = peer.get("namespaceSelector")
        selector = from_label_selector(spaces) if spaces is not None else None

        def test(other: Peer) -> bool:
            if other.pod is None:
                return False
            metadata = other.pod["metadata"]
            if not pods.matches(metadata.get("labels") or {}):
                return False
            if selector is None:
                return bool(metadata["namespace"] == namespace)
            space = self._log.get(Key("", "namespaces", "", metadata["namespace"])) or {}
            return selector.matches(space.get("metadata", {}).get("labels") or {})

        return test

    def _object(self, pod: PodIdentity | None) -> Object | None:
        return self._log.get(Key("", "pods", pod.namespace, pod.name)) if pod is not None else None

    # -- following the API ---------------------------------------------------------------------

    def _policy_changed(self, write: Revision) -> None:
        namespace, name = write.key.namespace, write.key.name
        self._isolations.pop(namespace, None)
        if write.change == "DELETED":
            self._by_namespace[namespace].pop(name, None)
            if not self._by_namespace[namespace]:
                del self._by_namespace[namespace]
        else:
            self._by_namespace.setdefault(namespace, {})[name] = write.object

    def _pod_changed(self, write: Revision) -> None:
        known = self._isolations.get(write.key.namespace)
        if known is not None:
            known.pop(write.key.name, None)


def _machine_of(source: Interface, address: str) -> str:
    owner = source.network.find(address)
    return owner.machine if owner is not None else ""


def _is_allowed(
    rules: tuple[Allowance, ...], peer: Peer, target: Object | None, port: int, transport: str
) -> bool:
    return any(rule.allows(peer, target, port, transport) for rule in rules)


def _block_test(block: Object) -> PeerTest:
    inside = ip_network(block["cidr"], strict=False)
    outside = [ip_network(each, strict=False) for each in block.get("except") or ()]

    def test(other: Peer) -> bool:
        address = ip_address(other.address)
        return address in inside and not any(address in each for each in outside)

    return test


def _port_test(wanted: Object) -> PortTest:
    protocol = wanted.get("protocol", "TCP").lower()
    port, last = wanted.get("port"), wanted.get("endPort")

    def test(target: Object | None, number: int, transport: str) -> bool:
        if transport != protocol:
            return False
        if port is None:
            return True
        if isinstance(port, str):
            return number in _find_ports(target, port, protocol)
        return bool(port <= number <= (last or port))

    return test


def _find_ports(pod: Object | None, name: str, protocol: str) -> list[int]:
    """The container ports that a pod gives this name."""
    if pod is None:
        return []
    return [
        port["containerPort"]
        for container in pod["spec"]["containers"]
        for port in container.get("ports") or ()
        if port.get("name") == name and port.get("protocol", "TCP").lower() == protocol
    ]
