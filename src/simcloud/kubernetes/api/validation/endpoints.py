"""The rules of Endpoints and of EndpointSlices."""

from __future__ import annotations

from simcloud.kubernetes.api.field_errors import duplicate, invalid, not_supported, required, too_many
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.validation import addresses
from simcloud.kubernetes.api.validation.common import (
    Errors,
    immutable,
    items,
    make_errors,
    number,
    same,
    text,
)
from simcloud.kubernetes.api.validation.names import (
    dns1123_label,
    dns1123_subdomain,
    port_number,
    qualified_name,
)
from simcloud.kubernetes.api.validation.registry import validates
from simcloud.kubernetes.api.validation.services import protocol

_ADDRESS_TYPES = ("FQDN", "IPv4", "IPv6")
_MOST_ENDPOINTS, _MOST_ADDRESSES, _MOST_PORTS = 1000, 100, 20000


@validates("", "Endpoints")
def endpoints(new: Object, old: Object | None) -> Errors:
    """The rules of Endpoints. Subsets that did not change are taken as they are."""
    if old is not None and same(new.get("subsets"), old.get("subsets")):
        return []
    errors: Errors = []
    for index, subset in enumerate(items(new, "subsets")):
        path = f"subsets[{index}]"
        if not items(subset, "addresses") and not items(subset, "notReadyAddresses"):
            errors.append(required(path, "must specify `addresses` or `notReadyAddresses`"))
        for field in ("addresses", "notReadyAddresses"):
            for place, address in enumerate(items(subset, field)):
                errors += _address(f"{path}.{field}[{place}]", address)
        ports = items(subset, "ports")
        for place, port in enumerate(ports):
            errors += _port(f"{path}.ports[{place}]", port, len(ports) > 1)
    return errors


def _address(path: str, address: Object) -> Errors:
    errors = addresses.legacy_ip(f"{path}.ip", text(address, "ip"))
    if text(address, "hostname"):
        errors += make_errors(f"{path}.hostname", address["hostname"], dns1123_label(address["hostname"]))
    if address.get("nodeName") is not None:
        errors += make_errors(f"{path}.nodeName", address["nodeName"], dns1123_subdomain(address["nodeName"]))
    return errors + addresses.non_special_ip(f"{path}.ip", text(address, "ip"))


def _port(path: str, port: Object, named: bool) -> Errors:
    name = text(port, "name")
    errors = make_errors(f"{path}.name", name, dns1123_label(name)) if name else []
    if named and not name:
        errors.append(required(f"{path}.name"))
    errors += make_errors(f"{path}.port", number(port, "port"), port_number(number(port, "port")))
    return errors + protocol(f"{path}.protocol", text(port, "protocol")) + _app_protocol(path, port)


def _app_protocol(path: str, port: Object) -> Errors:
    given = port.get("appProtocol")
    return make_errors(f"{path}.appProtocol", given, qualified_name(given)) if given is not None else []


@validates("discovery.k8s.io", "EndpointSlice")
def endpoint_slice(new: Object, old: Object | None) -> Errors:
    """The rules of an EndpointSlice."""
    kind = text(new, "addressType")
    errors: Errors = []
    known = _ADDRESS_TYPES if old is None else ("FQDN", "IP", "IPv4", "IPv6")
    if not kind:
        errors.append(required("addressType"))
    elif kind not in known:
        errors.append(not_supported("addressType", kind, known))
    errors += _endpoints(items(new, "endpoints"), kind)
    errors += _slice_ports(items(new, "ports"))
    if old is not None:
        errors += immutable("addressType", kind, text(old, "addressType"))
    return errors


def _endpoints(given: list[Object], kind: str) -> Errors:
    if len(given) > _MOST_ENDPOINTS:
        return [too_many("endpoints", len(given), _MOST_ENDPOINTS)]
    errors: Errors = []
    for index, endpoint in enumerate(given):
        errors += _endpoint(f"endpoints[{index}]", endpoint, kind)
    return errors


def _endpoint(path: str, endpoint: Object, kind: str) -> Errors:
    reached = items(endpoint, "addresses")
    errors: Errors = []
    if not reached:
        errors.append(required(f"{path}.addresses", "must contain at least 1 address"))
    elif len(reached) > _MOST_ADDRESSES:
        errors.append(too_many(f"{path}.addresses", len(reached), _MOST_ADDRESSES))
    for index, address in enumerate(reached):
        errors += _slice_address(f"{path}.addresses", index, address, kind)
    if endpoint.get("nodeName") is not None:
        errors += make_errors(
            f"{path}.nodeName", endpoint["nodeName"], dns1123_subdomain(endpoint["nodeName"])
        )
    if endpoint.get("hostname") is not None:
        errors += make_errors(f"{path}.hostname", endpoint["hostname"], dns1123_label(endpoint["hostname"]))
    return errors


def _slice_address(path: str, index: int, address: str, kind: str) -> Errors:
    place = f"{path}[{index}]"
    if kind not in ("IPv4", "IPv6"):
        return []
    errors = addresses.legacy_ip(place, address)
    if errors:
        return errors
    if addresses.is_ipv6(address) != (kind == "IPv6"):
        errors.append(invalid(path, address, f"must be an {kind} address"))
    return errors + addresses.non_special_ip(place, address)


def _slice_ports(ports: list[Object]) -> Errors:
    if len(ports) > _MOST_PORTS:
        return [too_many("ports", len(ports), _MOST_PORTS)]
    errors: Errors = []
    names: dict[str, None] = {}
    for index, port in enumerate(ports):
        path, name = f"ports[{index}]", text(port, "name")
        if name:
            errors += make_errors(f"{path}.name", name, dns1123_label(name))
        if name in names:
            errors.append(duplicate(f"{path}.name", name))
        names[name] = None
        errors += protocol(f"{path}.protocol", text(port, "protocol"))
        if port.get("port") is not None:
            errors += make_errors(f"{path}.port", port["port"], port_number(port["port"]))
        errors += _app_protocol(path, port)
    return errors
