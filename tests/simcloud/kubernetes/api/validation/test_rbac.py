"""Roles and bindings: the sentences of each rule."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simcloud.kubernetes.api.validation.examples import EXAMPLES, GONE, edited, on_create, on_update

GROUP = "rbac.authorization.k8s.io"


@pytest.mark.parametrize(
    ("kind", "edits", "told"),
    [
        (
            "Role",
            {"rules": [{}]},
            [
                "rules[0].verbs: Required value: verbs must contain at least one value",
                "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
                "rules[0].resources: Required value: resource rules must supply at least one resource",
            ],
        ),
        (
            "Role",
            {"rules": [{"verbs": ["get"], "nonResourceURLs": ["/x"]}]},
            [
                'rules[0].nonResourceURLs: Invalid value: ["/x"]: '
                "namespaced rules cannot apply to non-resource URLs"
            ],
        ),
        (
            "ClusterRole",
            {"rules/0/resources": ["pods"]},
            [
                'rules[0].nonResourceURLs: Invalid value: ["/healthz"]: '
                "rules cannot apply to both regular resources and non-resource URLs"
            ],
        ),
        (
            "ClusterRole",
            {"aggregationRule/clusterRoleSelectors": []},
            [
                "aggregationRule.clusterRoleSelectors: Required value: "
                "at least one clusterRoleSelector required if aggregationRule is non-nil"
            ],
        ),
        (
            "RoleBinding",
            {"roleRef/kind": "Group"},
            ['roleRef.kind: Unsupported value: "Group": supported values: "Role", "ClusterRole"'],
        ),
        (
            "RoleBinding",
            {"roleRef/apiGroup": ""},
            [f'roleRef.apiGroup: Unsupported value: "": supported values: "{GROUP}"'],
        ),
        ("RoleBinding", {"roleRef/name": GONE}, ["roleRef.name: Required value"]),
        (
            "RoleBinding",
            {"subjects/0/apiGroup": GROUP},
            [f'subjects[0].apiGroup: Unsupported value: "{GROUP}": supported values: ""'],
        ),
        (
            "RoleBinding",
            {"subjects/0/kind": "Robot"},
            [
                'subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"'
            ],
        ),
        (
            "ClusterRoleBinding",
            {"subjects/0": {"kind": "ServiceAccount", "name": "app"}},
            ["subjects[0].namespace: Required value"],
        ),
        (
            "ClusterRoleBinding",
            {"subjects/0/name": ""},
            [
                "subjects[0].name: Required value",
                'subjects[0].name: Invalid value: "": user name cannot be empty',
            ],
        ),
    ],
)
def test_a_broken_object(kind: str, edits: dict[str, Any], told: list[str]) -> None:
    assert on_create(edited(EXAMPLES[kind], edits)) == told


@pytest.mark.parametrize("kind", ["RoleBinding", "ClusterRoleBinding"])
def test_a_binding_keeps_its_role(kind: str) -> None:
    old = EXAMPLES[kind]
    assert on_update(edited(old, {"roleRef/name": "edit"}), old) == [
        f'roleRef: Invalid value: {{"APIGroup":"{GROUP}","Kind":"{old["roleRef"]["kind"]}","Name":"edit"}}: '
        "cannot change roleRef"
    ]
