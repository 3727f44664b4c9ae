"""Kinds with a handful of rules each: the sentences, one by one."""

from __future__ import annotations

from typing import Any

import pytest

from simcloud.kubernetes.api.resources import Catalogue
from simcloud.kubernetes.api.validation.deprecations import deprecation_warning
from tests.simcloud.kubernetes.api.validation.examples import EXAMPLES, GONE, edited, on_create, on_update


@pytest.mark.parametrize(
    ("kind", "edits", "told"),
    [
        (
            "PriorityClass",
            {"metadata/name": "system-mine"},
            [
                "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use "
                "only. error: system-mine is not a known system priority class"
            ],
        ),
        (
            "PriorityClass",
            {"value": 1_000_000_001},
            ["value: Forbidden: maximum allowed value of a user defined priority is 1000000000"],
        ),
        (
            "PriorityClass",
            {"preemptionPolicy": "Always"},
            [
                'preemptionPolicy: Unsupported value: "Always": supported values: "PreemptLowerPriority", "Never"'
            ],
        ),
        (
            "Lease",
            {"spec/leaseDurationSeconds": 0},
            ["spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"],
        ),
        (
            "Lease",
            {"spec/preferredHolder": "you"},
            ["spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined"],
        ),
        (
            "APIService",
            {"metadata/name": "v1.other"},
            [
                'metadata.name: Invalid value: "v1.other": must be `spec.version+"."+spec.group`: '
                '"v1.metrics.example.com"'
            ],
        ),
        (
            "APIService",
            {"spec/groupPriorityMinimum": 0},
            ["spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000"],
        ),
        (
            "FlowSchema",
            {"spec/matchingPrecedence": 1},
            [
                "spec.matchingPrecedence: Invalid value: 1: "
                "only the schema named 'exempt' may have matchingPrecedence 1"
            ],
        ),
        (
            "FlowSchema",
            {"spec/rules/0/subjects": []},
            ["spec.rules[0].subjects: Required value: subjects must contain at least one value"],
        ),
        (
            "PriorityLevelConfiguration",
            {"spec/limited/limitResponse": {"type": "Queue"}},
            [
                "spec.limited.limitResponse.queuing: Required value: "
                "must not be empty if limited.limitResponse.type is Limited"
            ],
        ),
        (
            "CertificateSigningRequest",
            {"spec/request": "eA=="},
            ['spec.request: Invalid value: "eA==": PEM block type must be CERTIFICATE REQUEST'],
        ),
        (
            "CertificateSigningRequest",
            {"spec/signerName": "me"},
            [
                'spec.signerName: Invalid value: "me": '
                "must be a fully qualified domain and path of the form 'example.com/signer-name'"
            ],
        ),
        ("CertificateSigningRequest", {"spec/usages": []}, ["spec.usages: Required value"]),
        (
            "ResourceClaim",
            {"spec/devices/requests/0/exactly": GONE},
            [
                "spec.devices.requests[0]: Required value: "
                "exactly one of `exactly` or `firstAvailable` is required"
            ],
        ),
        (
            "ResourceClaim",
            {"spec/devices/requests/0/exactly/count": 0},
            ["spec.devices.requests[0].exactly.count: Invalid value: 0: must be greater than zero"],
        ),
        ("ResourceSlice", {"spec/driver": ""}, ["spec.driver: Required value"]),
        (
            "RuntimeClass",
            {"overhead/podFixed": {"cpu": "-1"}},
            ['overhead.podFixed.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0'],
        ),
        (
            "Event",
            {"involvedObject/namespace": "other"},
            ['involvedObject.namespace: Invalid value: "other": does not match event.namespace'],
        ),
        (
            "Event",
            {"eventTime": "2024-01-01T00:00:00.000000Z", "reportingComponent": "a.b/c", "reason": "x" * 129},
            [
                "reportingInstance: Required value",
                "action: Required value",
                'reason: Invalid value: "": can have at most 128 characters',
            ],
        ),
    ],
)
def test_a_broken_object(kind: str, edits: dict[str, Any], told: list[str]) -> None:
    assert on_create(edited(EXAMPLES[kind], edits)) == told


@pytest.mark.parametrize(
    ("kind", "edits", "told"),
    [
        ("PriorityClass", {"value": 5}, ["value: Forbidden: may not be changed in an update."]),
        (
            "PriorityClass",
            {"preemptionPolicy": "PreemptLowerPriority"},
            ['preemptionPolicy: Invalid value: "PreemptLowerPriority": field is immutable'],
        ),
        ("RuntimeClass", {"handler": "kata"}, ['handler: Invalid value: "kata": field is immutable']),
    ],
)
def test_what_may_not_change(kind: str, edits: dict[str, Any], told: list[str]) -> None:
    assert on_update(edited(EXAMPLES[kind], edits), EXAMPLES[kind]) == told


def test_a_decision_on_a_certificate_stays() -> None:
    decided = {"status": {"conditions": [{"type": "Approved", "status": "True", "reason": "a"}]}}
    old = edited(EXAMPLES["CertificateSigningRequest"], decided)
    assert on_update(edited(old, {"status/conditions": []}), old) == [
        'status.conditions: Forbidden: updates may not remove a condition of type "Approved"'
    ]


def test_what_the_whole_api_warns_of() -> None:
    told = {
        resource.kind: warning
        for resource in Catalogue()
        if (warning := deprecation_warning(resource)) is not None
    }
    assert told == {
        "ComponentStatus": "v1 ComponentStatus is deprecated in v1.19+",
        "Endpoints": "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
    }
