"""Services, Endpoints and EndpointSlices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from simcloud.golang import sprint
from simcloud.kubectl.describe.events import write_events
from simcloud.kubectl.describe.page import NONE, UNSET, Page
from simcloud.kubectl.describe.parts import write_metadata, write_name
from simcloud.kubectl.describe.registry import Reader, describes
from simcloud.kubernetes.api import ApiError, Object, meta
from simcloud.kubernetes.api.tables import cells


@describes("", "Service")
async def describe_service(reader: Reader, obj: Object, show_events: bool) -> str:
    """A Service and the endpoints behind each of its ports."""
    page, spec = Page(), cells.part(obj, "spec")
    try:
        slices = await slices_of(reader, meta(obj)["namespace"], meta(obj)["name"])
    except ApiError:
        slices = []
    write_name(page, obj)
    write_metadata(page, obj)
    page.field("Selector", cells.labels(spec.get("selector")))
    page.field("Type", cells.text(spec, "type"))
    _write_addresses(page, obj, spec)
    for port in cells.items(spec, "ports"):
        _write_port(page, port, slices)
    page.field("Session Affinity", cells.text(spec, "sessionAffinity"))
    page.optional("External Traffic Policy", spec.get("externalTrafficPolicy"))
    page.optional("Internal Traffic Policy", spec.get("internalTrafficPolicy"))
    page.optional("HealthCheck NodePort", spec.get("healthCheckNodePort"))
    page.optional("LoadBalancer Source Ranges", ",".join(cells.items(spec, "loadBalancerSourceRanges")))
    page.optional("Traffic Distribution", spec.get("trafficDistribution"))
    await write_events(page, reader, obj, show_events)
    return page.text()


def _write_addresses(page: Page, service: Object, spec: Object) -> None:
    page.optional("IP Family Policy", spec.get("ipFamilyPolicy"))
    page.field("IP Families", ",".join(cells.items(spec, "ipFamilies")) or NONE)
    page.field("IP", cells.text(spec, "clusterIP"))
    page.field("IPs", ",".join(cells.items(spec, "clusterIPs")) or NONE)
    page.optional("External IPs", ",".join(cells.items(spec, "externalIPs")))
    page.optional("Desired LoadBalancer IP", spec.get("loadBalancerIP"))
    page.optional("External Name", spec.get("externalName"))
    balancers = cells.items(cells.part(service, "status", "loadBalancer"), "ingress")
    if balancers:
        page.field("LoadBalancer Ingress", ", ".join(map(_balancer, balancers)))


def _balancer(ingress: Object) -> str:
    address, mode = cells.text(ingress, "ip"), ingress.get("ipMode")
    if not address:
        return cells.text(ingress, "hostname")
    return address if mode is None else f"{address} ({mode})"


def _write_port(page: Page, port: Object, slices: Sequence[Object]) -> None:
    name, protocol = cells.text(port, "name"), cells.text(port, "protocol")
    page.line("Port:", name or UNSET, f"{cells.count(port, 'port')}/{protocol}")
    page.field("TargetPort", f"{port.get('targetPort', 0)}/{protocol}")
    page.optional("AppProtocol", port.get("appProtocol"))
    if port.get("nodePort"):
        page.line("NodePort:", name or UNSET, f"{port['nodePort']}/{protocol}")
    page.field("Endpoints", ready_endpoints(slices, name))


async def slices_of(reader: Reader, namespace: str, service: str) -> list[Object]:
    """The EndpointSlices of a Service."""
    kind = reader.resource("endpointslices.discovery.k8s.io")
    return await reader.list(kind, namespace, labels=f"kubernetes.io/service-name={service}")


def ready_endpoints(slices: Sequence[Object], port: str) -> str:
    """The addresses behind a port of that name: the first few, and how many more."""
    if not slices:
        return NONE
    return cells.shorten([endpoint for endpoint_slice in slices for endpoint in _ready(endpoint_slice, port)])


def _ready(endpoint_slice: Object, port_name: str) -> Iterator[str]:
    addresses = [
        endpoint["addresses"][0]
        for endpoint in cells.items(endpoint_slice, "endpoints")
        if cells.part(endpoint, "conditions").get("ready") is not False
    ]
    ports = cells.items(endpoint_slice, "ports")
    if not ports:
        yield from addresses
    for port in ports:
        if cells.text(port, "name") == port_name:
            for address in addresses:
                yield f"[{address}]:{port['port']}" if ":" in address else f"{address}:{port['port']}"


@describes("", "Endpoints")
async def describe_endpoints(reader: Reader, obj: Object, show_events: bool) -> str:
    """Endpoints."""
    page = Page()
    write_name(page, obj)
    write_metadata(page, obj)
    page.line("Subsets:")
    for subset in cells.items(obj, "subsets"):
        for title, key in (("Addresses", "addresses"), ("NotReadyAddresses", "notReadyAddresses")):
            page.field(
                title, ",".join(cells.text(address, "ip") for address in cells.items(subset, key)) or NONE, 1
            )
        ports = cells.items(subset, "ports")
        if ports:
            page.line("Ports:", level=1)
            rows = [
                (cells.text(port, "name") or UNSET, cells.count(port, "port"), cells.text(port, "protocol"))
                for port in ports
            ]
            page.table(("Name", "Port", "Protocol"), rows, 2)
        page.line()
    await write_events(page, reader, obj, show_events)
    return page.text()


@describes("discovery.k8s.io", "EndpointSlice")
async def describe_endpoint_slice(reader: Reader, obj: Object, show_events: bool) -> str:
    """An EndpointSlice."""
    page = Page()
    write_name(page, obj)
    write_metadata(page, obj)
    page.field("AddressType", cells.text(obj, "addressType"))
    ports = cells.items(obj, "ports")
    if not ports:
        page.line(f"Ports: {UNSET}")
    else:
        page.line("Ports:")
        rows = [
            (cells.text(port, "name") or UNSET, _or_unset(port.get("port")), cells.text(port, "protocol"))
            for port in ports
        ]
        page.table(("Name", "Port", "Protocol"), rows)
    endpoints = cells.items(obj, "endpoints")
    page.line("Endpoints:" if endpoints else f"Endpoints: {NONE}")
    for endpoint in endpoints:
        _write_endpoint(page, endpoint)
    await write_events(page, reader, obj, show_events)
    return page.text()


def _write_endpoint(page: Page, endpoint: Object) -> None:
    page.field("- Addresses", ", ".join(cells.items(endpoint, "addresses")) or NONE, 1)
    page.line("Conditions:", level=2)
    page.field("Ready", _or_unset(cells.part(endpoint, "conditions").get("ready")), 3)
    page.field("Hostname", _or_unset(endpoint.get("hostname")), 2)
    target = endpoint.get("targetRef")
    if target is not None:
        page.field("TargetRef", f"{cells.text(target, 'kind')}/{cells.text(target, 'name')}", 2)
    page.field("NodeName", _or_unset(endpoint.get("nodeName")), 2)
    page.field("Zone", _or_unset(endpoint.get("zone")), 2)


def _or_unset(value: Any) -> str:
    return UNSET if value is None else sprint(value)
