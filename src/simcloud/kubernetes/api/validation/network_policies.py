"""The rules of a NetworkPolicy, and what its writes are warned of."""

from __future__ import annotations

import ipaddress

from simcloud.kubernetes.api.field_errors import forbidden, invalid, not_supported, required
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.validation import addresses
from simcloud.kubernetes.api.validation.common import Errors, items, make_errors, mapping, text
from simcloud.kubernetes.api.validation.labels import selector_errors
from simcloud.kubernetes.api.validation.names import port_name, port_number, read_cidr
from simcloud.kubernetes.api.validation.registry import validates

_GROUP = "networking.k8s.io"
_PROTOCOLS = ("TCP", "UDP", "SCTP")
_POLICY_TYPES = ("Ingress", "Egress")
_DIRECTIONS = (("ingress", "from"), ("egress", "to"))


@validates(_GROUP, "NetworkPolicy")
def network_policy(new: Object, old: Object | None) -> Errors:
    """The rules of a NetworkPolicy."""
    spec = mapping(new, "spec")
    errors = selector_errors("spec.podSelector", mapping(spec, "podSelector"))
    for direction, peers in _DIRECTIONS:
        for index, rule in enumerate(items(spec, direction)):
            path = f"spec.{direction}[{index}]"
            for place, port in enumerate(items(rule, "ports")):
                errors += _policy_port(f"{path}.ports[{place}]", port)
            for place, peer in enumerate(items(rule, peers)):
                errors += _policy_peer(f"{path}.{peers}[{place}]", peer)
    types = items(spec, "policyTypes")
    if len(types) > len(_POLICY_TYPES):
        message = "may not specify more than two policyTypes"
        return [*errors, invalid("spec.policyTypes", types, message)]
    return errors + [
        not_supported(f"spec.policyTypes[{index}]", kind, _POLICY_TYPES)
        for index, kind in enumerate(types)
        if kind not in _POLICY_TYPES
    ]


def _policy_port(path: str, given: Object) -> Errors:
    errors: Errors = []
    kind, port, end = given.get("protocol"), given.get("port"), given.get("endPort")
    if kind is not None and kind not in _PROTOCOLS:
        errors.append(not_supported(f"{path}.protocol", kind, _PROTOCOLS))
    if port is None:
        if end is not None:
            message = "may not be specified when `port` is not specified"
            errors.append(invalid(f"{path}.endPort", end, message))
    elif isinstance(port, int):
        errors += make_errors(f"{path}.port", port, port_number(port))
        if end is not None:
            if end < port:
                message = "must be greater than or equal to `port`"
                errors.append(invalid(f"{path}.endPort", port, message))
            errors += make_errors(f"{path}.endPort", end, port_number(end))
    else:
        if end is not None:
            message = "may not be specified when `port` is non-numeric"
            errors.append(invalid(f"{path}.endPort", end, message))
        errors += make_errors(f"{path}.port", port, port_name(port))
    return errors


def _policy_peer(path: str, peer: Object) -> Errors:
    errors: Errors = []
    for field in ("podSelector", "namespaceSelector"):
        errors += selector_errors(f"{path}.{field}", peer.get(field))
    block = peer.get("ipBlock")
    if block is not None:
        errors += _ip_block(f"{path}.ipBlock", block)
    kinds = [
        field for field in ("podSelector", "namespaceSelector", "ipBlock") if peer.get(field) is not None
    ]
    if not kinds:
        errors.append(required(path, "must specify a peer"))
    elif len(kinds) > 1 and block is not None:
        errors.append(forbidden(path, "may not specify both ipBlock and another peer"))
    return errors


def _ip_block(path: str, block: Object) -> Errors:
    value = text(block, "cidr")
    if not value:
        return [required(f"{path}.cidr")]
    errors = addresses.legacy_cidr(f"{path}.cidr", value)
    whole = read_cidr(value)
    if whole is None:
        return errors
    for index, part in enumerate(items(block, "except")):
        place = f"{path}.except[{index}]"
        errors += addresses.legacy_cidr(place, part)
        inner = read_cidr(part)
        if inner is not None and not _strictly_inside(inner, whole):
            errors.append(invalid(place, part, "must be a strict subset of `cidr`"))
    return errors


def _strictly_inside(
    inner: ipaddress.IPv4Interface | ipaddress.IPv6Interface,
    whole: ipaddress.IPv4Interface | ipaddress.IPv6Interface,
) -> bool:
    longer = inner.network.prefixlen > whole.network.prefixlen
    return longer and inner.network.network_address in whole.network
