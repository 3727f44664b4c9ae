"""Kinds with a handful of rules each: the sentences, one by one."""

from __future__ import annotations

from typing import Any

import pytest

from simcloud.kubernetes.api.resources import Catalogue
from simcloud.kubernetes.client import deprecation_warning
from tests.simcloud.kubernetes.api.validation.examples import EXAMPLES, edited, on_create, on_update


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
    ],
)
def test_what_may_not_change(kind: str, edits: dict[str, Any], told: list[str]) -> None:
    assert on_update(edited(EXAMPLES[kind], edits), EXAMPLES[kind]) == told


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
