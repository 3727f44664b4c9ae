"""What of a pod may change, in its spec, its status, its debugging containers and its resources."""

from __future__ import annotations

from typing import Any

import pytest

from simcloud.kubernetes.api.validation.core import binding
from simcloud.kubernetes.api.validation.go_types import changes
from simcloud.kubernetes.api.validation.pods import (
    validate_ephemeral_containers,
    validate_resize,
)
from tests.simcloud.kubernetes.api.validation.samples import changed, container, on_update, sound

POD = changed(sound("Pod"), "spec/nodeName", "worker")
OTHER_FIELDS = (
    "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing "
    "tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n"
)
TERMINATED = {"name": "app", "state": {"terminated": {"exitCode": 0}}}


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("containers/0/image", "nginx:2", []),
        ("activeDeadlineSeconds", 5, []),
        ("tolerations", [{"key": "a", "operator": "Exists"}], []),
        (
            "containers",
            [container(), container(name="b")],
            ["spec.containers: Forbidden: pod updates may not add or remove containers"],
        ),
        (
            "schedulingGates",
            [{"name": "g"}],
            [
                "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate "
                "'g'"
            ],
        ),
        (
            "containers/0/env",
            [{"name": "A", "value": "1"}],
            [
                OTHER_FIELDS + "@@ -10,7 +10,13 @@\n"
                '    "WorkingDir": "",\n'
                '    "Ports": null,\n'
                '    "EnvFrom": null,\n'
                '-   "Env": null,\n'
                '+   "Env": [\n'
                "+    {\n"
                '+     "Name": "A",\n'
                '+     "Value": "1",\n'
                '+     "ValueFrom": null\n'
                "+    }\n"
                "+   ],\n"
                '    "Resources": {\n'
                '     "Limits": null,\n'
                '     "Requests": null,\n'
            ],
        ),
    ],
)
def test_specs(path: str, value: Any, told: list[str]) -> None:
    assert on_update(changed(POD, f"spec/{path}", value), POD) == told


def test_a_deadline_only_comes_nearer() -> None:
    old = changed(POD, "spec/activeDeadlineSeconds", 5)
    assert on_update(changed(POD, "spec/activeDeadlineSeconds", 6), old) == [
        "spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to previous value"
    ]
    assert on_update(POD, old) == [
        "spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value"
    ]


def test_tolerations_stay() -> None:
    old = changed(POD, "spec/tolerations", [{"key": "a", "operator": "Exists", "effect": "NoExecute"}])
    longer = changed(old, "spec/tolerations/0/tolerationSeconds", 9)
    assert on_update(longer, old) == []
    assert on_update(POD, old) == [
        "spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"
    ]


def test_a_claims_changes_are_shown_as_recorded() -> None:
    def claim(storage: str) -> dict[str, Any]:
        return {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": storage}},
            "volumeMode": "Filesystem",
        }

    assert changes("PersistentVolumeClaimSpec", claim("5Gi"), claim("1Gi")) == (
        "@@ -6,7 +6,7 @@\n"
        '  "Resources": {\n'
        '   "Limits": null,\n'
        '   "Requests": {\n'
        '-   "storage": "5Gi"\n'
        '+   "storage": "1Gi"\n'
        "   }\n"
        "  },\n"
        '  "VolumeName": "",\n'
    )


def test_debugging_containers_are_added_and_stay() -> None:
    debug = changed(POD, "spec/ephemeralContainers", [container(name="debug")])
    assert validate_ephemeral_containers(debug, POD) == []
    assert [str(error) for error in validate_ephemeral_containers(POD, debug)] == [
        'spec.ephemeralContainers: Forbidden: existing ephemeral containers "debug" may not be removed\n'
    ]
    with_ports = changed(debug, "spec/ephemeralContainers/0/ports", [{"containerPort": 1, "protocol": "TCP"}])
    assert [str(error) for error in validate_ephemeral_containers(with_ports, POD)] == [
        "spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container"
    ]


def test_only_processors_and_memory_are_resized() -> None:
    old = changed(POD, "spec/containers/0/resources", {"requests": {"cpu": "1"}})
    assert validate_resize(changed(old, "spec/containers/0/resources", {"requests": {"cpu": "2"}}), old) == []
    told = [str(error) for error in validate_resize(changed(old, "spec/containers/0/image", "x"), old)]
    assert told == ["spec: Forbidden: only cpu and memory resources are mutable"]
    told = [str(error) for error in validate_resize(changed(old, "spec/containers/0/resources", {}), old)]
    assert told == [
        'spec: Invalid value: "": Pod QOS Class may not change as a result of resizing',
        "spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed",
    ]


def test_a_pod_as_a_whole_is_resized() -> None:
    old = changed(POD, "spec/resources", {"requests": {"cpu": "1"}})
    assert validate_resize(changed(old, "spec/resources", {"requests": {"cpu": "2"}}), old) == []
    told = [
        str(error) for error in validate_resize(changed(old, "spec/resources", {"limits": {"cpu": "2"}}), old)
    ]
    assert told == ["spec.resources.requests: Forbidden: pod-level resource requests cannot be removed"]


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ({"kind": "Node", "name": "worker"}, []),
        ({"name": "worker"}, []),
        ({"kind": "Node"}, ["target.name: Required value"]),
        (
            {"kind": "Pod", "name": "x"},
            ['target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"'],
        ),
    ],
)
def test_bindings(target: dict[str, Any], told: list[str]) -> None:
    assert [str(error) for error in binding({"target": target}, None)] == told
