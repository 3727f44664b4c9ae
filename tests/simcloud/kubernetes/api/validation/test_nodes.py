"""Nodes: taints, networks, resources, and what stays once it is set."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simcloud.kubernetes.api.validation.examples import EXAMPLES, GONE, edited, on_create, on_update

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
