"""Services: what was allocated stays when the same manifest is written again, and goes with the type that needs it."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.strategies.registry import keep, on_create, on_update

_FAMILIES = ("ipFamilies", "ipFamilyPolicy")


@on_create("", "Service")
def create_service(service: Object) -> None:
    """One address is also the list of addresses."""
    spec = service.setdefault("spec", {})
    if spec.get("clusterIP") and not spec.get("clusterIPs"):
        spec["clusterIPs"] = [spec["clusterIP"]]


@on_update("", "Service")
def update_service(new: Object, old: Object) -> None:
    """Keep what a writer left out, then drop what the new type does not use."""
    spec, before = new.setdefault("spec", {}), old.get("spec", {})
    _keep_allocated(spec, before)
    _align_addresses(spec, before)
    _drop_unused(spec, before)
    if spec.get("type") != "LoadBalancer":
        new.setdefault("status", {})["loadBalancer"] = {}


def _keep_allocated(spec: Object, before: Object) -> None:
    if _needs_address(spec) and _needs_address(before):
        keep(spec, before, "clusterIP", "clusterIPs", *_FAMILIES)
    if _needs_node_ports(spec) and _needs_node_ports(before):
        _keep_node_ports(spec, before)
    if _needs_health_port(spec) and _needs_health_port(before):
        keep(spec, before, "healthCheckNodePort")


def _keep_node_ports(spec: Object, before: Object) -> None:
    used = [port for port in _node_ports(before) if port in _node_ports(spec)]
    known = {port.get("name", ""): port.get("nodePort", 0) for port in before.get("ports", ())}
    for port in spec.get("ports", ()):
        allocated = known.get(port.get("name", ""), 0)
        if allocated and not port.get("nodePort") and allocated not in used:
            port["nodePort"] = allocated
            used.append(allocated)


def _align_addresses(spec: Object, before: Object) -> None:
    """Old clients write one address only; the list of addresses follows it."""
    if spec.get("clusterIP") == before.get("clusterIP"):
        if not spec.get("clusterIPs") and before.get("clusterIPs"):
            spec["clusterIPs"] = copy(before["clusterIPs"])
    elif spec.get("clusterIPs") == before.get("clusterIPs"):
        spec.pop("clusterIPs", None)
        if spec.get("clusterIP"):
            spec["clusterIPs"] = [spec["clusterIP"]]


def _drop_unused(spec: Object, before: Object) -> None:
    """Only what nobody changed in the same write is dropped; the rest is for validation to refuse."""
    if _needs_address(before) and not _needs_address(spec):
        _drop_unchanged(spec, before, "clusterIP", "clusterIPs")
        for field in _FAMILIES:
            _drop_unchanged(spec, before, field)
    if _needs_node_ports(before) and not _needs_node_ports(spec):
        _drop_known_node_ports(spec, before)
    if _needs_health_port(before) and not _needs_health_port(spec):
        _drop_unchanged(spec, before, "healthCheckNodePort")
    if before.get("type") == "LoadBalancer" and spec.get("type") != "LoadBalancer":
        _drop_unchanged(spec, before, "allocateLoadBalancerNodePorts")
        _drop_unchanged(spec, before, "loadBalancerClass")
    if _is_external(before) and not _is_external(spec):
        _drop_unchanged(spec, before, "externalTrafficPolicy")


def _drop_known_node_ports(spec: Object, before: Object) -> None:
    if all(port in _node_ports(before) for port in _node_ports(spec)):
        for port in spec.get("ports", ()):
            port.pop("nodePort", None)


def _drop_unchanged(spec: Object, before: Object, *fields: str) -> None:
    if all(spec.get(field) == before.get(field) for field in fields):
        for field in fields:
            spec.pop(field, None)


def _node_ports(spec: Object) -> list[int]:
    return [port["nodePort"] for port in spec.get("ports", ()) if port.get("nodePort")]


def _needs_address(spec: Object) -> bool:
    return spec.get("type") != "ExternalName"


def _needs_node_ports(spec: Object) -> bool:
    return spec.get("type") in ("NodePort", "LoadBalancer")


def _needs_health_port(spec: Object) -> bool:
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def _is_external(spec: Object) -> bool:
    return _needs_node_ports(spec) or (spec.get("type") == "ClusterIP" and bool(spec.get("externalIPs")))
