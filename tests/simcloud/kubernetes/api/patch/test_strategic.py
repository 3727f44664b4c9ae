import copy
from typing import Any

import pytest
from hypothesis import given, strategies as st

from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.patch import check_types, strategic_merge
from simcloud.kubernetes.api.schema import Schema, schema_of

POD = schema_of("", "v1", "Pod")
DEPLOYMENT = schema_of("apps", "v1", "Deployment")
SERVICE = schema_of("", "v1", "Service")
assert POD and DEPLOYMENT and SERVICE


def _pod(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "web"}, "spec": spec}


def _merge_spec(original: dict[str, Any], patch: dict[str, Any], schema: Schema = POD) -> Any:
    before = copy.deepcopy((original, patch))
    merged = strategic_merge(_pod(**original), {"spec": patch}, schema)
    assert (original, patch) == before
    return merged["spec"]


def test_a_recorded_patch_of_a_service_port() -> None:
    ports = [{"name": "http", "port": 80, "protocol": "TCP", "targetPort": 80}]
    merged = _merge_spec({"ports": ports}, {"ports": [{"port": 80, "targetPort": 8080}]}, SERVICE)
    assert merged["ports"] == [{"name": "http", "port": 80, "protocol": "TCP", "targetPort": 8080}]


def test_set_env_and_unset_it_again() -> None:
    live = {
        "containers": [{"name": "nginx", "image": "nginx:1.19", "env": [{"name": "MODE", "value": "prod"}]}]
    }
    added = {
        "$setElementOrder/containers": [{"name": "nginx"}],
        "containers": [
            {
                "$setElementOrder/env": [{"name": "MODE"}, {"name": "EXTRA"}],
                "env": [{"name": "MODE", "value": "debug"}, {"name": "EXTRA", "value": "1"}],
                "name": "nginx",
            }
        ],
    }
    debug = _merge_spec(live, added)
    assert debug["containers"][0]["env"] == [
        {"name": "MODE", "value": "debug"},
        {"name": "EXTRA", "value": "1"},
    ]
    dropped = {
        "$setElementOrder/containers": [{"name": "nginx"}],
        "containers": [
            {
                "$setElementOrder/env": [{"name": "MODE"}],
                "env": [{"$patch": "delete", "name": "EXTRA"}],
                "name": "nginx",
            }
        ],
    }
    assert _merge_spec(debug, dropped)["containers"][0] == {
        "name": "nginx",
        "image": "nginx:1.19",
        "env": [{"name": "MODE", "value": "debug"}],
    }


@pytest.mark.parametrize(
    ("live", "patch", "order", "expected"),
    [
        ("abc", "", "cba", "cba"),
        ("abc", "d", "adb", "adbc"),
        ("abc", "d", "da", "dabc"),
        ("abc", "", "c", "abc"),
        ("abc", "", "ca", "bca"),
        ("abcd", "", "db", "acdb"),
        ("", "xy", "yx", None),
        ("abc", "cx", None, "abcx"),
        ("abc", "xa", None, "xabc"),
        ("abc", "ca", None, "bca"),
    ],
)
def test_order_of_a_keyed_list(live: str, patch: str, order: str | None, expected: str | None) -> None:
    def named(names: str) -> list[dict[str, str]]:
        return [{"name": name} for name in names]

    told: dict[str, Any] = {"containers": named(patch)} if patch else {}
    if order is not None:
        told["$setElementOrder/containers"] = named(order)
    original: dict[str, Any] = {"containers": named(live)} if live else {}
    if expected is None:
        with pytest.raises(ApiError, match="doesn't match"):
            _merge_spec(original, told)
        return
    assert "".join(item["name"] for item in _merge_spec(original, told)["containers"]) == expected


@pytest.mark.parametrize(
    ("live", "patch", "expected"),
    [
        (["a", "b"], {"finalizers": ["b", "c"]}, ["a", "b", "c"]),
        (["a", "b"], {"finalizers": ["c", "a"]}, ["c", "a", "b"]),
        (["a", "b"], {"$deleteFromPrimitiveList/finalizers": ["a", "x"]}, ["b"]),
        (["a", "b"], {"$setElementOrder/finalizers": ["b", "a"]}, ["b", "a"]),
        (
            ["a", "b"],
            {
                "$deleteFromPrimitiveList/finalizers": ["a"],
                "$setElementOrder/finalizers": ["c", "b"],
                "finalizers": ["c"],
            },
            ["c", "b"],
        ),
    ],
)
def test_lists_of_plain_values(live: list[str], patch: dict[str, Any], expected: list[str]) -> None:
    merged = strategic_merge({"metadata": {"finalizers": live}}, {"metadata": patch}, POD)
    assert merged["metadata"]["finalizers"] == expected


