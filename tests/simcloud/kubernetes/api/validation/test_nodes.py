"""Nodes: taints, networks, resources, and what stays once it is set."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simcloud.kubernetes.api.validation.examples import (
    EXAMPLES,
    GONE,
    edited,
    on_create,
    on_update,
    warnings,
)

NODE = EXAMPLES["Node"]
TAINT = {"key": "dedicated", "value": "db", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("edits", "told"),
    [
        (
            {"spec/taints/0/effect": "Never"},
            [
                'metadata.taints[0].effect: Unsupported value: "Never": supported values: "NoSchedule", '
                '"PreferNoSchedule", "NoExecute"'
            ],
        ),
        ({"spec/taints/0/effect": GONE}, ["metadata.taints[0].effect: Required value"]),
        (
            {"spec/taints": [TAINT, TAINT]},
            [
                'metadata.taints[1]: Duplicate value: {"Key":"dedicated","Value":"db","Effect":"NoSchedule",'
                '"TimeAdded":null}: taints must be unique by key and effect pair'
            ],
        ),
        (
            {"spec/podCIDRs": ["10.244.0.1/24"]},
            [
                'spec.podCIDRs[0]: Invalid value: "10.244.0.1/24": must not have bits set beyond the prefix length'
            ],
        ),
        (
            {"spec/podCIDRs": ["10.244.0.0/24", "10.244.1.0/24"]},
            [
                'spec.podCIDRs: Invalid value: ["10.244.0.0/24","10.244.1.0/24"]: '
                "may specify no more than one CIDR for each IP family"
            ],
        ),
        (
            {"status/capacity/pods": "1500m"},
            ['status.capacity.pods: Invalid value: "1500m": must be an integer'],
        ),
        (
            {"status/capacity/cpu": "-1"},
            ['status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0'],
        ),
    ],
)
def test_a_broken_node(edits: dict[str, Any], told: list[str]) -> None:
    assert on_create(edited(NODE, edits)) == told


@pytest.mark.parametrize(
    ("edits", "told"),
    [
        (
            {"spec/podCIDRs": ["10.244.9.0/24"]},
            ['spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid'],
        ),
        (
            {"spec/providerID": "kind://other"},
            ['spec.providerID: Forbidden: node updates may not change providerID except from "" to valid'],
        ),
        ({"spec/unschedulable": True, "spec/taints": []}, []),
    ],
)
def test_what_stays_once_it_is_set(edits: dict[str, Any], told: list[str]) -> None:
    assert on_update(edited(NODE, edits), NODE) == told


def test_what_is_warned_of() -> None:
    assert warnings(edited(NODE, {"spec/externalID": "x", "spec/configSource": {}})) == [
        "spec.configSource: the feature is no longer available",
        "spec.externalID: this field is deprecated, and is unused by Kubernetes",
    ]
