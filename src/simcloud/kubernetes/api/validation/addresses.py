"""IP addresses and networks in fields: when they are refused.

They must be plain: no leading zeros, no IPv4 address in IPv6 clothes, no bits beyond the prefix.
"""

from __future__ import annotations

import ipaddress

from simcloud.kubernetes.api.field_errors import invalid
from simcloud.kubernetes.api.validation.common import Errors, make_errors
from simcloud.kubernetes.api.validation.names import cidr as cidr_rule, ip as ip_rule, read_cidr, read_ip

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_LOOPBACK = "may not be in the loopback range (127.0.0.0/8, ::1/128)"
_LINK_LOCAL = "may not be in the link-local range (169.254.0.0/16, fe80::/10)"
_LINK_LOCAL_MULTICAST = "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"
_MULTICAST_V4 = ipaddress.ip_network("224.0.0.0/24")
_MULTICAST_V6 = ipaddress.ip_network("ff02::/16")


def legacy_ip(path: str, value: str) -> Errors:
    """An address of a field as old as IPv4."""
    return make_errors(path, value, _plain(value))


def legacy_cidr(path: str, value: str) -> Errors:
    """A network of a field as old as IPv4."""
    network = read_cidr(value)
    if network is None:
        return make_errors(path, value, cidr_rule(value))
    if _leading_zero(value) or _leading_zero_bits(value):
        return [invalid(path, value, "must not have leading 0s in IP or prefix length")]
    if _get_mapped_ipv4(network.ip):
        return [invalid(path, value, "must not have an IPv4-mapped IPv6 address")]
    if network.ip != network.network.network_address:
        return [invalid(path, value, "must not have bits set beyond the prefix length")]
    return []


def non_special_ip(path: str, value: str) -> Errors:
    """An address that other machines can reach."""
    address = read_ip(value)
    if address is None:
        return [invalid(path, value, "must be a valid IP address")]
    address = _get_mapped_ipv4(address) or address
    sentences = []
    if address.is_unspecified:
        sentences.append(f"may not be unspecified ({value})")
    if address.is_loopback:
        sentences.append(_LOOPBACK)
    if address.is_link_local:
        sentences.append(_LINK_LOCAL)
    if address in _MULTICAST_V4 or address in _MULTICAST_V6:
        sentences.append(_LINK_LOCAL_MULTICAST)
    return make_errors(path, value, sentences)


def is_ipv6(value: str) -> bool:
    """Whether this is an IPv6 address; an IPv4 address in IPv6 clothes is not."""
    address = read_ip(value)
    return address is not None and address.version == 6 and _get_mapped_ipv4(address) is None


def _plain(value: str) -> list[str]:
    sentences = ip_rule(value)
    if not sentences:
        if _leading_zero(value):
            sentences.append("must not have leading 0s")
        if _get_mapped_ipv4(read_ip(value)):
            sentences.append("must not be an IPv4-mapped IPv6 address")
    return sentences


def _get_mapped_ipv4(address: Address | None) -> ipaddress.IPv4Address | None:
    return address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None


def _leading_zero(value: str) -> bool:
    address = value.partition("/")[0]
    if ":" in address:
        return False
    return any(len(part) > 1 and part.startswith("0") for part in address.split("."))


def _leading_zero_bits(value: str) -> bool:
    bits = value.partition("/")[2]
    return len(bits) > 1 and bits.startswith("0")
