"""ConfigMaps, Secrets, Namespaces and Bindings: the sentences of each rule."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from simcloud.kubernetes.api.validation.core import namespace_finalize
from tests.simcloud.kubernetes.api.validation.examples import (
    EXAMPLES,
    GONE,
    edited,
    on_create,
    on_update,
    warnings,
)

KEY = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or "
    "'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)
BIG = "x" * (1024 * 1024 + 1)


def _base64(text: str) -> str:
    return b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    ("kind", "edits", "told"),
    [
        ("ConfigMap", {"data": {"a b": ""}}, [f'data[a b]: Invalid value: "a b": {KEY}']),
        ("ConfigMap", {"data": {"..": ""}}, ["data[..]: Invalid value: \"..\": must not be '..'"]),
        (
            "ConfigMap",
            {"data": {"logo": ""}},
            ['data[logo]: Invalid value: "logo": duplicate of key present in binaryData'],
        ),
        ("ConfigMap", {"data": {"big": BIG}}, ["[]: Too long: may not be more than 1048576 bytes"]),
        ("Secret", {"data": {"big": _base64(BIG)}}, ["data: Too long: may not be more than 1048576 bytes"]),
        (
            "Secret",
            {"type": "kubernetes.io/tls"},
            ["data[tls.crt]: Required value", "data[tls.key]: Required value"],
        ),
        (
            "Secret",
            {"type": "kubernetes.io/basic-auth", "data": GONE},
            ["data[username]: Required value", "data[password]: Required value"],
        ),
        ("Secret", {"type": "kubernetes.io/ssh-auth"}, ["data[ssh-privatekey]: Required value"]),
        ("Secret", {"type": "kubernetes.io/dockerconfigjson"}, ["data[.dockerconfigjson]: Required value"]),
        (
            "Secret",
            {"type": "kubernetes.io/service-account-token"},
            ["metadata.annotations[kubernetes.io/service-account.name]: Required value"],
        ),
        (
            "Namespace",
            {"spec/finalizers": ["mine"]},
            [
                'spec.finalizers: Invalid value: "mine": '
                "name is neither a standard finalizer name nor is it fully qualified"
            ],
        ),
        (
            "Binding",
            {"target": {"kind": "Pod"}},
            [
                'target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"',
                "target.name: Required value",
            ],
        ),
    ],
)
def test_a_broken_object(kind: str, edits: dict[str, Any], told: list[str]) -> None:
    assert on_create(edited(EXAMPLES[kind], edits)) == told


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("hello", "invalid character 'h' looking for beginning of value"),
        ("", "unexpected end of JSON input"),
        ('{"a"', "unexpected end of JSON input"),
        ('{"a" 1}', "invalid character '1' after object key"),
        ("{} x", "invalid character 'x' after top-level value"),
        ("[]", "json: cannot unmarshal array into Go value of type map[string]interface {}"),
        ("[" * 100000, "exceeded max depth"),
    ],
)
def test_a_pull_secret_must_be_json(content: str, fault: str) -> None:
    secret = edited(
        EXAMPLES["Secret"],
        {"type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": _base64(content)}},
    )
    assert on_create(secret) == [
        f'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": {fault}'
    ]


@pytest.mark.parametrize("kind", ["ConfigMap", "Secret"])
def test_what_is_immutable_stays(kind: str) -> None:
    old = edited(EXAMPLES[kind], {"immutable": True})
    assert on_update(edited(old, {"data": {"other": "eA=="}}), old) == [
        "data: Forbidden: field is immutable when `immutable` is set"
    ]
    assert on_update(edited(old, {"immutable": GONE}), old) == [
        "immutable: Forbidden: field is immutable when `immutable` is set"
    ]


def test_the_type_of_a_secret_stays() -> None:
    old = EXAMPLES["Secret"]
    assert on_update(edited(old, {"type": "example.com/other"}), old) == [
        'type: Invalid value: "example.com/other": field is immutable'
    ]


def test_a_tls_secret_without_pem_is_warned_of() -> None:
    secret = edited(
        EXAMPLES["Secret"], {"type": "kubernetes.io/tls", "data": {"tls.crt": "eA==", "tls.key": "eA=="}}
    )
    assert on_create(secret) == []
    assert warnings(secret) == ["tls: failed to find any PEM data in certificate input"]


def test_a_namespace_has_known_finalizers() -> None:
    old = EXAMPLES["Namespace"]
    finalized = edited(old, {"spec/finalizers": ["mine"]})
    assert [str(error) for error in namespace_finalize(finalized, old)] == [
        'spec.finalizers[0]: Invalid value: "mine": '
        "name is neither a standard finalizer name nor is it fully qualified"
    ]
