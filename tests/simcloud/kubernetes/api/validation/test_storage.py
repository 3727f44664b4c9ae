"""Classes of storage, drivers and attachments: the sentences of each rule."""

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
        (
            "VolumeAttributesClass",
            {"parameters": {}},
            ["parameters: Required value: must contain at least one key/value pair"],
        ),
        (
            "VolumeAttachment",
            {"spec/source": {}},
            [
                "spec.source: Required value: "
                "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
            ],
        ),
        (
            "VolumeAttachment",
            {
                "spec/source": {
                    "inlineVolumeSpec": {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1"}}
                }
            },
            [
                "spec.source.inlineVolumeSpec.capacity: Forbidden: "
                "may not be specified in the context of inline volumes",
                "spec.source.inlineVolumeSpec.csi: Required value: "
                "has to be specified in the context of inline volumes",
                "spec.source.inlineVolumeSpec: Required value: must specify a volume type",
            ],
        ),
        ("CSIDriver", {"spec/attachRequired": GONE}, ["spec.attachedRequired: Required value"]),
        (
            "CSIDriver",
            {"spec/tokenRequests/0/expirationSeconds": 10},
            [
                "spec.tokenRequests[0].expirationSeconds: Invalid value: 10: "
                "may not specify a duration less than 10 minutes"
            ],
        ),
        ("CSINode", {"spec/drivers/0/nodeID": ""}, ["spec.drivers[0].nodeID: Required value"]),
        (
            "CSIStorageCapacity",
            {"capacity": "-1"},
            ['capacity: Invalid value: "-1": must be greater than or equal to 0'],
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
        (
            "VolumeAttributesClass",
            {"driverName": "other"},
            ["driverName: Forbidden: updates to driverName are forbidden."],
        ),
        (
            "VolumeAttachment",
            {"spec/nodeName": "other"},
            [
                'spec: Invalid value: {"Attacher":"csi.example.com","Source":{"PersistentVolumeName":"pv",'
                '"InlineVolumeSpec":null},"NodeName":"other"}: field is immutable'
            ],
        ),
        (
            "CSINode",
            {"spec/drivers/0/nodeID": "n2"},
            [
                'spec.drivers[0]: Invalid value: {"Name":"csi.example.com","NodeID":"n2","TopologyKeys":["zone"],'
                '"Allocatable":null}: field is immutable'
            ],
        ),
    ],
)
def test_what_may_not_change(kind: str, edits: dict[str, Any], told: list[str]) -> None:
    assert on_update(edited(EXAMPLES[kind], edits), EXAMPLES[kind]) == told


def test_old_labels_are_warned_of() -> None:
    key = "allowedTopologies/0/matchLabelExpressions/0/key"
    assert warnings(edited(EXAMPLES["StorageClass"], {key: "failure-domain.beta.kubernetes.io/zone"})) == [
        "allowedTopologies[0].matchLabelExpressions[0].key: "
        'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'
    ]
