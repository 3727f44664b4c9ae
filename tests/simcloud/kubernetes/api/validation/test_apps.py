"""Workloads: recorded refusals, and the rules of each kind."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from simcloud.kubernetes.api.objects import Object
from tests.simcloud.kubernetes.api.validation.samples import (
    GONE,
    SOUND,
    changed,
    on_create,
    on_update,
    sound,
    warnings,
)
from tests.simcloud.kubernetes.api.validation.test_names import LABEL

CLAIM = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


@pytest.mark.parametrize("kind", SOUND)
def test_the_samples_are_sound(kind: str) -> None:
    obj = sound(kind)
    assert on_create(obj) == on_update(obj, obj) == warnings(obj) == []


def test_a_broken_deployment_as_recorded() -> None:
    broken = changed(sound("Deployment"), "spec/template/metadata/labels", {"app": "b"})
    broken = changed(broken, "spec/template/spec/containers/0/name", "Bad_Name")
    assert on_create(broken) == [
        'spec.template.metadata.labels: Invalid value: {"app":"b"}: `selector` does not match template `labels`',
        f'spec.template.spec.containers[0].name: Invalid value: "Bad_Name": {LABEL}',
    ]


def test_a_changed_selector_as_recorded() -> None:
    old = sound("Deployment")
    assert on_update(changed(old, "spec/selector/matchLabels", {"app": "zzz"}), old) == [
        'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
        'spec.selector: Invalid value: {"matchLabels":{"app":"zzz"}}: field is immutable',
    ]


@pytest.mark.parametrize(
    ("kind", "path", "value", "told"),
    [
        ("Deployment", "replicas", -1, ["replicas: Invalid value: -1: must be greater than or equal to 0"]),
        ("Deployment", "selector", {}, ["selector: Invalid value: {}: empty selector is invalid for deployment"]),
        ("Deployment", "template/spec/restartPolicy", "Never", [
            'template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'
        ]),
        ("Deployment", "strategy", {"type": "Recreate", "rollingUpdate": {}}, [
            "strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"
        ]),
        ("Deployment", "strategy", {"type": "Blue"}, [
            'strategy: Unsupported value: {"Type":"Blue","RollingUpdate":null}: supported values: "Recreate", '
            '"RollingUpdate"'
        ]),
        ("Deployment", "strategy/rollingUpdate", {"maxSurge": 0, "maxUnavailable": "0%"}, [
            'strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0'
        ]),
        ("Deployment", "strategy/rollingUpdate", {"maxSurge": 1, "maxUnavailable": "101%"}, [
            'strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%'
        ]),
        ("Deployment", "strategy/rollingUpdate", {"maxSurge": "x", "maxUnavailable": 1}, [
            'strategy.rollingUpdate.maxSurge: Invalid value: "x": a valid percent string must be a numeric string '
            "followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
        ]),
        ("Deployment", "minReadySeconds", 600, [
            "progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds"
        ]),
        ("DaemonSet", "updateStrategy/rollingUpdate", {"maxSurge": 1, "maxUnavailable": 1}, [
            "updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero"
        ]),
        ("DaemonSet", "template/spec/activeDeadlineSeconds", 1, [
            "template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in DaemonSet is not Supported"
        ]),
        ("StatefulSet", "podManagementPolicy", "x", [
            "podManagementPolicy: Invalid value: \"x\": must be 'OrderedReady' or 'Parallel'"
        ]),
        ("StatefulSet", "updateStrategy/rollingUpdate/partition", -1, [
            "updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0"
        ]),
        ("StatefulSet", "persistentVolumeClaimRetentionPolicy/whenScaled", "x", [
            'persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "x": supported values: "Retain", '
            '"Delete"'
        ]),
        ("StatefulSet", "serviceName", "A", [f'serviceName: Invalid value: "A": {LABEL}']),
        ("ReplicationController", "selector", {}, ["selector: Required value"]),
        ("ReplicaSet", "template/spec/ephemeralContainers", [], []),
    ],
)  # fmt: skip
def test_specs(kind: str, path: str, value: Any, told: list[str]) -> None:
    assert on_create(changed(sound(kind), f"spec/{path}", value)) == [f"spec.{one}" for one in told]


def test_a_stateful_set_changes_little() -> None:
    old = sound("StatefulSet")
    assert on_update(changed(old, "spec/replicas", 3), old) == []
    assert on_update(changed(old, "spec/serviceName", "other"), old) == [
        "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
        "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are "
        "forbidden"
    ]


def test_the_pods_of_a_stateful_set_mount_its_claims() -> None:
    mount = [{"name": "data", "mountPath": "/data"}]
    mounted = changed(sound("StatefulSet"), "spec/template/spec/containers/0/volumeMounts", mount)
    assert on_create(mounted) == ['spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"']
    assert on_create(changed(mounted, "spec/volumeClaimTemplates", [CLAIM])) == []


def test_templates_are_warned_of() -> None:
    env = [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]
    new = changed(sound("Deployment"), "spec/template/spec/containers/0/env", env)
    told = [
        'spec.template.spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using '
        "apply"
    ]
    assert warnings(new) == warnings(new, sound("Deployment")) == told
    assert warnings(new, new) == []


def _places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], Any]]:
    found = [(at, value)]
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, item in entries:
        found += _places(item, (*at, key))
    return found


def _like(value: Any) -> st.SearchStrategy[Any]:
    """Values of the same JSON type, or none at all."""
    if isinstance(value, bool):
        return st.sampled_from([True, False, GONE])
    if isinstance(value, int):
        return st.one_of(st.integers(-(2**31), 2**31 - 1), st.just(GONE))
    if isinstance(value, str):
        return st.one_of(
            st.text(max_size=12), st.sampled_from(["", "0", "1Gi", "None", "Always", "../x"]), st.just(GONE)
        )
    if isinstance(value, list):
        return st.one_of(st.just([]), st.just([*value, *value]), st.just(GONE))
    return st.sampled_from([{}, GONE])


@st.composite
def _edited(draw: st.DrawFn) -> tuple[Object, Object]:
    kind = draw(st.sampled_from(sorted(SOUND)))
    new = sound(kind)
    rich = {
        "volumes": [{"name": "v", "projected": {"sources": [{"secret": {"name": "s", "items": [{"key": "k", "path": "p"}]}}]}}],
        "initContainers": [{"name": "i", "image": "x", "restartPolicy": "Always", "env": [{"name": "A"}]}],
        "tolerations": [{"key": "a", "operator": "Exists", "tolerationSeconds": 3}],
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}]}}},
        "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}],
        "dnsConfig": {"nameservers": ["1.1.1.1"], "searches": ["a."]},
    }  # fmt: skip
    place = new["spec"] if kind == "Pod" else new["spec"].get("template", {}).get("spec", {})
    place.update(rich)
    old = changed(new, "metadata/annotations", {"a": "b"})
    for _ in range(draw(st.integers(1, 4))):
        places = [one for one in _places(new["spec"]) if one[0]]
        if not places:
            break  # all that there was has gone
        path, value = draw(st.sampled_from(places))
        replaced = draw(_like(value))
        holder: Any = new["spec"]
        for step in path[:-1]:
            holder = holder[step]
        if replaced is GONE:
            del holder[path[-1]]
        else:
            holder[path[-1]] = replaced
    return new, old


@pytest.mark.slow
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_edited())
def test_any_edit_of_a_sound_object_is_answered(edit: tuple[Object, Object]) -> None:
    new, old = edit
    for told in (on_create(new), on_update(new, old)):
        assert all(isinstance(one, str) for one in told)
        assert len(set(told)) == len(told)
    for told in (warnings(new), warnings(new, old)):
        assert all(isinstance(one, str) for one in told)
