"""What a Consul server knows: nodes, services, checks and keys, with an index that grows with every change.

All of it is in memory, as a ``-dev`` agent keeps it: a restart begins with an empty registry and a low index. Each
part remembers the index of its last change, which is what blocking queries wait for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from simcloud.sim import Condition, Kernel

PASSING: Final = "passing"
WARNING: Final = "warning"
CRITICAL: Final = "critical"
STATES: Final = (PASSING, WARNING, CRITICAL)
SERF_CHECK: Final = "serfHealth"
SERF_OUTPUT: Final = "Agent alive and reachable"
DATACENTER: Final = "dc1"
OWN_SERVICE: Final = "consul"
"""Every server is an instance of this service, which no agent can deregister."""

OWN_PORT: Final = 8300
FIRST_INDEX: Final = 11
"""Where the index stands once a dev agent has elected itself and written down its own node."""

MAX_ENTRIES: Final = 4_096
"""So many services, checks, nodes or keys are kept; more are refused."""

MAX_VALUES_BYTES: Final = 64 << 20
"""So much all values of keys may take."""


class Full(Exception):
    """There is no room for more."""


@dataclass(slots=True)
class Node:
    """A member of the catalogue."""

    name: str
    id: str
    address: str
    meta: dict[str, str] = field(default_factory=dict)
    created: int = 0
    modified: int = 0


@dataclass(slots=True)
class Service:
    """One instance of a service on a node."""

    node: str
    id: str
    name: str
    address: str = ""
    port: int = 0
    tags: list[str] = field(default_factory=list)
    meta: dict[str, str] = field(default_factory=dict)
    created: int = 0
    modified: int = 0


@dataclass(slots=True)
class Check:
    """The health of a node, or of a service on it."""

    node: str
    id: str
    name: str
    status: str = CRITICAL
    notes: str = ""
    output: str = ""
    service_id: str = ""
    service_name: str = ""
    kind: str = ""
    interval: str = ""
    timeout: str = ""
    definition: dict[str, Any] = field(default_factory=dict)
    created: int = 0
    modified: int = 0


@dataclass(slots=True)
class Pair:
    """One key of the key-value store."""

    key: str
    value: bytes
    flags: int = 0
    lock_index: int = 0
    created: int = 0
    modified: int = 0


class State:
    """All tables. Whoever changes one says which, so that blocking queries wake."""

    def __init__(self, kernel: Kernel, node: Node) -> None:
        self.index = FIRST_INDEX
        self.local = node.name
        self.nodes: dict[str, Node] = {}
        self.services: dict[tuple[str, str], Service] = {}
        self.checks: dict[tuple[str, str], Check] = {}
        self.pairs: dict[str, Pair] = {}
        self.value_bytes = 0
        self.changed = Condition(kernel)
        self._modified: dict[str, int] = {}
        node.created = node.modified = self._change("nodes")
        self.nodes[node.name] = node
        self.put_service(Service(node.name, OWN_SERVICE, OWN_SERVICE, port=OWN_PORT))
        self.put_check(Check(node.name, SERF_CHECK, "Serf Health Status", PASSING, output=SERF_OUTPUT))

    def modified(self, *topics: str) -> int:
        """The index of the last change of any of these topics; never 0."""
        return max((self._modified.get(topic, 0) for topic in topics), default=0) or 1

    def service_index(self, name: str) -> int:
        """The index a query for one service returns: its own, or while there is none the last removal's."""
        own = self._modified.get(f"service {name}")
        if own is not None and any(service.name == name for service in self.services.values()):
            return max(own, self._modified.get("node checks", 0))
        return max(self._modified.get("removals", 0), own or 0) or self.modified("services")

    # -- services and nodes --------------------------------------------------------------------

    def put_node(self, node: Node) -> None:
        """Write down a node; an unchanged one is no change."""
        old = self.nodes.get(node.name)
        if old is not None and (old.address, old.meta) == (node.address, node.meta):
            return
        _check_room(self.nodes, node.name)
        node.modified = self._change("nodes")
        node.created = old.created if old else node.modified
        self.nodes[node.name] = node

    def put_service(self, service: Service) -> None:
        """Register an instance, or change it."""
        key = (service.node, service.id)
        old = self.services.get(key)
        if old is not None and old.name != service.name:
            self._change(f"service {old.name}")
        _check_room(self.services, key)
        service.modified = self._change("services", f"service {service.name}")
        service.created = old.created if old else service.modified
        self.services[key] = service

    def remove_service(self, node: str, id: str) -> bool:
        """Deregister an instance with its checks; False when it is not there."""
        service = self.services.pop((node, id), None)
        if service is None:
            return False
        for check in [each for each in self.checks.values() if (each.node, each.service_id) == (node, id)]:
            del self.checks[node, check.id]
        self._change("services", "checks", "removals", f"service {service.name}")
        return True

    def remove_node(self, name: str) -> bool:
        """Deregister a node with all that is on it."""
        if self.nodes.pop(name, None) is None:
            return False
        for node, id in [key for key in self.services if key[0] == name]:
            self.remove_service(node, id)
        for key in [key for key in self.checks if key[0] == name]:
            del self.checks[key]
        self._change("nodes", "checks", "node checks")
        return True

    def instances(self, name: str) -> list[Service]:
        """The instances of a service, in the order of their nodes and ids."""
        found = [service for service in self.services.values() if service.name == name]
        return sorted(found, key=lambda service: (service.node, service.id))

    def registered(self) -> list[Service]:
        """The instances that were registered with this agent."""
        return [each for each in self.services.values() if each.node == self.local and each.id != OWN_SERVICE]

    # -- checks --------------------------------------------------------------------------------

    def put_check(self, check: Check) -> None:
        """Register a check, or change it."""
        key = (check.node, check.id)
        old = self.checks.get(key)
        _check_room(self.checks, key)
        check.modified = self._change(*_topics(check))
        check.created = old.created if old else check.modified
        self.checks[key] = check

    def set_status(self, check: Check, status: str, output: str) -> None:
        """What a check has found."""
        if (check.status, check.output) != (status, output):
            check.status, check.output = status, output
            check.modified = self._change(*_topics(check))

    def remove_check(self, node: str, id: str) -> bool:
        """Deregister a check; False when it is not there."""
        check = self.checks.pop((node, id), None)
        if check is not None:
            self._change(*_topics(check))
        return check is not None

    def checks_of(self, service: Service) -> list[Check]:
        """The checks that say whether an instance is well: its own, and its node's."""
        return [
            check
            for check in self.checks.values()
            if check.node == service.node and check.service_id in ("", service.id)
        ]

    # -- keys ----------------------------------------------------------------------------------

    def put_pair(self, pair: Pair) -> None:
        """Write a key."""
        old = self.pairs.get(pair.key)
        _check_room(self.pairs, pair.key)
        grown_bytes = self.value_bytes + len(pair.value) - (len(old.value) if old else 0)
        if grown_bytes > MAX_VALUES_BYTES:
            raise Full
        self.value_bytes = grown_bytes
        pair.modified = self._change("keys")
        pair.created = old.created if old else pair.modified
        self.pairs[pair.key] = pair

    def remove_pairs(self, keys: list[str]) -> None:
        """Delete keys."""
        if keys:
            for key in keys:
                self.value_bytes -= len(self.pairs.pop(key).value)
            self._change("keys")

    def _change(self, *topics: str) -> int:
        self.index += 1
        for topic in topics:
            self._modified[topic] = self.index
        self.changed.notify()
        return self.index


def _topics(check: Check) -> tuple[str, ...]:
    return ("checks", f"service {check.service_name}") if check.service_name else ("checks", "node checks")


def _check_room(table: dict[Any, Any], key: object) -> None:
    if key not in table and len(table) >= MAX_ENTRIES:
        raise Full
