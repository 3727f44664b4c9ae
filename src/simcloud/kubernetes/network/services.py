"""kube-proxy on every node: rules that follow Services and EndpointSlices, and the choice of endpoints.

All nodes that are up to date share one table. It changes at once if there was no recent change, otherwise one second
after the last change (kube-proxy's minimum sync period). A node whose kube-proxy has stopped keeps its old rules; one
where it never ran has none. A connection costs one look-up, independent of the number of Services, and established
connections are not affected.

Topology hints are not implemented.
"""

from __future__ import annotations

from random import Random
from typing import Final

from msgspec import Struct, field

from simcloud.kubernetes.api.allocation import SERVICE_RANGE
from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.network.rules import SERVICE_NAME, ServicePort, ServiceRules, is_proxied, rules_of
from simcloud.machine.network import DROP, REFUSE, Route

SYNC_S: Final = 0.03
"""From a change in the API to the rules that follow it, when nothing else is under way."""

PAUSE_S: Final = 1.0
"""Between two runs (``minSyncPeriod``)."""

STICKY: Final = 65_536
"""Maximum number of clients remembered for session affinity; the oldest are dropped first."""

SERVICE_PREFIX: Final = str(SERVICE_RANGE.network_address).removesuffix("0.0")
ServiceName = tuple[str, str]


class Table(Struct):
    """The rules of one node, or of all nodes that are in step."""

    fronts: dict[tuple[str, int, str], tuple[str, ServicePort]] = field(default_factory=dict)
    node_ports: dict[tuple[int, str], ServicePort] = field(default_factory=dict)

    def copy(self) -> Table:
        """The rules as they are now, which follow nothing any more."""
        return Table(dict(self.fronts), dict(self.node_ports))

    def add(self, rules: ServiceRules) -> None:
        """Put a Service's rules in; where two Services claim the same, the first keeps it."""
        for front, port in rules.fronts:
            self.fronts.setdefault((front.address, front.port, front.transport), (front.kind, port))
        for number, port in rules.node_ports:
            self.node_ports.setdefault(number, port)

    def remove(self, rules: ServiceRules) -> None:
        """Take a Service's rules out again."""
        for front, port in rules.fronts:
            key = (front.address, front.port, front.transport)
            if key in self.fronts and self.fronts[key][1] is port:
                del self.fronts[key]
        for number, port in rules.node_ports:
            if self.node_ports.get(number) is port:
                del self.node_ports[number]


