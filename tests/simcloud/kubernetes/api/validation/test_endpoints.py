"""Endpoints and EndpointSlices: the sentences of each rule, and the warnings."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simcloud.kubernetes.api.validation.examples import EXAMPLES, GONE, edited, on_create, on_update

ENDPOINTS, SLICE = EXAMPLES["Endpoints"], EXAMPLES["EndpointSlice"]


@pytest.mark.parametrize(
    ("edits", "told"),
    [
        (
            {"subsets/0/addresses": []},
            ["subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"],
        ),
        (
            {"subsets/0/addresses/0/ip": "169.254.0.1"},
            [
                'subsets[0].addresses[0].ip: Invalid value: "169.254.0.1": '
                "may not be in the link-local range (169.254.0.0/16, fe80::/10)"
            ],
        ),
        (
            {"subsets/0/addresses/0/ip": "x"},
            [
                'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address, '
                "(e.g. 10.9.8.7 or 2001:db8::ffff)",
                'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address',
            ],
        ),
        (
            {"subsets/0/ports/0/port": 0},
            ["subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive"],
        ),
    ],
)
def test_broken_endpoints(edits: dict[str, Any], told: list[str]) -> None:
    assert on_create(edited(ENDPOINTS, edits)) == told


@pytest.mark.parametrize(
    ("edits", "told"),
    [
        ({"addressType": GONE}, ["addressType: Required value"]),
        (
            {"addressType": "MAC"},
            ['addressType: Unsupported value: "MAC": supported values: "FQDN", "IPv4", "IPv6"'],
        ),
        (
            {"endpoints/0/addresses": []},
            ["endpoints[0].addresses: Required value: must contain at least 1 address"],
        ),
        (
            {"addressType": "IPv6"},
            ['endpoints[0].addresses: Invalid value: "10.244.0.5": must be an IPv6 address'],
        ),
        (
            {"endpoints": [{"addresses": ["10.0.0.1"]}] * 1001},
            ["endpoints: Too many: 1001: must have at most 1000 items"],
        ),
        (
            {"ports/0/protocol": "HTTP"},
            ['ports[0].protocol: Unsupported value: "HTTP": supported values: "SCTP", "TCP", "UDP"'],
        ),
        (
            {"ports": [{"protocol": "TCP", "port": 1}, {"protocol": "TCP", "port": 2}]},
            ['ports[1].name: Duplicate value: ""'],
        ),
    ],
)
def test_a_broken_slice(edits: dict[str, Any], told: list[str]) -> None:
    assert on_create(edited(SLICE, edits)) == told


def test_the_type_of_addresses_stays() -> None:
    new = edited(SLICE, {"addressType": "FQDN", "endpoints/0/addresses": ["web.example.com"]})
    assert on_update(new, SLICE) == ['addressType: Invalid value: "FQDN": field is immutable']


def test_unchanged_subsets_are_taken_as_they_are() -> None:
    old = edited(ENDPOINTS, {"subsets/0/addresses/0/ip": "010.0.0.1"})
    assert on_update(old, old) == []
