"""Budgets for disruption: the sentences of each rule."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simcloud.kubernetes.api.validation.examples import EXAMPLES, edited, on_create

BUDGET = EXAMPLES["PodDisruptionBudget"]


@pytest.mark.parametrize(
    ("edits", "told"),
    [
        (
            {"spec/maxUnavailable": "50%"},
            [
                'spec: Invalid value: {"MinAvailable":1,"Selector":{"matchLabels":{"app":"web"}},'
                '"MaxUnavailable":"50%","UnhealthyPodEvictionPolicy":null}: '
                "minAvailable and maxUnavailable cannot be both set"
            ],
        ),
        (
            {"spec/minAvailable": -1},
            ["spec.minAvailable: Invalid value: -1: must be greater than or equal to 0"],
        ),
        (
            {"spec/minAvailable": "150%"},
            ['spec.minAvailable: Invalid value: "150%": must not be greater than 100%'],
        ),
        (
            {"spec/minAvailable": "half"},
            [
                'spec.minAvailable: Invalid value: "half": a valid percent string must be a numeric string followed '
                "by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
            ],
        ),
        (
            {"spec/unhealthyPodEvictionPolicy": "Sometimes"},
            [
                'spec.unhealthyPodEvictionPolicy: Unsupported value: "Sometimes": supported values: '
                '"AlwaysAllow", "IfHealthyBudget"'
            ],
        ),
    ],
)
def test_a_broken_budget(edits: dict[str, Any], told: list[str]) -> None:
    assert on_create(edited(BUDGET, edits)) == told
