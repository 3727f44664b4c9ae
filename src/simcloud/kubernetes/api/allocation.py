"""Allocation of cluster IPs and node ports to Services.

The allocated ones are read from the log, so a dry run or a refused write needs no clean-up.
"""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Network, ip_address
from typing import Final

from simcloud.kubernetes.api.field_errors import FieldError, internal, invalid
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.store import Key, Revision, RevisionLog
from simcloud.machine.network import is_address

SERVICE_RANGE: Final = IPv4Network("10.96.0.0/16")
NODE_PORTS: Final = range(30000, 32768)

RESERVED_ADDRESSES: Final = 256
"""The low end of the range is left to those who ask for an address by name."""
RESERVED_PORTS: Final = 86


class Addresses:
    """Gives Services what they need and did not ask for by name."""

    def __init__(self, log: RevisionLog, between: Callable[[int, int], int]) -> None:
        self._between = between
        self._addresses: dict[str, Key] = {}
        self._ports: dict[tuple[int, str], Key] = {}
        log.listen("", "services", self._follow)

    def assign(self, resource: Resource, obj: Object, old: Object | None) -> list[FieldError]:
        """Complete a Service's addresses and ports in place. Other kinds need none."""
        if resource.key != ("", "services"):
            return []
        spec = obj.get("spec") or {}
        key = Key("", "services", obj["metadata"].get("namespace", ""), obj["metadata"].get("name", ""))
        before = old["spec"] if old is not None else {}
        return (
            self._assign_address(spec, before, key)
            or self._assign_ports(spec, before, key)
            or self._assign_health_port(spec, before, key)
        )

    def _assign_address(self, spec: Object, before: Object, key: Key) -> list[FieldError]:
        if spec.get("type") == "ExternalName":
            for name in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"):
                if not (name in spec and name not in before):
                    spec.pop(name, None)
            return []
        asked = spec.get("clusterIP") or (spec.get("clusterIPs") or [""])[0] or before.get("clusterIP", "")
        if not asked:
            asked = self._free_address()
            if not asked:
                return [internal("spec.clusterIPs", "failed to allocate a serviceIP: range is full")]
        elif asked != "None" and not is_address(asked):
            return []  # the rules of Services say what is wrong with it
        elif asked != "None" and self._addresses.get(asked, key) != key:
            why = f"failed to allocate IP {asked}: provided IP is already allocated"
            return [invalid("spec.clusterIPs", [asked], why)]
        elif asked != "None" and ip_address(asked) not in SERVICE_RANGE:
            why = (
                f"failed to allocate IP {asked}: the provided network does not match the current range "
                f"({SERVICE_RANGE})"
            )
            return [invalid("spec.clusterIPs", [asked], why)]
        spec["clusterIP"] = asked
        spec["clusterIPs"] = [asked]
        headless_by_hand = asked == "None" and not spec.get("selector")
        spec.setdefault("ipFamilies", ["IPv4"])
        spec.setdefault("ipFamilyPolicy", "RequireDualStack" if headless_by_hand else "SingleStack")
        return []

    def _assign_ports(self, spec: Object, before: Object, key: Key) -> list[FieldError]:
        ports = spec.get("ports") or []
        if not _wants_node_ports(spec):
            had = _wants_node_ports(before) if before else False
            for port in ports if had else ():
                port.pop("nodePort", None)
            return []
        known = {
            (port.get("protocol", "TCP"), port["port"]): port["nodePort"]
            for port in before.get("ports", [])
            if port.get("nodePort")
        }
        taken: set[tuple[int, str]] = set()
        for index, port in enumerate(ports):
            protocol = port.get("protocol", "TCP")
            if not port.get("nodePort"):
                port["nodePort"] = known.get((protocol, port.get("port", 0))) or self._free_port(
                    protocol, taken
                )
            number = port["nodePort"]
            path = f"spec.ports[{index}].nodePort"
            if number not in NODE_PORTS:
                why = "provided port is not in the valid range. The range of valid ports is 30000-32767"
                return [invalid(path, number, why)]
            if self._ports.get((number, protocol), key) != key:
                return [invalid(path, number, "provided port is already allocated")]
            taken.add((number, protocol))
        return []

    def _assign_health_port(self, spec: Object, before: Object, key: Key) -> list[FieldError]:
        """A balancer that keeps to a node's own pods asks each node whether it has any."""
        if spec.get("type") != "LoadBalancer" or spec.get("externalTrafficPolicy") != "Local":
            return []
        asked = spec.get("healthCheckNodePort") or before.get("healthCheckNodePort")
        if not asked:
            asked = self._free_port(
                "TCP", {(port.get("nodePort"), "TCP") for port in spec.get("ports") or []}
            )
        elif self._ports.get((asked, "TCP"), key) != key:
            why = f"failed to allocate requested HealthCheck NodePort {asked}: provided port is already allocated"
            return [internal("spec.healthCheckNodePort", why)]
        spec["healthCheckNodePort"] = asked
        return []

    def _free_address(self) -> str:
        size = SERVICE_RANGE.num_addresses - 2
        start = self._between(RESERVED_ADDRESSES, size)
        for step in range(size):
            offset = 1 + (start + step) % size
            address = str(SERVICE_RANGE[offset])
            if address not in self._addresses:
                return address
        return ""

    def _free_port(self, protocol: str, taken: set[tuple[int, str]]) -> int:
        start = self._between(RESERVED_PORTS, len(NODE_PORTS))
        for step in range(len(NODE_PORTS)):
            number = NODE_PORTS[(start + step) % len(NODE_PORTS)]
            if (number, protocol) not in self._ports and (number, protocol) not in taken:
                return number
        return 0

    def _follow(self, write: Revision) -> None:
        for address in _addresses(write.before):
            self._addresses.pop(address, None)
        for port in _node_ports(write.before):
            self._ports.pop(port, None)
        if write.change == "DELETED":
            return
        for address in _addresses(write.object):
            self._addresses[address] = write.key
        for port in _node_ports(write.object):
            self._ports[port] = write.key


def _wants_node_ports(spec: Object) -> bool:
    kind = spec.get("type")
    return kind == "NodePort" or (
        kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts", True) is not False
    )


def _addresses(service: Object | None) -> list[str]:
    if service is None:
        return []
    return [address for address in service["spec"].get("clusterIPs", []) if address not in ("", "None")]


def _node_ports(service: Object | None) -> list[tuple[int, str]]:
    if service is None:
        return []
    found = [
        (port["nodePort"], port.get("protocol", "TCP"))
        for port in service["spec"].get("ports", [])
        if port.get("nodePort")
    ]
    check_port = service["spec"].get("healthCheckNodePort")
    return [*found, (check_port, "TCP")] if check_port else found
