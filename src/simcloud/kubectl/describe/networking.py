"""Ingresses, IngressClasses, NetworkPolicies, ServiceCIDRs and IPAddresses."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from simcloud.kubectl.describe.events import write_events
from simcloud.kubectl.describe.page import NONE, Page
from simcloud.kubectl.describe.parts import (
    write_annotations,
    write_dated_conditions,
    write_labels,
    write_metadata,
    write_name,
)
from simcloud.kubectl.describe.registry import Reader, describes
from simcloud.kubectl.describe.services import ready_endpoints, slices_of
from simcloud.kubernetes.api import ApiError, Object, meta
from simcloud.kubernetes.api.tables import balancers, cells

_GROUP: Final = "networking.k8s.io"


@describes(_GROUP, "Ingress")
async def describe_ingress(reader: Reader, obj: Object, show_events: bool) -> str:
    """An Ingress and the endpoints behind its paths."""
    page, spec, namespace = Page(), cells.part(obj, "spec"), meta(obj)["namespace"]
    page.field("Name", meta(obj)["name"])
    write_labels(page, "Labels", meta(obj).get("labels"))
    page.field("Namespace", namespace)
    page.field("Address", ",".join(balancers(obj)))
    page.field("Ingress Class", NONE if spec.get("ingressClassName") is None else spec["ingressClassName"])
    default = "<default>"
    if spec.get("defaultBackend") is not None:
        default = await _backend(reader, namespace, spec["defaultBackend"])
    page.field("Default backend", default)
    _write_tls(page, cells.items(spec, "tls"))
    page.line("Rules:")
    page.table(("Host", "Path", "Backends"), ())
    rules = [entry for entry in cells.items(spec, "rules") if entry.get("http") is not None]
    for rule in rules:
        page.line(cells.text(rule, "host") or "*", "", level=1)
        for path in cells.items(rule["http"], "paths"):
            behind = await _backend(reader, namespace, cells.part(path, "backend"))
            page.line("", f"{cells.text(path, 'path')} ", behind, level=2)
    if not rules:
        page.line("*", "*", default, level=1)
    write_annotations(page, meta(obj).get("annotations"))
    await write_events(page, reader, obj, show_events)
    return page.text()


def _write_tls(page: Page, entries: Sequence[Object]) -> None:
    if entries:
        page.line("TLS:")
    for entry in entries:
        hosts, secret = ",".join(cells.items(entry, "hosts")), cells.text(entry, "secretName")
        page.line(f"{secret} terminates {hosts}" if secret else f"SNI routes {hosts}", level=1)


async def _backend(reader: Reader, namespace: str, backend: Object) -> str:
    resource = backend.get("resource")
    if backend.get("service") is None:
        if resource is None:
            return ""
        group = resource.get("apiGroup")
        return (
            f"APIGroup: {NONE if group is None else group}, "
            f"Kind: {cells.text(resource, 'kind')}, Name: {cells.text(resource, 'name')}"
        )
    backend_text = backend["service"]
    port = cells.part(backend_text, "port")
    shown = f"{cells.text(backend_text, 'name')}:{port.get('number') or cells.text(port, 'name')}"
    try:
        slices = await slices_of(reader, namespace, cells.text(backend_text, "name"))
        service = await reader.get(reader.resource("services"), namespace, cells.text(backend_text, "name"))
    except ApiError as error:
        return f"{shown} (<error: {error.message}>)"
    return f"{shown} ({ready_endpoints(slices, _port_name(service, port))})"


def _port_name(service: Object, wanted: Object) -> str:
    """The name of the Service's port that a backend means; the last one that fits."""
    name = ""
    for port in cells.items(cells.part(service, "spec"), "ports"):
        by_number = wanted.get("number") and wanted["number"] == port["port"]
        if by_number or (wanted.get("name") and wanted["name"] == port.get("name")):
            name = cells.text(port, "name")
    return name


@describes(_GROUP, "IngressClass")
async def describe_ingress_class(reader: Reader, obj: Object, show_events: bool) -> str:
    """An IngressClass."""
    page, spec = Page(), cells.part(obj, "spec")
    write_name(page, obj, namespace=False)
    write_metadata(page, obj)
    page.field("Controller", cells.text(spec, "controller"))
    parameters = spec.get("parameters")
    if parameters is not None:
        page.line("Parameters:")
        if parameters.get("apiGroup") is not None:
            page.field("APIGroup", parameters["apiGroup"], 1)
        page.field("Kind", cells.text(parameters, "kind"), 1)
        page.field("Name", cells.text(parameters, "name"), 1)
    await write_events(page, reader, obj, show_events)
    return page.text()


