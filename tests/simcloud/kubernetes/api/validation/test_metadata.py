"""Metadata of new and changed objects."""

from __future__ import annotations

from typing import Any

import pytest

from simcloud.kubernetes.api import validation
from tests.simcloud.kubernetes.api.validation.samples import (
    CATALOGUE,
    GONE,
    changed,
    on_create,
    on_update,
    sound,
)
from tests.simcloud.kubernetes.api.validation.test_names import KEY, LABEL, SUBDOMAIN

DEPLOYMENT = sound("Deployment")
OWNER = {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u", "controller": True}


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("name", GONE, ["metadata.name: Required value: name or generateName is required"]),
        ("name", "A", [f'metadata.name: Invalid value: "A": {SUBDOMAIN}']),
        ("generateName", "web-", []),
        ("generateName", "Web-", [f'metadata.generateName: Invalid value: "Web-": {SUBDOMAIN}']),
        ("namespace", GONE, ["metadata.namespace: Required value"]),
        ("namespace", "a.b", ['metadata.namespace: Invalid value: "a.b": must not contain dots']),
        ("labels", {"bad key!": "x"}, [f'metadata.labels: Invalid value: "bad key!": {KEY}']),
        (
            "annotations",
            {"a": "x" * 262144},
            ["metadata.annotations: Too long: may not be more than 262144 bytes"],
        ),
        ("annotations", {"UPPER.example.com/A": "b"}, []),
        (
            "finalizers",
            ["mine"],
            [
                'metadata.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is '
                "it fully qualified"
            ],
        ),
        (
            "finalizers",
            ["orphan", "foregroundDeletion"],
            [
                'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and '
                "foregroundDeletion cannot be both set"
            ],
        ),
        (
            "ownerReferences",
            [{"apiVersion": "v1", "kind": "Pod", "name": "", "uid": "1"}],
            ['metadata.ownerReferences.name: Invalid value: "": must not be empty'],
        ),
    ],
)
def test_a_new_object(path: str, value: Any, told: list[str]) -> None:
    assert on_create(changed(DEPLOYMENT, f"metadata/{path}", value)) == told


def test_one_controller_only() -> None:
    told = on_create(changed(DEPLOYMENT, "metadata/ownerReferences", [OWNER, {**OWNER, "name": "m"}]))
    assert told[0].endswith(
        'Only one reference can have Controller set to true. Found "true" in references for Node/n and Node/m'
    )


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("name", "other", ['metadata.name: Invalid value: "other": field is immutable']),
        ("labels", {"bad key!": "x"}, [f'metadata.labels: Invalid value: "bad key!": {KEY}']),
        ("uid", "u2", ['metadata.uid: Invalid value: "u2": field is immutable']),
        ("generation", 0, ["metadata.generation: Invalid value: 0: must not be decremented"]),
        (
            "resourceVersion",
            "",
            ['metadata.resourceVersion: Invalid value: "": must be specified for an update'],
        ),
        (
            "deletionTimestamp",
            "2026-01-02T00:00:00Z",
            ['metadata.deletionTimestamp: Invalid value: "2026-01-02T00:00:00Z": field is immutable'],
        ),
    ],
)
def test_a_changed_object(path: str, value: Any, told: list[str]) -> None:
    assert on_update(changed(DEPLOYMENT, f"metadata/{path}", value), DEPLOYMENT) == told


def test_no_finalizers_are_added_to_what_goes() -> None:
    going = changed(DEPLOYMENT, "metadata/deletionTimestamp", "2026-01-02T00:00:00Z")
    assert on_update(changed(going, "metadata/finalizers", ["a/b"]), going) == [
        "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, "
        'found new finalizers []string{"a/b"}'
    ]


@pytest.mark.parametrize(
    ("plural", "group", "name", "told"),
    [
        ("namespaces", "", "a.b", "must not contain dots"),
        ("services", "", "1web", None),
        ("services", "", "Web", LABEL),
        ("nodes", "", "node-1.example.com", None),
        ("clusterroles", "rbac.authorization.k8s.io", "system:node", None),
        ("clusterroles", "rbac.authorization.k8s.io", "a/b", "may not contain '/'"),
        ("statefulsets", "apps", "a.b", "must not contain dots"),
    ],
)
def test_names_follow_their_kind(plural: str, group: str, name: str, told: str | None) -> None:
    resource = CATALOGUE.find(plural, group)
    metadata = {"name": name, **({"namespace": "demo"} if resource.namespaced else {})}
    obj = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata}
    errors = [error for error in validation.validate_create(resource, obj) if error.path == "metadata.name"]
    assert [error.message for error in errors] == ([f'Invalid value: "{name}": {told}'] if told else [])


def test_cluster_wide_kinds_have_no_namespace() -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "namespace": "x"}}
    assert "metadata.namespace: Forbidden: not allowed on this type" in on_create(node)
