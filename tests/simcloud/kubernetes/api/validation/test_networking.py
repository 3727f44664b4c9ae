"""Ingresses, their classes, NetworkPolicies and the addresses of Services: the sentences of each rule."""

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

PATH = "spec/rules/0/http/paths/0"
TOLD_PATH = "spec.rules[0].http.paths[0]"
PEER = "spec/egress/0/to/0"


@pytest.mark.parametrize(
    ("kind", "edits", "told"),
    [
        (
            "Ingress",
            {"spec/rules": GONE},
            ["spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"],
        ),
        (
            "Ingress",
            {f"{PATH}/pathType": GONE},
            [f"{TOLD_PATH}.pathType: Required value: pathType must be specified"],
        ),
        (
            "Ingress",
            {f"{PATH}/pathType": "Regex"},
            [
                f'{TOLD_PATH}.pathType: Unsupported value: "Regex": supported values: "Exact", '
                '"ImplementationSpecific", "Prefix"'
            ],
        ),
        (
            "Ingress",
            {f"{PATH}/path": "shop"},
            [f'{TOLD_PATH}.path: Invalid value: "shop": must be an absolute path'],
        ),
        (
            "Ingress",
            {f"{PATH}/path": "/a//b"},
            [f"{TOLD_PATH}.path: Invalid value: \"/a//b\": must not contain '//'"],
        ),
        (
            "Ingress",
            {f"{PATH}/backend": {}},
            [f'{TOLD_PATH}.backend: Invalid value: "": resource or service backend is required'],
        ),
        (
            "Ingress",
            {f"{PATH}/backend/service/port": {}},
            [f"{TOLD_PATH}.backend: Required value: port name or number is required"],
        ),
        (
            "Ingress",
            {f"{PATH}/backend/service/port": {"name": "http", "number": 80}},
            [f'{TOLD_PATH}.backend: Invalid value: "": cannot set both port name & port number'],
        ),
        (
            "Ingress",
            {f"{PATH}/backend/service/name": ""},
            [f"{TOLD_PATH}.backend.service.name: Required value"],
        ),
        (
            "Ingress",
            {"spec/rules/0/host": "10.0.0.1"},
            ['spec.rules[0].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address'],
        ),
        ("Ingress", {"spec/rules/0/http/paths": []}, ["spec.rules[0].http.paths: Required value"]),
        (
            "Ingress",
            {"metadata/annotations": {"kubernetes.io/ingress.class": "other"}},
            [
                'annotations.kubernetes.io/ingress.class: Invalid value: "other": '
                "must match `ingressClassName` when both are specified"
            ],
        ),
        ("IngressClass", {"spec/controller": GONE}, ["spec.controller: Required value"]),
        (
            "IngressClass",
            {"spec/controller": "nginx"},
            [
                'spec.controller: Invalid value: "nginx": '
                'must be a domain-prefixed path (such as "acme.io/foo")'
            ],
        ),
        (
            "NetworkPolicy",
            {"spec/ingress/0/ports/0/protocol": "ICMP"},
            [
                'spec.ingress[0].ports[0].protocol: Unsupported value: "ICMP": supported values: "TCP", "UDP", "SCTP"'
            ],
        ),
        (
            "NetworkPolicy",
            {"spec/ingress/0/ports/0/endPort": 70},
            [
                "spec.ingress[0].ports[0].endPort: Invalid value: 80: must be greater than or equal to `port`",
            ],
        ),
        (
            "NetworkPolicy",
            {"spec/ingress/0/from/0": {}},
            ["spec.ingress[0].from[0]: Required value: must specify a peer"],
        ),
        (
            "NetworkPolicy",
            {f"{PEER}/podSelector": {}},
            ["spec.egress[0].to[0]: Forbidden: may not specify both ipBlock and another peer"],
        ),
        (
            "NetworkPolicy",
            {f"{PEER}/ipBlock/except": ["11.0.0.0/16"]},
            [
                'spec.egress[0].to[0].ipBlock.except[0]: Invalid value: "11.0.0.0/16": '
                "must be a strict subset of `cidr`"
            ],
        ),
        (
            "NetworkPolicy",
            {f"{PEER}/ipBlock/cidr": "10.0.0.1/8"},
            [
                'spec.egress[0].to[0].ipBlock.cidr: Invalid value: "10.0.0.1/8": '
                "must not have bits set beyond the prefix length"
            ],
        ),
        (
            "NetworkPolicy",
            {"spec/policyTypes": ["Both"]},
            ['spec.policyTypes[0]: Unsupported value: "Both": supported values: "Ingress", "Egress"'],
        ),
    ],
)
def test_a_broken_object(kind: str, edits: dict[str, Any], told: list[str]) -> None:
    assert on_create(edited(EXAMPLES[kind], edits)) == told


@pytest.mark.parametrize(
    ("kind", "edits", "told"),
    [
        (
            "IngressClass",
            {"spec/controller": "k8s.io/other"},
            ['spec.controller: Invalid value: "k8s.io/other": field is immutable'],
        ),
    ],
)
def test_what_may_not_change(kind: str, edits: dict[str, Any], told: list[str]) -> None:
    assert on_update(edited(EXAMPLES[kind], edits), EXAMPLES[kind]) == told


def test_the_old_annotation_is_warned_of() -> None:
    ingress = edited(
        EXAMPLES["Ingress"],
        {"metadata/annotations": {"kubernetes.io/ingress.class": "nginx"}, "spec/ingressClassName": GONE},
    )
    assert warnings(ingress) == [
        "annotation \"kubernetes.io/ingress.class\" is deprecated, please use 'spec.ingressClassName' instead"
    ]
    assert warnings(ingress, ingress) == []
