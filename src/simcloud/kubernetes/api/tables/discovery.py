"""Tables of Endpoints and EndpointSlices."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.tables.cells import Cells, age, count, items, name, shorten, text
from simcloud.kubernetes.api.tables.registry import AGE, NAME, Column, table

_SLICE = "discovery.v1.EndpointSlice"


@table("", "Endpoints", NAME, Column("Endpoints", of="core.v1.Endpoints.subsets"), AGE)
def endpoints(obj: Object, now_s: float) -> Cells:
    """The row of an Endpoints object."""
    subsets = items(obj, "subsets")
    found: list[str] = []
    for subset in subsets:
        addresses = [text(entry, "ip") for entry in items(subset, "addresses")]
        ports = items(subset, "ports")
        if not ports:
            found += addresses
        for port in ports:
            found += [_host_port(address, count(port, "port")) for address in addresses]
    return [name(obj), shorten(found) if subsets else "<none>", age(obj, now_s)]


def _host_port(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


@table(
    "discovery.k8s.io",
    "EndpointSlice",
    NAME,
    Column("AddressType", of=f"{_SLICE}.addressType"),
    Column("Ports", of=f"{_SLICE}.ports"),
    Column("Endpoints", of=f"{_SLICE}.endpoints"),
    AGE,
)
def endpoint_slice(obj: Object, now_s: float) -> Cells:
    """An EndpointSlice's row."""
    addresses = [address for endpoint in items(obj, "endpoints") for address in items(endpoint, "addresses")]
    return [
        name(obj),
        text(obj, "addressType"),
        shorten([_port(port) for port in items(obj, "ports")]) or "<unset>",
        shorten(addresses) or "<unset>",
        age(obj, now_s),
    ]


def _port(port: Object) -> str:
    if port.get("port") is not None:
        return str(port["port"])
    return "*" if port.get("name") is None else str(port["name"])
