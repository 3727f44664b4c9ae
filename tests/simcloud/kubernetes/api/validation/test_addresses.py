"""Addresses and networks: what is refused."""

from __future__ import annotations

import pytest

from simcloud.kubernetes.api.validation import addresses


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("10.0.0.1", []),
        ("2001:db8::1", []),
        ("010.0.0.1", ["must not have leading 0s"]),
        ("::ffff:1.2.3.4", ["must not be an IPv4-mapped IPv6 address"]),
        ("fe80::1%eth0", ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]),
    ],
)
def test_an_address(value: str, told: list[str]) -> None:
    expected = [f'p: Invalid value: "{value}": {one}' for one in told]
    assert [str(error) for error in addresses.legacy_ip("p", value)] == expected


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("10.0.0.0/8", None),
        ("10.0.0.1/8", "must not have bits set beyond the prefix length"),
        ("10.0.0.0/08", "must not have leading 0s in IP or prefix length"),
        ("::ffff:0:0/96", "must not have an IPv4-mapped IPv6 address"),
        ("10.0.0.0/33", "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"),
    ],
)
def test_a_network(value: str, told: str | None) -> None:
    expected = [] if told is None else [f'p: Invalid value: "{value}": {told}']
    assert [str(error) for error in addresses.legacy_cidr("p", value)] == expected


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("0.0.0.0", "may not be unspecified (0.0.0.0)"),
        ("::1", "may not be in the loopback range (127.0.0.0/8, ::1/128)"),
        ("224.0.0.9", "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"),
    ],
)
def test_an_address_nobody_can_reach(value: str, told: str) -> None:
    assert [str(error) for error in addresses.non_special_ip("p", value)] == [
        f'p: Invalid value: "{value}": {told}'
    ]
