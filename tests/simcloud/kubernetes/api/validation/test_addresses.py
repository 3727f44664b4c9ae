"""Addresses and networks: what is refused, what is only warned of, and that nothing else happens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcloud.kubernetes.api.validation import addresses

TEXTS = st.text(alphabet="0123456789abcdef.:/%", max_size=24) | st.text(max_size=12)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("10.0.0.1", []),
        ("2001:db8::1", []),
        ("010.0.0.1", ["must not have leading 0s"]),
        ("::ffff:1.2.3.4", ["must not be an IPv4-mapped IPv6 address"]),
        ("2001:DB8::1", ['must be in canonical form ("2001:db8::1")']),
        ("fe80::1%eth0", ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]),
    ],
)
def test_an_address(value: str, told: list[str]) -> None:
    assert addresses.canonical_ip(value) == told


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
    assert addresses.legacy_cidr("p", value, had=[value]) == []


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


@given(TEXTS)
def test_what_is_canonical_is_never_warned_of(value: str) -> None:
    if not addresses.canonical_ip(value):
        assert addresses.ip_warnings("p", value) == []
        assert addresses.legacy_ip("p", value) == []
    if not addresses.canonical_cidr("p", value):
        assert addresses.cidr_warnings("p", value) == []
        assert addresses.legacy_cidr("p", value) == []


@given(st.lists(TEXTS, max_size=3))
def test_families_are_told_of_any_texts(values: list[str]) -> None:
    assert addresses.one_network_of_each_family(values) in (True, False)
    assert addresses.one_of_each_family(values) in (True, False)
