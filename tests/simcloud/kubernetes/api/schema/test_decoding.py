"""Decoding into kinds: genuine objects come back as they are, and what does not fit is refused in the server's words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from simcloud.kubernetes.api.errors import ApiError, BadRequest, Invalid
from simcloud.kubernetes.api.objects import copy
from simcloud.kubernetes.api.resources import Catalogue, Resource
from simcloud.kubernetes.api.schema import schema_of
from simcloud.kubernetes.api.schema.bodies import MAX_DEPTH
from simcloud.kubernetes.api.schema.builtin import definitions
from simcloud.kubernetes.api.schema.crd_validation import validate_custom
from simcloud.kubernetes.api.schema.decoding import (
    CannotDecode,
    Decoded,
    check_kind,
    decode,
    decode_typed,
    read_body,
    strict,
)
from simcloud.kubernetes.api.schema.encoding import complete
from simcloud.kubernetes.api.schema.go_fields import table
from simcloud.kubernetes.api.schema.plans import Notes
from simcloud.kubernetes.api.schema.structural import apply_crd_defaults, prune, schema_from

CATALOGUE = Catalogue()
PODS, SERVICES, SECRETS = (CATALOGUE.find(plural) for plural in ("pods", "services", "secrets"))
DEPLOYMENTS = CATALOGUE.find("deployments", "apps")
GENUINE = json.loads((Path(__file__).parent / "genuine.json").read_text())


def resource_of(obj: Any) -> Resource:
    resource = CATALOGUE.of_kind(obj["apiVersion"], obj["kind"])
    assert resource is not None
    return resource


def decode_body(body: bytes, resource: Resource, media_type: str = "application/json") -> Decoded:
    data, duplicates = read_body(body, resource.kind, media_type)
    check_kind(data, resource, body)
    decoded = decode(data, resource)
    decoded.problems[:0] = duplicates
    return decoded


def refusal(data: Any, resource: Resource) -> str:
    body = data if isinstance(data, bytes) else json.dumps(data).encode()
    with pytest.raises(BadRequest) as caught:
        decode_body(body, resource)
    return caught.value.message


@pytest.mark.parametrize("obj", GENUINE, ids=lambda obj: obj["kind"])
def test_genuine_objects_survive_decoding_and_are_written_back_whole(obj: Any) -> None:
    decoded = decode(copy(obj), resource_of(obj))
    assert decoded.problems == []
    assert complete(decoded.obj, resource_of(obj)) == obj


@pytest.mark.parametrize("obj", GENUINE, ids=lambda obj: obj["kind"])
def test_writing_adds_what_go_writes_and_nothing_else(obj: Any) -> None:
    resource = resource_of(obj)
    lean = decode(copy(obj), resource).obj
    assert decode(complete(lean, resource), resource).obj == decode(lean, resource).obj


def test_fields_are_written_in_go_s_order() -> None:
    obj = {
        "metadata": {"labels": {"b": "1", "a": "2"}, "name": "x"},
        "kind": "Pod",
        "apiVersion": "v1",
        "spec": {},
    }
    written = json.dumps(complete(obj, PODS))
    assert written == (
        '{"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "x", "labels": {"a": "2", "b": "1"}},'
        ' "spec": {"containers": null}, "status": {}}'
    )


@pytest.mark.parametrize(
    ("resource", "data", "sentence"),
    [
        (
            DEPLOYMENTS,
            {"spec": {"replicas": "three"}},
            "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            DEPLOYMENTS,
            {"spec": {"template": {"spec": {"containers": {}}}}},
            "json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers of type"
            " []v1.Container",
        ),
        (
            DEPLOYMENTS,
            {"spec": {"template": {"spec": {"containers": ["x"]}}}},
            "json: cannot unmarshal string into Go struct field PodSpec.spec.template.spec.containers of type"
            " v1.Container",
        ),
        (
            PODS,
            {"spec": {"containers": [{"imagePullPolicy": 1}]}},
            "json: cannot unmarshal number into Go struct field Container.spec.containers.imagePullPolicy of type"
            " v1.PullPolicy",
        ),
        (
            PODS,
            {"metadata": {"labels": {"a": 1}}},
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        (
            PODS,
            {"metadata": {"labels": []}},
            "json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type map[string]string",
        ),
        (PODS, {"spec": 1}, "json: cannot unmarshal number into Go struct field Pod.spec of type v1.PodSpec"),
        (
            PODS,
            {"spec": {"hostNetwork": "yes"}},
            "json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type bool",
        ),
        (
            SERVICES,
            {"spec": {"ports": [{"port": 99999999999}]}},
            "json: cannot unmarshal number 99999999999 into Go struct field ServicePort.spec.ports.port of type int32",
        ),
        (
            SERVICES,
            {"spec": {"ports": [{"port": 1.5}]}},
            "json: cannot unmarshal number 1.5 into Go struct field ServicePort.spec.ports.port of type int32",
        ),
        (
            SERVICES,
            {"spec": {"ports": [{"targetPort": True}]}},
            "json: cannot unmarshal bool into Go struct field ServicePort.spec.ports.targetPort of type int32",
        ),
        (
            PODS,
            {"metadata": {"creationTimestamp": "soon"}},
            'parsing time "soon" as "2006-01-02T15:04:05Z07:00": cannot parse "soon" as "2006"',
        ),
        (
            PODS,
            {"metadata": {"creationTimestamp": "2020-13-01T00:00:00Z"}},
            'parsing time "2020-13-01T00:00:00Z": month out of range',
        ),
        (
            PODS,
            {"spec": {"containers": [{"resources": {"requests": {"memory": "64MB!"}}}]}},
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
        (
            PODS,
            {"spec": {"containers": [{"resources": {"requests": {"memory": "64mm"}}}]}},
            "unable to parse quantity's suffix",
        ),
        (SECRETS, {"data": {"a": "YQ==", "b": "Y!=="}}, "illegal base64 data at input byte 1"),
        (SECRETS, {"data": {"a": "YQ"}}, "illegal base64 data at input byte 0"),
        (
            SECRETS,
            {"data": {"a": 1}},
            "json: cannot unmarshal number into Go struct field Secret.data of type []uint8",
        ),
    ],
)
def test_wrong_types_are_refused_in_go_s_words(resource: Resource, data: Any, sentence: str) -> None:
    kind = resource.kind
    assert refusal(data, resource) == f'{kind} in version "v1" cannot be handled as a {kind}: {sentence}'


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ({"replicas": "three"}, "unrecognized type: int32"),
        ({"paused": "x"}, "unrecognized type: bool"),
        ({"replicas": 1.5}, "cannot convert float64 to int32"),
        ({"strategy": {"type": 1}}, "cannot convert int64 to v1.DeploymentStrategyType"),
        ({"template": []}, "cannot restore struct from: slice"),
        ({"template": {"spec": {"containers": {}}}}, "cannot restore slice from map"),
        ({"template": {"metadata": {"labels": "x"}}}, "cannot restore map from string"),
    ],
)
def test_a_strategic_merge_patch_learns_what_its_converter_says(spec: Any, sentence: str) -> None:
    with pytest.raises(CannotDecode) as caught:
        decode({"spec": spec}, DEPLOYMENTS)
    assert caught.value.conversion == sentence


def test_a_reader_s_own_refusal_goes_before_an_earlier_wrong_type() -> None:
    data = {"metadata": {"name": 1}, "spec": {"containers": [{"resources": {"limits": {"cpu": "x"}}}]}}
    assert "quantities must match" in refusal(data, PODS)


def test_unknown_fields_are_dropped_and_named() -> None:
    spec = {"replicaz": 1, "template": {"spec": {"containers": [{"name": "a"}, {"nam": "b"}]}}}
    decoded = decode({"spec": spec, "extra": {}, "metadata": {"foo": 1}}, DEPLOYMENTS)
    assert decoded.problems == [
        'unknown field "spec.replicaz"',
        'unknown field "spec.template.spec.containers[1].nam"',
        'unknown field "extra"',
        'unknown field "metadata.foo"',
    ]
    assert decoded.obj["spec"] == {"template": {"spec": {"containers": [{"name": "a"}, {}]}}}
    assert strict(decoded.problems[:2], "Deployment", "v1").message == (
        'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: unknown field'
        ' "spec.replicaz", unknown field "spec.template.spec.containers[1].nam"'
    )


def test_of_a_kind_without_a_definition_everything_stays() -> None:
    unknown = Resource("metrics.k8s.io", "v1beta1", "nodes", "", "NodeMetrics", False, ("get",))
    obj = decode({"usage": {"cpu": "1"}, "window": "10s"}, unknown).obj
    assert complete(obj, unknown) == {
        "kind": "NodeMetrics",
        "apiVersion": "metrics.k8s.io/v1beta1",
        "usage": {"cpu": "1"},
        "window": "10s",
    }


def test_fields_are_known_by_their_exact_name() -> None:
    assert decode({"Spec": {}}, PODS).problems == ['unknown field "Spec"']


def test_duplicates_are_problems_too() -> None:
    body = b'{"spec":{"replicas":1,"replicas":2,"foo":1}}'
    assert decode_body(body, DEPLOYMENTS).problems == [
        'duplicate field "spec.replicas"',
        'unknown field "spec.foo"',
    ]


def test_what_is_empty_goes_unless_go_points_at_it() -> None:
    pod = decode(
        {
            "metadata": {"name": "x", "labels": {}, "generateName": "", "creationTimestamp": None},
            "spec": {
                "hostNetwork": False,
                "terminationGracePeriodSeconds": 0,
                "enableServiceLinks": False,
                "securityContext": {},
                "containers": [
                    {
                        "name": "",
                        "image": "",
                        "env": [{"name": "A", "value": ""}],
                        "args": [],
                        "resources": {},
                        "securityContext": {"runAsUser": 0, "privileged": False},
                        "readinessProbe": {"initialDelaySeconds": 0, "exec": {"command": [None]}},
                    }
                ],
                "volumes": [{"name": "v", "emptyDir": {}}],
            },
        },
        PODS,
    ).obj
    assert pod == {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": "x"},
        "spec": {
            "terminationGracePeriodSeconds": 0,
            "enableServiceLinks": False,
            "securityContext": {},
            "containers": [
                {
                    "name": "",
                    "env": [{"name": "A"}],
                    "resources": {},
                    "securityContext": {"runAsUser": 0, "privileged": False},
                    "readinessProbe": {"exec": {"command": [""]}},
                }
            ],
            "volumes": [{"name": "v", "emptyDir": {}}],
        },
    }


def test_scalars_are_stored_in_their_canonical_form() -> None:
    container = {"resources": {"requests": {"cpu": "0.5", "memory": "1024Mi", "a": 2, "b": None}}}
    pod = decode(
        {
            "metadata": {"creationTimestamp": "2026-01-02T03:04:05.678+02:00"},
            "spec": {"containers": [container]},
        },
        PODS,
    ).obj
    assert pod["metadata"]["creationTimestamp"] == "2026-01-02T01:04:05Z"
    requests = pod["spec"]["containers"][0]["resources"]["requests"]
    assert requests == {"cpu": "500m", "memory": "1Gi", "a": "2", "b": "0"}
    assert decode({"data": {"a": "YQ\n==", "b": "", "c": None}}, SECRETS).obj["data"] == {
        "a": "YQ==",
        "b": "",
        "c": "",
    }
    lease = decode(
        {"spec": {"renewTime": "2026-01-02T03:04:05.123456Z"}},
        CATALOGUE.find("leases", "coordination.k8s.io"),
    )
    assert lease.obj["spec"]["renewTime"] == "2026-01-02T03:04:05.123456Z"


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (
            b'{"apiVersion":"apps/v2","kind":"Deployment"}',
            'Deployment in version "v2" cannot be handled as a Deployment: no kind "Deployment" is registered for'
            ' version "apps/v2" in scheme "pkg/api/legacyscheme/scheme.go:30"',
        ),
        (
            b'{"apiVersion":"v1","kind":"Pod"}',
            'Pod in version "v1" cannot be handled as a Deployment: converting (v1.Pod) to (apps.Deployment): unknown'
            " conversion",
        ),
        (
            b'{"kind":1}',
            "the object provided is unrecognized (must be of type Deployment): couldn't get version/kind; json parse"
            ' error: json: cannot unmarshal number into Go struct field .kind of type string ({"kind":1})',
        ),
        (
            b"[1]",
            "the object provided is unrecognized (must be of type Deployment): couldn't get version/kind; json parse"
            " error: json: cannot unmarshal array into Go value of type struct { APIVersion string"
            r' "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" } (5b315d)',
        ),
        (
            b"",
            "the object provided is unrecognized (must be of type Deployment): couldn't get version/kind; json parse"
            " error: unexpected end of JSON input (<empty>)",
        ),
        (
            b'{"apiVersion":"apps/v1","kind":"Deployment",',
            "the object provided is unrecognized (must be of type Deployment): couldn't get version/kind; json parse"
            ' error: unexpected end of JSON input ({"apiVersion":"apps/v1","kind" ...)',
        ),
        (
            b'{"apiVersion":"a/b/c"}',
            "the object provided is unrecognized (must be of type Deployment): unexpected GroupVersion string: a/b/c"
            ' ({"apiVersion":"a/b/c"})',
        ),
    ],
)
def test_bodies_of_another_kind_are_refused(body: bytes, sentence: str) -> None:
    assert refusal(body, DEPLOYMENTS) == sentence


def test_another_version_of_the_kind_is_refused() -> None:
    scalers = CATALOGUE.at("autoscaling", "v2", "horizontalpodautoscalers")
    assert scalers is not None
    data = {"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler"}
    assert refusal(data, scalers) == (
        "the API version in the data (autoscaling/v1) does not match the expected API version (autoscaling/v2)"
    )


def test_kind_and_version_may_be_left_to_the_url() -> None:
    check_kind({"metadata": {}}, PODS)
    assert decode_body(b"{}", PODS).obj == {"kind": "Pod", "apiVersion": "v1", "metadata": {}}


def test_null_is_an_empty_object_to_go() -> None:
    assert decode_body(b"null", PODS).obj == {"kind": "Pod", "apiVersion": "v1", "metadata": {}}


def test_yaml_bodies() -> None:
    body = b"apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {containers: [{name: a, foo: 1}]}\n"
    decoded = decode_body(body, PODS, "application/yaml")
    assert decoded.obj["metadata"] == {"name": "x"}
    assert decoded.problems == ['unknown field "spec.containers[0].foo"']


def test_types_that_are_no_resource() -> None:
    scale = schema_of("autoscaling", "v1", "Scale")
    assert scale is not None
    assert decode_typed({"spec": {"replicas": 3}}, scale, "Scale", "v1").obj == {
        "metadata": {},
        "spec": {"replicas": 3},
    }


def test_go_s_table_knows_every_definition() -> None:
    named = {
        name: set(definition["properties"])
        for name, definition in definitions().items()
        if "properties" in definition
    }
    assert {
        name: fields - set(table()[name]) for name, fields in named.items() if fields - set(table()[name])
    } == {
        # Newer than the types that this part of the table was made from; read as most fields are.
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionCondition": {
            "observedGeneration"
        },
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionStatus": {
            "observedGeneration"
        },
    }


CRON_TABS = Resource(
    group="stable.example.com",
    version="v1",
    plural="crontabs",
    singular="crontab",
    kind="CronTab",
    namespaced=True,
    verbs=("get", "create"),
    schema=schema_from(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "properties": {
                        "cronSpec": {"type": "string"},
                        "list": {
                            "type": "array",
                            "items": {"type": "object", "properties": {"a": {"type": "string"}}},
                        },
                        "map": {"type": "object", "additionalProperties": {"type": "object"}},
                        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                        "template": {"type": "object", "x-kubernetes-embedded-resource": True},
                    },
                }
            },
        }
    ),
    custom={},
)


def cron_tab(**more: Any) -> dict[str, Any]:
    return {"apiVersion": "stable.example.com/v1", "kind": "CronTab", "metadata": {"name": "x"}, **more}


def test_custom_objects_are_pruned_and_otherwise_left_alone() -> None:
    spec = {
        "cronSpec": 5,
        "foo": 1,
        "list": [{"a": "", "b": 1}, None],
        "map": {"k": {"gone": 1}},
        "free": {"a": {"b": None}},
        "template": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {}},
    }
    decoded = decode(cron_tab(spec=spec, bar=1), CRON_TABS)
    assert decoded.obj == cron_tab(
        spec={
            "cronSpec": 5,
            "list": [{"a": ""}, None],
            "map": {"k": {}},
            "free": {"a": {"b": None}},
            "template": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}},
        }
    )
    assert decoded.problems == [
        'unknown field "bar"',
        'unknown field "spec.foo"',
        'unknown field "spec.list[0].b"',
        'unknown field "spec.map.k.gone"',
        'unknown field "spec.template.spec"',
    ]


def test_custom_objects_have_ordinary_metadata() -> None:
    decoded = decode(cron_tab(metadata={"name": "x", "foo": 1, "labels": {}}), CRON_TABS)
    assert decoded.obj["metadata"] == {"name": "x"}
    assert decoded.problems == ['unknown field "metadata.foo"']
    assert refusal(cron_tab(metadata={"labels": {"a": 1}}), CRON_TABS) == (
        'CronTab in version "v1" cannot be handled as a CronTab: json: cannot unmarshal number into Go struct field'
        " ObjectMeta.labels of type string"
    )


def test_custom_objects_must_say_what_they_are() -> None:
    assert refusal(b'{"apiVersion":"stable.example.com/v1"}', CRON_TABS) == (
        "the object provided is unrecognized (must be of type CronTab): Object 'Kind' is missing in"
        ' \'{"apiVersion":"stable.example.com/v1"}\' ({"apiVersion":"stable.example. ...)'
    )
    assert refusal({"kind": "CronTab", "apiVersion": "stable.example.com/v2"}, CRON_TABS) == (
        "the API version in the data (stable.example.com/v2) does not match the expected API version"
        " (stable.example.com/v1)"
    )
    with pytest.raises(
        Invalid,
        match=r'CronTab.stable.example.com "x" is invalid: kind: Invalid value: "Cron": must be CronTab',
    ):
        check_kind({**cron_tab(), "kind": "Cron"}, CRON_TABS)


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8)
    | st.sampled_from(["2026-01-02T03:04:05Z", "500m", "YQ==", "http", "v1"])
)  # fmt: skip


def keys_of(*names: str) -> list[str]:
    return sorted({key for name in names for key in definitions()[f"io.k8s.api.{name}"]["properties"]})


KEYS = st.sampled_from(
    [
        "metadata",
        "labels",
        "name",
        "spec",
        "template",
        "status",
        "data",
        "cpu",
        "foo",
        "creationTimestamp",
        *keys_of(
            "core.v1.PodSpec",
            "core.v1.Container",
            "core.v1.ServiceSpec",
            "core.v1.ServicePort",
            "core.v1.Probe",
        ),
    ]
)
ANY_OBJECT: st.SearchStrategy[Any] = st.dictionaries(
    KEYS,
    st.recursive(
        SCALARS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
        max_leaves=25,
    ),
    max_size=5,
)


@pytest.mark.slow
@settings(max_examples=300)
@given(ANY_OBJECT, st.sampled_from([PODS, SERVICES, SECRETS, DEPLOYMENTS, CRON_TABS]))
def test_any_data_is_decoded_or_refused_and_decoding_again_changes_nothing(
    data: Any, resource: Resource
) -> None:
    try:
        decoded = decode(copy(data), resource)
    except ApiError:
        return
    again = decode(copy(decoded.obj), resource)
    assert again.obj == decoded.obj
    assert again.problems == []
    json.dumps(complete(decoded.obj, resource))


@given(SCALARS.filter(lambda value: value is not None) | st.lists(SCALARS))
def test_data_that_is_no_object_is_refused(data: Any) -> None:
    with pytest.raises(ApiError):
        check_kind(data, PODS)
        decode(data, PODS)


def nested(depth: int, *keys: str) -> Any:
    """Objects in objects, under keys in turn."""
    value: Any = {}
    for level in range(depth, 0, -1):
        value = {keys[level % len(keys)]: value}
    return value


def test_the_deepest_body_that_is_read_can_be_worked_on() -> None:
    free = decode_body(json.dumps(cron_tab(spec={"free": nested(MAX_DEPTH - 3, "a")})).encode(), CRON_TABS)
    assert free.problems == []
    definition = CATALOGUE.find("customresourcedefinitions", "apiextensions.k8s.io")
    schema = nested(MAX_DEPTH - 7, "properties", "x")
    body = {"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]}}
    decoded = decode_body(json.dumps(body).encode(), definition)
    assert complete(decoded.obj, definition)["spec"]["versions"][0]["name"] == "v1"


@pytest.mark.parametrize("word", ["properties", "anyOf"])
def test_the_deepest_schema_can_be_judged_by(word: str) -> None:
    openapi: dict[str, Any] = {"type": "string"}
    for _ in range(MAX_DEPTH // 2 - 5):
        openapi = {word: {"a": openapi} if word == "properties" else [openapi]}
    obj = nested(MAX_DEPTH, "a")
    assert validate_custom(obj, openapi) != []
    prune(obj, schema_from(openapi), Notes())
    apply_crd_defaults(obj, openapi)