@pytest.mark.parametrize(
    ("live", "patch", "expected"),
    [
        ({"nodeName": "x"}, {"nodeName": None}, {}),
        ({"nodeName": "x"}, {"hostname": None}, {"nodeName": "x"}),
        ({"nodeSelector": {"a": "1"}}, {"nodeSelector": {"b": "2"}}, {"nodeSelector": {"a": "1", "b": "2"}}),
        (
            {"nodeSelector": {"a": "1"}},
            {"nodeSelector": {"$patch": "replace", "b": "2"}},
            {"nodeSelector": {"b": "2"}},
        ),
        ({"nodeSelector": {"a": "1"}}, {"nodeSelector": {"$patch": "delete"}}, {"nodeSelector": {}}),
        ({}, {"nodeSelector": {"$patch": "delete"}}, {}),
        ({"tolerations": [{"key": "a"}]}, {"tolerations": [{"key": "b"}]}, {"tolerations": [{"key": "b"}]}),
        (
            {"containers": [{"name": "a"}, {"name": "b"}]},
            {"containers": [{"$patch": "replace"}, {"name": "c"}]},
            {"containers": [{"name": "c"}]},
        ),
        (
            {"volumes": [{"name": "v", "emptyDir": {}}]},
            {"volumes": [{"name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/"}}]},
            {"volumes": [{"name": "v", "hostPath": {"path": "/"}}]},
        ),
        ({}, {"affinity": {"nodeAffinity": None, "podAffinity": {}}}, {"affinity": {"podAffinity": {}}}),
    ],
)
def test_directives(live: dict[str, Any], patch: dict[str, Any], expected: dict[str, Any]) -> None:
    assert _merge_spec(live, patch) == expected


def test_a_strategy_is_replaced_with_the_keys_it_retains() -> None:
    live = {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}
    patch = {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}
    assert _merge_spec(live, patch, DEPLOYMENT) == {"strategy": {"type": "Recreate"}}


CONTAINERS = {"containers": [{"name": "a"}], "strategy": {"type": "Recreate"}}


@pytest.mark.parametrize(
    ("patch", "code", "reason", "message"),
    [
        (
            {"containers": [{"image": "x"}]},
            500,
            "",
            "map: map[image:x] does not contain declared merge key: name",
        ),
        (
            {"containers": [{"name": "a", "$patch": "merge"}]},
            500,
            "",
            "merging lists cannot yet be specified in the patch",
        ),
        (
            {"containers": [{"name": "a", "$patch": "x"}]},
            500,
            "",
            "unknown patch type: x in map: map[$patch:x name:a]",
        ),
        (
            {"containers": [{"name": "a"}, "b"]},
            500,
            "",
            "list element types are not identical: [[map[name:a]] [map[name:a] b]]",
        ),
        (
            {"$patch": "x", "a": [1, None, True]},
            500,
            "",
            "unknown patch type: x in map: map[$patch:x a:[1 <nil> true]]",
        ),
        ({"$retainKeys": "x"}, 400, "BadRequest", "invalid patch format of retainKeys"),
        ({"$retainKeys": ["a"], "b": 1}, 400, "BadRequest", "invalid patch format of retainKeys"),
        ({"$deleteFromPrimitiveList": []}, 400, "BadRequest", "invalid patch format of primitive list"),
        ({"$setElementOrder": []}, 400, "BadRequest", "invalid patch format of setElementOrder list"),
        ({"$setElementOrder/containers": 1}, 500, "", "expected a []interface {}, but received a int64"),
        (
            {"$setElementOrder/nope": []},
            500,
            "",
            'unable to find api field in struct PodSpec for the json field "nope"',
        ),
        (
            {"$setElementOrder/containers": [{"name": "b"}], "containers": [{"name": "a"}]},
            500,
            "",
            "The order in patch list:\n[map[name:a]]\n doesn't match $setElementOrder list:\n[map[name:b]]\n",
        ),
    ],
)
def test_refusals(patch: dict[str, Any], code: int, reason: str, message: str) -> None:
    with pytest.raises(ApiError) as refused:
        _merge_spec(CONTAINERS, patch)
    assert (refused.value.code, refused.value.reason, refused.value.message) == (code, reason, message)


