"""Classes of storage, drivers and attachments: the sentences of each rule."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simcloud.kubernetes.api.validation.examples import EXAMPLES, GONE, edited, on_create, on_update


@pytest.mark.parametrize(
    ("kind", "edits", "told"),
    [
        ("StorageClass", {"provisioner": GONE}, ["provisioner: Required value"]),
        (
            "StorageClass",
            {"reclaimPolicy": "Recycle"},
            ['reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"'],
        ),
        ("StorageClass", {"volumeBindingMode": GONE}, ["volumeBindingMode: Required value"]),
        (
            "StorageClass",
            {"allowedTopologies/0/matchLabelExpressions/0/values": ["a", "a"]},
            ['allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: "a"'],
        ),
        (
            "StorageClass",
            {"parameters": {"": "x"}},
            ['parameters: Invalid value: "": field can not be empty.'],
        ),
    ],
)
def test_a_broken_object(kind: str, edits: dict[str, Any], told: list[str]) -> None:
    assert on_create(edited(EXAMPLES[kind], edits)) == told


@pytest.mark.parametrize(
    ("kind", "edits", "told"),
    [
        (
            "StorageClass",
            {"parameters": {"type": "hdd"}, "provisioner": "other.io/x"},
            [
                "parameters: Forbidden: updates to parameters are forbidden.",
                "provisioner: Forbidden: updates to provisioner are forbidden.",
            ],
        ),
        (
            "StorageClass",
            {"reclaimPolicy": "Retain"},
            ["reclaimPolicy: Forbidden: updates to reclaimPolicy are forbidden."],
        ),
        (
            "StorageClass",
            {"volumeBindingMode": "Immediate"},
            ['volumeBindingMode: Invalid value: "Immediate": field is immutable'],
        ),
        ("StorageClass", {"allowVolumeExpansion": True}, []),
    ],
)
def test_what_may_not_change(kind: str, edits: dict[str, Any], told: list[str]) -> None:
    assert on_update(edited(EXAMPLES[kind], edits), EXAMPLES[kind]) == told
