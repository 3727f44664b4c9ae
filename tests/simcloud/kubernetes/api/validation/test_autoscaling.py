"""Autoscalers and budgets for disruption: the sentences of each rule."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simcloud.kubernetes.api.validation.examples import EXAMPLES, GONE, edited, on_create, on_update

AUTOSCALER = EXAMPLES["HorizontalPodAutoscaler"]
METRIC, TOLD = "spec/metrics/0", "spec.metrics[0]"


@pytest.mark.parametrize(
    ("edits", "told"),
    [
        ({"spec/minReplicas": 0}, [
            "spec.minReplicas: Invalid value: 0: must be greater than or equal to 1",
            "spec.metrics: Forbidden: must specify at least one Object or External metric "
            "to support scaling to zero replicas",
        ]),
        ({"spec/minReplicas": 9}, ["spec.maxReplicas: Invalid value: 5: must be greater than or equal to `minReplicas`"]),
        ({"spec/scaleTargetRef": {"apiVersion": "v1"}}, [
            "spec.scaleTargetRef.kind: Required value",
            "spec.scaleTargetRef.name: Required value",
            'spec.scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group',
        ]),
        ({f"{METRIC}/type": "Speed"}, [
            f'{TOLD}.type: Unsupported value: "Speed": supported values: "ContainerResource", "External", "Object", '
            '"Pods", "Resource"'
        ]),
        ({f"{METRIC}/type": "Pods"}, [
            f"{TOLD}.pods: Required value: must populate information for the given metric source"
        ]),
        ({f"{METRIC}/resource/target/averageUtilization": 0}, [
            f"{TOLD}.resource.target.averageUtilization: Invalid value: 0: must be greater than 0"
        ]),
        ({f"{METRIC}/resource/target": {"type": "Utilization"}}, [
            f"{TOLD}.resource.target.averageUtilization: Required value: "
            "must set either a target raw value or a target utilization"
        ]),
        ({f"{METRIC}/resource/target/averageValue": "1"}, [
            f"{TOLD}.resource.target.averageValue: Forbidden: may not set both a target raw value and a target utilization"
        ]),
        ({"spec/behavior/scaleUp/policies": []}, [
            "spec.behavior.scaleUp.policies: Required value: must specify at least one Policy"
        ]),
        ({"spec/behavior/scaleUp/stabilizationWindowSeconds": 3601}, [
            "spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600"
        ]),
        ({"spec/behavior/scaleUp/policies/0/periodSeconds": 1801}, [
            "spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800"
        ]),
    ],
)  # fmt: skip
def test_a_broken_autoscaler(edits: dict[str, Any], told: list[str]) -> None:
    assert on_create(edited(AUTOSCALER, edits)) == told


def test_an_autoscaler_needs_a_most() -> None:
    assert on_create(edited(AUTOSCALER, {"spec/maxReplicas": GONE})) == [
        "spec.maxReplicas: Required value: must be set and greater than 0",
        "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`",
    ]


def test_an_old_target_is_kept_as_it_is() -> None:
    old = edited(AUTOSCALER, {"spec/scaleTargetRef/apiVersion": "v1"})
    assert on_update(old, old) == []
