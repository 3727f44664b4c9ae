"""Volumes and claims: recorded refusals, and the sentences of each rule."""

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

VOLUME, CLAIM = EXAMPLES["PersistentVolume"], EXAMPLES["PersistentVolumeClaim"]
BOUND = {"status": {"phase": "Bound", "capacity": {"storage": "5Gi"}}, "spec/volumeName": "pv"}


def test_a_claim_made_smaller_as_recorded() -> None:
    new = edited(CLAIM, {"spec/resources/requests/storage": "1Gi"})
    assert on_update(new, CLAIM) == [
        "spec: Forbidden: spec is immutable after creation except resources.requests and "
        "volumeAttributesClassName for bound claims\n"
        "@@ -6,7 +6,7 @@\n"
        '  "Resources": {\n'
        '   "Limits": null,\n'
        '   "Requests": {\n'
        '-   "storage": "5Gi"\n'
        '+   "storage": "1Gi"\n'
        "   }\n"
        "  },\n"
        '  "VolumeName": "",\n'
    ]


def test_a_bound_claim_may_grow_but_not_shrink() -> None:
    old = edited(CLAIM, BOUND)
    assert on_update(edited(old, {"spec/resources/requests/storage": "8Gi"}), old) == []
    assert on_update(edited(old, {"spec/resources/requests/storage": "1Gi"}), old) == [
        "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"
    ]


def test_a_claim_is_bound_once() -> None:
    new = edited(CLAIM, {"spec/volumeName": "pv"})
    assert on_update(new, CLAIM) == []
    told = on_update(edited(new, {"spec/volumeName": "other"}), new)
    assert len(told) == 1
    assert '- "VolumeName": "pv",\n+ "VolumeName": "other",\n' in told[0]


def test_a_claim_without_a_class_may_get_one() -> None:
    assert on_update(CLAIM, edited(CLAIM, {"spec/storageClassName": GONE})) == []


@pytest.mark.parametrize(
    ("edits", "told"),
    [
        (
            {"spec/accessModes": []},
            ["spec.accessModes: Required value: at least 1 access mode is required"],
        ),
        (
            {"spec/accessModes": ["ReadWrite"]},
            [
                'spec.accessModes: Unsupported value: "ReadWrite": supported values: "ReadOnlyMany", '
                '"ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"'
            ],
        ),
        (
            {"spec/accessModes": ["ReadWriteOnce", "ReadWriteOncePod"]},
            ["spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"],
        ),
        ({"spec/resources": GONE}, ["spec.resources[storage]: Required value"]),
        (
            {"spec/resources/requests/storage": "0"},
            ['spec.resources[storage]: Invalid value: "0": must be greater than zero'],
        ),
        (
            {"spec/volumeMode": "Tape"},
            ['spec.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem"'],
        ),
    ],
)
def test_a_broken_claim(edits: dict[str, Any], told: list[str]) -> None:
    assert on_create(edited(CLAIM, edits)) == told


@pytest.mark.parametrize(
    ("edits", "told"),
    [
        ({"spec/accessModes": GONE}, ["spec.accessModes: Required value"]),
        (
            {"spec/capacity": GONE},
            [
                "spec.capacity: Required value",
                'spec.capacity: Unsupported value: null: supported values: "storage"',
            ],
        ),
        (
            {"spec/capacity/storage": "0"},
            ['spec.capacity[storage]: Invalid value: "0": must be greater than zero'],
        ),
        (
            {"spec/persistentVolumeReclaimPolicy": "Keep"},
            [
                'spec.persistentVolumeReclaimPolicy: Unsupported value: "Keep": supported values: "Delete", '
                '"Recycle", "Retain"'
            ],
        ),
        ({"spec/hostPath": GONE}, ["spec: Required value: must specify a volume type"]),
        ({"spec/hostPath/path": ""}, ["spec.hostPath.path: Required value"]),
        (
            {"spec/hostPath/path": "/a/../b"},
            ["spec.hostPath.path: Invalid value: \"/a/../b\": must not contain '..'"],
        ),
        (
            {"spec/nfs": {"server": "a", "path": "/"}},
            ["spec.nfs: Forbidden: may not specify more than 1 volume type"],
        ),
        (
            {"spec/hostPath": GONE, "spec/nfs": {"path": "a"}},
            [
                "spec.nfs.server: Required value",
                'spec.nfs.path: Invalid value: "a": must be an absolute path',
            ],
        ),
        (
            {"spec/hostPath": GONE, "spec/local": {"path": "/mnt"}, "spec/nodeAffinity": GONE},
            ["spec.nodeAffinity: Required value: Local volume requires node affinity"],
        ),
        (
            {"spec/hostPath": GONE, "spec/csi": {"driver": "d"}},
            ["spec.csi.volumeHandle: Required value"],
        ),
        (
            {"spec/hostPath/path": "/", "spec/persistentVolumeReclaimPolicy": "Recycle"},
            [
                "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'"
            ],
        ),
        (
            {"spec/nodeAffinity/required/nodeSelectorTerms": []},
            [
                "spec.nodeAffinity.required.nodeSelectorTerms: Required value: "
                "must have at least one node selector term"
            ],
        ),
    ],
)
def test_a_broken_volume(edits: dict[str, Any], told: list[str]) -> None:
    assert on_create(edited(VOLUME, edits)) == told


def test_the_source_of_a_volume_stays() -> None:
    told = on_update(edited(VOLUME, {"spec/hostPath/path": "/other"}), VOLUME)
    assert told == [
        "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\n"
        "@@ -2,7 +2,7 @@\n"
        '  "GCEPersistentDisk": null,\n'
        '  "AWSElasticBlockStore": null,\n'
        '  "HostPath": {\n'
        '-  "Path": "/data",\n'
        '+  "Path": "/other",\n'
        '   "Type": ""\n'
        "  },\n"
        '  "Glusterfs": null,\n'
    ]


def test_the_mode_of_a_volume_stays() -> None:
    assert on_update(edited(VOLUME, {"spec/volumeMode": "Block"}), VOLUME) == [
        'volumeMode: Invalid value: "Block": field is immutable'
    ]


def test_what_is_warned_of() -> None:
    assert warnings(edited(VOLUME, {"spec/persistentVolumeReclaimPolicy": "Recycle"})) == [
        "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, "
        "the recommended approach is to use dynamic provisioning."
    ]
    assert warnings(edited(CLAIM, {"spec/resources/requests/storage": "1500m"})) == [
        'spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer'
    ]