def test_the_recorded_refusal_of_text() -> None:
    with pytest.raises(ApiError) as refused:
        strategic_merge({}, "not json", POD)
    assert (refused.value.code, refused.value.reason) == (400, "BadRequest")
    assert (
        refused.value.message == "json: cannot unmarshal string into Go value of type map[string]interface {}"
    )


def test_the_recorded_refusal_of_a_wrong_type() -> None:
    patch = {"spec": {"replicas": "three"}}
    merged = strategic_merge({"spec": {"replicas": 2}}, patch, DEPLOYMENT)
    with pytest.raises(ApiError) as refused:
        check_types(merged, patch, DEPLOYMENT)
    told = 'Invalid value: "map[spec:map[replicas:three]]": unrecognized type: int32'
    assert refused.value.status() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": f' "" is invalid: patch: {told}',
        "reason": "Invalid",
        "details": {"causes": [{"reason": "FieldValueInvalid", "message": told, "field": "patch"}]},
        "code": 422,
    }


@pytest.mark.parametrize(
    ("patch", "complaint"),
    [
        ({"spec": {"replicas": 1.5}}, "cannot convert float64 to int32"),
        ({"spec": {"replicas": True}}, "unrecognized type: int32"),
        ({"spec": {"paused": "x"}}, "unrecognized type: bool"),
        ({"spec": "x"}, "cannot restore struct from: string"),
        ({"metadata": {"labels": []}}, "cannot restore map from slice"),
        ({"metadata": {"labels": {"a": 1}}}, "cannot convert int64 to string"),
        ({"metadata": {"finalizers": {}}}, "cannot restore slice from map"),
        ({"metadata": {"name": {}}}, "unrecognized type: string"),
        ({"spec": {"replicas": 2.0, "unknown": 1}}, None),
    ],
)
def test_wrong_types(patch: dict[str, Any], complaint: str | None) -> None:
    merged = strategic_merge({}, patch, DEPLOYMENT)
    if complaint is None:
        check_types(merged, patch, DEPLOYMENT)
        return
    with pytest.raises(ApiError) as refused:
        check_types(merged, patch, DEPLOYMENT)
    assert refused.value.message.endswith(f": {complaint}")


NAMES = st.text("ab", min_size=1, max_size=2)
ENVS = st.lists(
    st.fixed_dictionaries({"name": NAMES}, optional={"value": NAMES}), unique_by=lambda env: env["name"]
)
CONTAINER_LISTS = st.lists(
    st.fixed_dictionaries({"name": NAMES}, optional={"image": NAMES, "env": ENVS, "args": st.lists(NAMES)}),
    unique_by=lambda container: container["name"],
)
PODS = st.fixed_dictionaries(
    {},
    optional={
        "metadata": st.fixed_dictionaries(
            {}, optional={"labels": st.dictionaries(NAMES, NAMES), "finalizers": st.lists(NAMES, unique=True)}
        ),
        "spec": st.fixed_dictionaries({}, optional={"containers": CONTAINER_LISTS, "nodeName": NAMES}),
    },
)


@given(PODS)
def test_an_empty_patch_changes_nothing(pod: Any) -> None:
    assert strategic_merge(pod, {}, POD) == pod


@given(PODS)
def test_an_object_is_a_patch_that_leaves_it_as_it_is(pod: Any) -> None:
    assert strategic_merge(pod, pod, POD) == pod


@given(PODS, PODS)
def test_patching_twice_is_patching_once(pod: Any, patch: Any) -> None:
    once = strategic_merge(pod, patch, POD)
    assert strategic_merge(once, patch, POD) == once


WORDS = st.sampled_from(
    [
        *("metadata", "spec", "containers", "env", "name", "finalizers", "labels", "volumes", "nodeSelector"),
        *("$patch", "$retainKeys", "$setElementOrder/containers", "$setElementOrder/finalizers"),
        *("$deleteFromPrimitiveList/finalizers", "$setElementOrder", "replace", "delete", "merge", "a"),
    ]
)
HOSTILE = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.just(1.5) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(WORDS, HOSTILE), HOSTILE)
def test_nothing_but_api_errors(original: Any, patch: Any) -> None:
    before = copy.deepcopy((original, patch))
    try:
        merged = strategic_merge(original, patch, POD)
        check_types(merged, patch, POD)
    except ApiError as refused:
        assert refused.code in (400, 422, 500)
    assert (original, patch) == before
