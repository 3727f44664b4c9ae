"""The registry of a Consul server: its node and its services, with an index that grows with every change.

It is only in memory, as for a ``-dev`` agent: a restart begins with an empty registry and a low index. Each topic
has the index of its last change, which blocking queries wait for.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from msgspec import Struct, field

from simcloud.sim import Condition, Kernel

PASSING: Final = "passing"
STATES: Final = (PASSING, "warning", "critical")
DATACENTER: Final = "dc1"
OWN_SERVICE: Final = "consul"
"""Every server is an instance of this service, which no agent can deregister."""

OWN_PORT: Final = 8300
FIRST_INDEX: Final = 11
"""The index once a dev agent has elected itself and registered its own node."""

MAX_ENTRIES: Final = 4_096
"""Maximum number of services; more are refused."""


class Full(Exception):
    """The registry is full."""


class Node(Struct):
    """A node of the catalogue."""

    name: str
    id: str
    address: str
    meta: dict[str, str] = field(default_factory=dict)
    created: int = 0
    modified: int = 0


class Service(Struct):
    """One instance of a service."""

    id: str
    name: str
    address: str = ""
    port: int = 0
    tags: list[str] = field(default_factory=list)
    meta: dict[str, str] = field(default_factory=dict)
    created: int = 0
    modified: int = 0


class State:
    """The agent's node and its services. Every change names its topics and wakes blocking queries."""

    def __init__(self, kernel: Kernel, node: Node) -> None:
        self.index = FIRST_INDEX
        self.node = node
        self.services: dict[str, Service] = {}
        self.changed = Condition(kernel)
        self._modified: dict[str, int] = {}
        node.created = node.modified = self._change("nodes")
        self.put_service(Service(OWN_SERVICE, OWN_SERVICE, port=OWN_PORT))
        self.checked = self._change("checks", "node checks")
        """The index of the one check there is: whether the node is alive."""

    def report(self) -> dict[str, object]:
        """Return the figures that an exporter asks for."""
        instances = Counter(service.name for service in self.services.values())
        alone = dict.fromkeys(("raft_leader", "raft_peers", "serf_lan_members"), 1)
        return {**alone, "catalog_services": len(instances), "instances": dict(instances)}

    def last_index(self, *topics: str) -> int:
        """Return the index of the last change of any of these topics; never 0."""
        return max((self._modified.get(topic, 0) for topic in topics), default=0) or 1

    def service_index(self, name: str) -> int:
        """Return the index for a query of one service: its own, or that of the last removal if it has no instance."""
        own = self._modified.get(f"service {name}")
        if own is not None and any(service.name == name for service in self.services.values()):
            return max(own, self._modified.get("node checks", 0))
        return max(self._modified.get("removals", 0), own or 0) or self.last_index("services")

    def put_service(self, service: Service) -> None:
        """Register an instance, or change it."""
        old = self.services.get(service.id)
        if old is not None and old.name != service.name:
            self._change(f"service {old.name}")
        if old is None and len(self.services) >= MAX_ENTRIES:
            raise Full
        service.modified = self._change("services", f"service {service.name}")
        service.created = old.created if old else service.modified
        self.services[service.id] = service

    def remove_service(self, id: str) -> bool:
        """Deregister an instance. Return False if it does not exist."""
        service = self.services.pop(id, None)
        if service is None:
            return False
        self._change("services", "checks", "removals", f"service {service.name}")
        return True

    def instances(self, name: str) -> list[Service]:
        """List the instances of a service, sorted by id."""
        found = [service for service in self.services.values() if service.name == name]
        return sorted(found, key=lambda service: service.id)

    def registrations(self) -> list[Service]:
        """List the instances that clients have registered."""
        return [each for each in self.services.values() if each.id != OWN_SERVICE]

    def _change(self, *topics: str) -> int:
        self.index += 1
        for topic in topics:
            self._modified[topic] = self.index
        self.changed.notify()
        return self.index