class ServiceProxies:
    """The kube-proxies of all nodes."""

    def __init__(self, api: Api) -> None:
        self._kernel = api.kernel
        self._client = ComponentClient(api, "system:kube-proxy", "kube-proxy")
        self._table = Table()
        self._tables: dict[str, Table] = {}
        self._services: dict[ServiceName, Object] = {}
        self._slices: dict[ServiceName, dict[str, Object]] = {}
        self._rules: dict[ServiceName, ServiceRules] = {}
        self._changed: dict[ServiceName, None] = {}
        self._last_run_at = -PAUSE_S
        self._scheduled = False
        self._sticky: dict[tuple[str, tuple[str, str, str], str], tuple[Route, float]] = {}
        self._streams: dict[str, Random] = {}
        self._client.follow("services", self._service_changed)
        self._client.follow("endpointslices.discovery.k8s.io", self._slice_changed)

    # -- the kube-proxy of a node --------------------------------------------------------------

    def run_on(self, node: str) -> None:
        """kube-proxy starts on a node: its rules follow the API from now on."""
        self._tables[node] = self._table

    def stop_on(self, node: str) -> None:
        """kube-proxy ends on a node: its rules stay as they are."""
        if self._tables.get(node) is self._table:
            self._tables[node] = self._table.copy()

    def runs_on(self, node: str) -> bool:
        """Whether the rules of a node follow the API."""
        return self._tables.get(node) is self._table

    # -- packets -------------------------------------------------------------------------------

    def route_service(self, node: str, source: str, address: str, port: int, transport: str) -> Route | None:
        """What the rules of the sender's node say; None where they say nothing."""
        table = self._tables.get(node)
        found = table.fronts.get((address, port, transport)) if table is not None else None
        if found is None:
            # Such an address leaves by the default route and nobody ever answers.
            return DROP if address.startswith(SERVICE_PREFIX) else None
        kind, service_port = found
        if kind == "balancer" and not service_port.allows_source(source):
            return DROP
        service_port.uses[node] = service_port.uses.get(node, 0) + 1
        # Pods that use an address meant for outsiders are sent on as if they had used the inner one.
        local = service_port.internal_local if kind == "cluster" else False
        return self._choose(node, service_port, source, local)

    def route_from_outside(self, source: str, address: str, port: int, transport: str) -> Route | None:
        """What a load balancer does with what comes from outside the cluster for its address."""
        found = self._table.fronts.get((address, port, transport))
        if found is None or found[0] != "balancer":
            return None
        if not found[1].allows_source(source):
            return DROP
        return self._choose("", found[1], source, local=False)

    def route_external(self, node: str, source: str, address: str, port: int, transport: str) -> Route | None:
        """What a node says about an external address that packets of strangers reach it by."""
        table = self._tables.get(node)
        found = table.fronts.get((address, port, transport)) if table is not None else None
        if found is None or found[0] != "external":
            return None
        return self._choose(node, found[1], source, found[1].external_local)

    def find_node_port(self, node: str, port: int, transport: str) -> ServicePort | None:
        """The Service that has a port of a node; None where its rules say nothing."""
        table = self._tables.get(node)
        return table.node_ports.get((port, transport)) if table is not None else None

    def route_node_port(self, node: str, port: ServicePort, source: str, from_here: bool) -> Route:
        """What the rules of a node say about a port of its own address."""
        port.node_port_uses[node] = port.node_port_uses.get(node, 0) + 1
        return self._choose(node, port, source, port.external_local and not from_here)

    def table_of(self, node: str) -> Table | None:
        """The rules of a node; None where kube-proxy never ran."""
        return self._tables.get(node)

    def list_ports(self) -> list[ServicePort]:
        """All ports of Services that the present rules know."""
        return [port for _, port in self._table.fronts.values()]

    def _choose(self, node: str, port: ServicePort, source: str, local: bool) -> Route:
        if not port.usable:
            return REFUSE
        ends = port.by_node.get(node, ()) if local else port.usable
        if not ends:
            return DROP
        if port.affinity_s is not None:
            return self._stick(node, port, source, ends, port.affinity_s)
        return self._any_of(node, ends)

    def _any_of(self, node: str, ends: tuple[Route, ...]) -> Route:
        if len(ends) == 1:
            return ends[0]
        stream = self._streams.get(node)
        if stream is None:
            stream = self._streams[node] = self._kernel.random(f"kube-proxy/{node}")
        return stream.choice(ends)

    def _stick(
        self, node: str, port: ServicePort, source: str, ends: tuple[Route, ...], timeout_s: float
    ) -> Route:
        key, now = (node, port.key, source), self._kernel.now
        end, seen_at = self._sticky.pop(key, (None, 0.0))
        if end is None or end not in ends or now - seen_at > timeout_s:
            end = self._any_of(node, ends)
        self._sticky[key] = (end, now)
        if len(self._sticky) > STICKY:
            del self._sticky[next(iter(self._sticky))]
        return end

    # -- following the API ---------------------------------------------------------------------

    def _service_changed(self, write: Revision) -> None:
        name = (write.key.namespace, write.key.name)
        if write.change == "DELETED" or not is_proxied(write.object):
            if self._services.pop(name, None) is None:
                return
        else:
            self._services[name] = write.object
        self._note(name)

    def _slice_changed(self, write: Revision) -> None:
        for obj in (write.before, write.object):
            service = ((obj or {}).get("metadata", {}).get("labels") or {}).get(SERVICE_NAME)
            if service is None or obj is None:
                continue
            name = (write.key.namespace, service)
            slices = self._slices.setdefault(name, {})
            if obj is write.object and write.change != "DELETED":
                slices[write.key.name] = obj
            else:
                slices.pop(write.key.name, None)
                if not slices:
                    del self._slices[name]
            self._note(name)

    def _note(self, name: ServiceName) -> None:
        self._changed[name] = None
        if not self._scheduled:
            self._scheduled = True
            wait_s = max(SYNC_S, self._last_run_at + PAUSE_S - self._kernel.now)
            self._kernel.call_later(wait_s, self._sync)

    def _sync(self, _argument: None) -> None:
        self._scheduled = False
        self._last_run_at = self._kernel.now
        changed, self._changed = self._changed, {}
        for name in changed:
            old = self._rules.pop(name, None)
            if old is not None:
                self._table.remove(old)
        for name in changed:
            service = self._services.get(name)
            if service is not None:
                slices = self._slices.get(name, {})
                new = self._rules[name] = rules_of(service, (slices[each] for each in sorted(slices)))
                self._table.add(new)
