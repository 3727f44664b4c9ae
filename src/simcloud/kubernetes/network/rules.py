"""The rules of kube-proxy for one Service: the endpoints of each port.

The choice of endpoints is that of kube-proxy's iptables mode: the ready ones; without any, those that are terminating
but still serve. With the policy ``Local`` only the endpoints of one node count. A Service without endpoints refuses
connections; one whose endpoints are all excluded by the policy drops them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from ipaddress import IPv4Network, ip_address
from typing import Final, NamedTuple

from msgspec import Struct, field

from simcloud.kubernetes.api.objects import Object
from simcloud.machine.network import Endpoint, Route

SERVICE_NAME: Final = "kubernetes.io/service-name"
OTHER_PROXY: Final = "service.kubernetes.io/service-proxy-name"
AFFINITY_S: Final = 10_800


class Target(NamedTuple):
    """One place a Service's port leads to."""

    address: str
    port: int
    node: str
    ready: bool
    serves_while_terminating: bool

    @property
    def route(self) -> Route:
        """The way there; made once, for all packets."""
        return Route.deliver(self.address, self.port)


class ServicePort(Struct, frozen=True):
    """One port of a Service and all that is behind it."""

    namespace: str
    service: str
    port_name: str
    usable: tuple[Route, ...]
    by_node: dict[str, tuple[Route, ...]]
    """What a policy of ``Local`` may use on each node."""
    internal_local: bool
    external_local: bool
    affinity_s: float | None
    source_ranges: tuple[IPv4Network, ...]
    """Sources that may use the load balancer's address; empty means all."""
    uses: dict[str, int] = field(default_factory=dict)
    node_port_uses: dict[str, int] = field(default_factory=dict)
    """Connections and datagrams on each node, by the cluster's address and by the node port."""

    @property
    def key(self) -> tuple[str, str, str]:
        """The name of this port in the whole cluster."""
        return self.namespace, self.service, self.port_name

    def allows_source(self, address: str) -> bool:
        """Whether the load balancer's address is open to this source."""
        return not self.source_ranges or any(ip_address(address) in each for each in self.source_ranges)


class Front(NamedTuple):
    """An address and port where a Service is found; ``kind`` is cluster, external or balancer."""

    address: str
    port: int
    transport: str
    kind: str


class ServiceRules(NamedTuple):
    """All rules of one Service."""

    fronts: list[tuple[Front, ServicePort]]
    node_ports: list[tuple[tuple[int, str], ServicePort]]


def is_proxied(service: Object) -> bool:
    """Whether kube-proxy has anything to do for a Service."""
    spec = service["spec"]
    if spec.get("type") == "ExternalName" or spec.get("clusterIP") in (None, "", "None"):
        return False
    return OTHER_PROXY not in (service["metadata"].get("labels") or {})


def rules_of(service: Object, slices: Iterable[Object]) -> ServiceRules:
    """The rules for a Service with these EndpointSlices."""
    spec, slices = service["spec"], list(slices)
    rules = ServiceRules([], [])
    balancer = (service.get("status") or {}).get("loadBalancer") or {}
    addresses = [(address, "cluster") for address in spec.get("clusterIPs") or [spec["clusterIP"]]]
    addresses += [(address, "external") for address in spec.get("externalIPs") or ()]
    addresses += [
        (each["ip"], "balancer")
        for each in balancer.get("ingress") or ()
        if each.get("ip") and each.get("ipMode") != "Proxy"
    ]
    for port in spec.get("ports") or ():
        made = _service_port(service, port.get("name") or "", slices)
        transport = port.get("protocol", "TCP").lower()
        for address, kind in addresses:
            rules.fronts.append((Front(address, port["port"], transport, kind), made))
        if port.get("nodePort"):
            rules.node_ports.append(((port["nodePort"], transport), made))
    return rules


def _service_port(service: Object, port_name: str, slices: Sequence[Object]) -> ServicePort:
    metadata, spec = service["metadata"], service["spec"]
    targets = list(_targets(port_name, slices))
    affinity = None
    if spec.get("sessionAffinity") == "ClientIP":
        affinity = ((spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}).get(
            "timeoutSeconds"
        ) or AFFINITY_S
    nodes: dict[str, list[Target]] = {}
    for target in targets:
        nodes.setdefault(target.node, []).append(target)
    return ServicePort(
        namespace=metadata["namespace"],
        service=metadata["name"],
        port_name=port_name,
        usable=_usable(targets),
        by_node={node: _usable(there) for node, there in nodes.items()},
        internal_local=spec.get("internalTrafficPolicy") == "Local",
        external_local=spec.get("externalTrafficPolicy") == "Local",
        affinity_s=affinity,
        source_ranges=tuple(
            IPv4Network(each.strip(), strict=False)
            for each in spec.get("loadBalancerSourceRanges") or ()
            if ":" not in each
        ),
    )


def _targets(port_name: str, slices: Sequence[Object]) -> Iterator[Target]:
    seen: set[Endpoint] = set()
    for each in slices:
        if each.get("addressType") != "IPv4":
            continue
        numbers = [
            port["port"]
            for port in each.get("ports") or ()
            if (port.get("name") or "") == port_name and port.get("port")
        ]
        for endpoint in each.get("endpoints") or ():
            ready, draining = _conditions(endpoint.get("conditions") or {})
            for address in endpoint["addresses"][:1]:
                for number in numbers:
                    if (address, number) not in seen:
                        seen.add((address, number))
                        yield Target(address, number, endpoint.get("nodeName") or "", ready, draining)


def _conditions(conditions: Object) -> tuple[bool, bool]:
    """Whether an endpoint is ready, and whether it serves though it is about to end. Unknown means yes."""
    ready = conditions.get("ready") is not False
    serving = conditions["serving"] if conditions.get("serving") is not None else ready
    return ready, bool(serving and conditions.get("terminating"))


def _usable(targets: Sequence[Target]) -> tuple[Route, ...]:
    ready = tuple(target.route for target in targets if target.ready)
    return ready or tuple(target.route for target in targets if target.serves_while_terminating)