@describes(_GROUP, "ServiceCIDR")
async def describe_service_cidr(reader: Reader, obj: Object, show_events: bool) -> str:
    """A ServiceCIDR."""
    page, conditions = Page(), cells.items(cells.part(obj, "status"), "conditions")
    write_name(page, obj, namespace=False)
    write_metadata(page, obj)
    page.field("CIDRs", ", ".join(cells.items(cells.part(obj, "spec"), "cidrs")))
    if conditions:
        page.line("Status:")
        write_dated_conditions(page, conditions)
    await write_events(page, reader, obj, show_events)
    return page.text()


@describes(_GROUP, "IPAddress")
async def describe_ip_address(reader: Reader, obj: Object, show_events: bool) -> str:
    """An IPAddress."""
    page, parent = Page(), cells.part(obj, "spec").get("parentRef")
    write_name(page, obj, namespace=False)
    write_metadata(page, obj)
    if parent is not None:
        page.line("Parent Reference:")
        for title in ("Group", "Resource", "Namespace", "Name"):
            page.field(title, cells.text(parent, title.lower()), 1)
    await write_events(page, reader, obj, show_events)
    return page.text()


@describes(_GROUP, "NetworkPolicy")
async def describe_network_policy(reader: Reader, obj: Object, show_events: bool) -> str:
    """A NetworkPolicy in sentences. It has no events."""
    page, spec = Page(), cells.part(obj, "spec")
    write_name(page, obj)
    created = datetime.fromtimestamp(cells.seconds(meta(obj).get("creationTimestamp")) or 0, UTC)
    page.field("Created on", created.strftime("%Y-%m-%d %H:%M:%S +0000 UTC"))
    write_metadata(page, obj)
    page.line("Spec:")
    chosen, types = cells.part(spec, "podSelector"), cells.items(spec, "policyTypes")
    everyone = f"{NONE} (Allowing the specific traffic to all pods in this namespace)"
    page.line(f"PodSelector:     {cells.selector(chosen) if any(chosen.values()) else everyone}", level=1)
    for direction, far_end in (("ingress", "from"), ("egress", "to")):
        if direction.capitalize() in types:
            page.line(f"Allowing {direction} traffic:", level=1)
            _write_rules(page, cells.items(spec, direction), direction, far_end)
        else:
            page.line(f"Not affecting {direction} traffic", level=1)
    page.line(f"Policy Types: {', '.join(types) or NONE}", level=1)
    return page.text()


def _write_rules(page: Page, rules: Sequence[Object], direction: str, far_end: str) -> None:
    if not rules:
        page.line(f"{NONE} (Selected pods are isolated for {direction} connectivity)", level=2)
    for number, rule in enumerate(rules):
        if number:
            page.line("----------", level=2)
        ports = cells.items(rule, "ports")
        if not ports:
            page.line("To Port: <any> (traffic allowed to all ports)", level=2)
        for port in ports:
            page.line(_port(port), level=2)
        _write_peers(page, cells.items(rule, far_end), far_end)


def _port(port: Object) -> str:
    protocol, number = port.get("protocol") or "TCP", _number(port.get("port"))
    if port.get("endPort") is None:
        return f"To Port: {number}/{protocol}"
    return f"To Port Range: {number}-{port['endPort']}/{protocol}"


def _number(port: Any) -> str:
    return "<nil>" if port is None else str(port)


def _write_peers(page: Page, peers: Sequence[Object], far_end: str) -> None:
    title = far_end.capitalize()
    if not peers:
        side = "source" if far_end == "from" else "destination"
        page.line(f"{title}: <any> (traffic not restricted by {side})", level=2)
    for peer in peers:
        page.line(f"{title}:", level=2)
        selected = [key for key in ("namespaceSelector", "podSelector") if peer.get(key) is not None]
        for key in selected:
            page.line(f"{key[0].upper()}{key[1:]}: {cells.selector(peer[key])}", level=3)
        block = peer.get("ipBlock")
        if block is not None and not selected:
            page.line("IPBlock:", level=3)
            page.line(f"CIDR: {cells.text(block, 'cidr')}", level=4)
            page.line(f"Except: {', '.join(cells.items(block, 'except'))}", level=4)
