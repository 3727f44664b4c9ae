"""ResourceQuotas and LimitRanges: the sentences of each rule."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simcloud.kubernetes.api.validation.examples import EXAMPLES, edited, on_create, on_update

LIMIT = "spec/limits/0"


@pytest.mark.parametrize(
    ("kind", "edits", "told"),
    [
        (
            "ResourceQuota",
            {"spec/hard": {"gpus": "1"}},
            [
                'spec.hard[gpus]: Invalid value: "gpus": must be a standard resource type or fully qualified',
                'spec.hard[gpus]: Invalid value: "gpus": must be a standard resource for quota',
            ],
        ),
        (
            "ResourceQuota",
            {"spec/hard": {"pods": "-1"}},
            ['spec.hard[pods]: Invalid value: "-1": must be greater than or equal to 0'],
        ),
        (
            "ResourceQuota",
            {"spec/scopes": ["Sometimes"], "spec/hard": {}},
            ['spec.scopes: Invalid value: ["Sometimes"]: unsupported scope'],
        ),
        (
            "ResourceQuota",
            {"spec/hard": {"services": "1"}},
            ['spec.scopes: Invalid value: ["NotTerminating"]: unsupported scope applied to resource'],
        ),
        (
            "ResourceQuota",
            {"spec/scopes": ["Terminating", "NotTerminating"]},
            ['spec.scopes: Invalid value: ["Terminating","NotTerminating"]: conflicting scopes'],
        ),
        (
            "ResourceQuota",
            {"spec/scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In"}]}},
            [
                "spec.scopeSelector.matchExpressions.values: Required value: "
                "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            ],
        ),
        (
            "LimitRange",
            {f"{LIMIT}/min/cpu": "3"},
            [
                'spec.limits[0].min[cpu]: Invalid value: "3": min value 3 is greater than max value 2',
                'spec.limits[0].defaultRequest[cpu]: Invalid value: "500m": '
                "min value 3 is greater than default request value 500m",
                'spec.limits[0].default[cpu]: Invalid value: "3": min value 3 is greater than default value 1',
                'spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "4": '
                "ratio 4 is greater than max/min = 0.666667",
            ],
        ),
        (
            "LimitRange",
            {f"{LIMIT}/type": "Deployment"},
            [
                'spec.limits[0].type: Invalid value: "Deployment": '
                "must be a standard limit type or fully qualified"
            ],
        ),
        (
            "LimitRange",
            {f"{LIMIT}/type": "Pod"},
            [
                "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'",
                "spec.limits[0].defaultRequest: Forbidden: may not be specified when `type` is 'Pod'",
            ],
        ),
        (
            "LimitRange",
            {f"{LIMIT}/maxLimitRequestRatio/cpu": "500m"},
            ['spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1'],
        ),
        (
            "LimitRange",
            {"spec/limits": [{"type": "PersistentVolumeClaim"}]},
            [
                "spec.limits[0].limits: Required value: "
                "either minimum or maximum storage value is required, but neither was provided"
            ],
        ),
    ],
)
def test_a_broken_object(kind: str, edits: dict[str, Any], told: list[str]) -> None:
    assert on_create(edited(EXAMPLES[kind], edits)) == told


def test_the_scopes_of_a_quota_stay() -> None:
    old = EXAMPLES["ResourceQuota"]
    assert on_update(edited(old, {"spec/scopes": ["Terminating"]}), old) == [
        'spec.scopes: Invalid value: ["Terminating"]: field is immutable'
    ]
