"""One object in the words of two versions."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from simcloud.kubernetes.api.conversion import STORAGE, convert
from simcloud.kubernetes.api.defaults import apply_defaults
from simcloud.kubernetes.api.objects import copy
from simcloud.kubernetes.api.resources import Catalogue, Resource
from tests.simcloud.kubernetes.api.defaults.generated import values
from tests.simcloud.kubernetes.api.defaults.recordings import recordings

CATALOGUE = Catalogue()
PREFIX = "autoscaling.alpha.kubernetes.io/"


def of_kind(api_version: str, kind: str) -> Resource:
    resource = CATALOGUE.of_kind(api_version, kind)
    assert resource is not None
    return resource


V1 = of_kind("autoscaling/v1", "HorizontalPodAutoscaler")
V2 = of_kind("autoscaling/v2", "HorizontalPodAutoscaler")
CORE_EVENT = of_kind("v1", "Event")
EVENT = of_kind("events.k8s.io/v1", "Event")


def autoscaler(resource: Resource, **fields: Any) -> dict[str, Any]:
    obj = {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": {"name": "x", **fields.pop("metadata", {})},
        **copy(fields),
    }
    apply_defaults(resource, obj)
    return obj


def cpu(percent: int) -> dict[str, Any]:
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


MEMORY = {
    "type": "Resource",
    "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}},
}
TARGET = {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"}


def test_every_stored_form_is_served() -> None:
    assert all(CATALOGUE.at(*stored) is not None for stored in STORAGE.values())


def test_an_object_that_is_in_the_right_form_is_itself() -> None:
    obj = autoscaler(V2)
    assert convert(obj, V2) is obj


def test_kubectl_autoscale_writes_version_1_and_version_2_is_stored() -> None:
    written = autoscaler(
        V1,
        spec={
            "scaleTargetRef": TARGET,
            "minReplicas": 1,
            "maxReplicas": 3,
            "targetCPUUtilizationPercentage": 50,
        },
    )
    stored = convert(written, V2)
    assert stored == {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "x"},
        "spec": {"scaleTargetRef": TARGET, "minReplicas": 1, "maxReplicas": 3, "metrics": [cpu(50)]},
        "status": {"currentMetrics": None, "desiredReplicas": 0},
    }
    assert convert(stored, V1) == written


def test_version_1_that_names_no_metric_follows_cpu() -> None:
    assert convert(autoscaler(V1, spec={"maxReplicas": 3}), V2)["spec"]["metrics"] == [cpu(80)]


def test_what_version_1_cannot_say_stands_in_annotations() -> None:
    condition = {
        "message": "a<b",
        "reason": "R",
        "type": "AbleToScale",
        "status": "True",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    current = {
        "type": "Resource",
        "resource": {"name": "cpu", "current": {"averageUtilization": 42, "averageValue": "5m"}},
    }
    obj = autoscaler(
        V2,
        metadata={"annotations": {"mine": "1", PREFIX + "metrics": "stale"}},
        spec={
            "scaleTargetRef": TARGET,
            "maxReplicas": 3,
            "metrics": [cpu(60), MEMORY],
            "behavior": {"scaleDown": {"selectPolicy": "Disabled"}},
        },
        status={
            "currentReplicas": 2,
            "desiredReplicas": 3,
            "currentMetrics": [current],
            "conditions": [condition],
        },
    )
    old = convert(obj, V1)
    assert old["spec"] == {
        "scaleTargetRef": TARGET,
        "minReplicas": 1,
        "maxReplicas": 3,
        "targetCPUUtilizationPercentage": 60,
    }
    assert old["status"] == {
        "currentReplicas": 2,
        "desiredReplicas": 3,
        "currentCPUUtilizationPercentage": 42,
    }
    assert old["metadata"]["annotations"] == {
        "mine": "1",
        PREFIX + "metrics": '[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1Gi"}}]',
        PREFIX + "current-metrics": (
            '[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":42,"currentAverageValue":"5m"}}]'
        ),
        PREFIX + "conditions": (
            '[{"type":"AbleToScale","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z",'
            '"reason":"R","message":"a\\u003cb"}]'
        ),
        PREFIX + "behavior": (
            '{"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":"Max","Policies":'
            '[{"Type":"Pods","Value":4,"PeriodSeconds":15},{"Type":"Percent","Value":100,"PeriodSeconds":15}],'
            '"Tolerance":null},"ScaleDown":{"StabilizationWindowSeconds":null,"SelectPolicy":"Disabled",'
            '"Policies":[{"Type":"Percent","Value":100,"PeriodSeconds":15}],"Tolerance":null}}'
        ),
    }
    again = convert(old, V2)
    del obj["metadata"]["annotations"][PREFIX + "metrics"]
    assert again == obj


METRICS = [
    {
        "type": "Pods",
        "pods": {"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "5"}},
    },
    {
        "type": "Object",
        "object": {
            "describedObject": TARGET,
            "metric": {"name": "m", "selector": {"matchLabels": {"a": "b"}}},
            "target": {"type": "Value", "value": "10"},
        },
    },
    {
        "type": "Object",
        "object": {
            "describedObject": TARGET,
            "metric": {"name": "m"},
            "target": {"type": "AverageValue", "averageValue": "10"},
        },
    },
    {
        "type": "External",
        "external": {
            "metric": {"name": "q", "selector": {"matchLabels": {"a": "b"}}},
            "target": {"type": "AverageValue", "averageValue": "30"},
        },
    },
    {
        "type": "ContainerResource",
        "containerResource": {
            "name": "cpu",
            "container": "c",
            "target": {"type": "Utilization", "averageUtilization": 70},
        },
    },
]


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric["type"])
def test_every_metric_survives_version_1(metric: dict[str, Any]) -> None:
    obj = autoscaler(V2, spec={"maxReplicas": 2, "metrics": [metric]})
    assert convert(convert(obj, V1), V2)["spec"] == obj["spec"]


_UNREADABLE = [
    *[(name, text) for name in ("metrics", "behavior", "conditions", "current-metrics")
      for text in ("{", "null", "5", "[5]", '[{"type":7}]', "[" * 5000)],
    ("metrics", '[{"type":"Resource","resource":{"name":"cpu","targetAverageUtilization":99999999999}}]'),
    ("metrics", '[{"type":"Resource","resource":{"name":"cpu","targetAverageValue":"many"}}]'),
    ("current-metrics", '[{"type":"Resource","resource":{"name":"cpu","currentAverageValue":"many"}}]'),
    ("conditions", '[{"type":"AbleToScale","status":true}]'),
    ("behavior", '{"ScaleUp":5}'),
    ("behavior", '{"scaleUp":{"policies":[{"value":"x"}]}}'),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text"), _UNREADABLE)
def test_an_annotation_that_cannot_be_read_says_nothing(name: str, text: str) -> None:
    spec = {"scaleTargetRef": TARGET, "maxReplicas": 3}
    stored = convert(autoscaler(V1, metadata={"annotations": {PREFIX + name: text}}, spec=spec), V2)
    assert stored["spec"] == {
        "scaleTargetRef": TARGET,
        "minReplicas": 1,
        "maxReplicas": 3,
        "metrics": [cpu(80)],
    }
    assert stored["status"] == {"currentMetrics": None, "desiredReplicas": 0}
    assert "annotations" not in stored["metadata"]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "cpu", "Resource", "1"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "resource", "name", "ScaleUp", "policies", "target"]), inner
        )
    ),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from(["metrics", "behavior", "conditions", "current-metrics"]), _JSON))
def test_any_annotation_converts_to_right_types(said: dict[str, Any]) -> None:
    annotations = {PREFIX + name: json.dumps(value) for name, value in said.items()}
    stored = convert(autoscaler(V1, metadata={"annotations": annotations}), V2)
    apply_defaults(V2, stored)
    assert convert(convert(stored, V1), V2)["metadata"] == stored["metadata"]


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(values(V2.schema.fields["spec"]))
def test_any_autoscaler_converts(spec: dict[str, Any]) -> None:
    obj = autoscaler(V2, spec=spec)
    before = copy(obj)
    old = convert(obj, V1)
    assert obj == before
    assert set(old["spec"]) <= set(V1.schema.fields["spec"].fields)
    assert convert(old, V2)["apiVersion"] == "autoscaling/v2"


@pytest.mark.parametrize("event", [one.recorded for one in recordings() if one.recorded["kind"] == "Event"])
def test_a_recorded_event_in_the_other_group_and_back(event: dict[str, Any]) -> None:
    other = convert(event, EVENT)
    assert other["apiVersion"] == "events.k8s.io/v1"
    assert other["regarding"] == event["involvedObject"]
    assert other["note"] == event["message"]
    assert other["deprecatedSource"] == event["source"]
    assert other.get("deprecatedCount") == event.get("count")
    assert other.get("reportingController", "") == event["reportingComponent"]
    assert set(other) <= set(EVENT.schema.fields)
    printed = copy(other)
    apply_defaults(EVENT, printed)
    assert printed == other
    assert convert(other, CORE_EVENT) == event


def test_versions_of_a_custom_resource_differ_in_name_only() -> None:
    newer = Resource("example.com", "v2", "foos", "foo", "Foo", True, ("create",), custom={})
    obj = {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "x"}, "spec": {"a": [1]}}
    converted = convert(obj, newer)
    assert converted == {**obj, "apiVersion": "example.com/v2"}
    assert converted["spec"] is not obj["spec"]
