"""Server-side apply, compared with recordings and with what its rules promise."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from simcloud.kubernetes.api.apply import server_side_apply, track_update
from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import LAST_APPLIED
from simcloud.kubernetes.api.resources import Catalogue, Resource
from simcloud.kubernetes.api.schema import Schema

DATA = Path(__file__).parent / "data"
CATALOGUE = Catalogue()
NOW = "2026-11-15T00:43:52Z"
LATER = "2026-11-15T00:44:52Z"


def _resource(api_version: str, kind: str) -> Resource:
    found = CATALOGUE.of_kind(api_version, kind)
    assert found is not None
    return found


CONFIG_MAPS = _resource("v1", "ConfigMap")
DEPLOYMENTS = _resource("apps/v1", "Deployment")
WIDGETS = Resource("example.com", "v1", "widgets", "widget", "Widget", True, ("get",), custom={})


def _apply(
    live: dict[str, Any] | None, applied: dict[str, Any], resource: Resource = CONFIG_MAPS, **told: Any
) -> dict[str, Any]:
    before = copy.deepcopy((live, applied))
    told = {"manager": "kubectl", "force": False, "now": NOW, **told}
    found = server_side_apply(live, applied, resource, **told)
    assert before == (live, applied)
    return found


def _config_map(**data: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "app-config", "namespace": "demo"},
        "data": data,
    }


def _deployment(spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    named = {"name": "web", "namespace": "demo", **metadata}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": named, "spec": spec}


def _with_containers(*containers: dict[str, Any]) -> dict[str, Any]:
    return _deployment({"template": {"spec": {"containers": list(containers)}}})


def _containers(obj: dict[str, Any]) -> list[Any]:
    found: list[Any] = obj["spec"]["template"]["spec"]["containers"]
    return found


def test_the_recorded_config_map() -> None:
    recorded = json.loads((DATA / "configmap.json").read_text())
    live = _apply(None, _config_map(key="value"))
    assert live["metadata"]["managedFields"] == recorded["metadata"]["managedFields"]
    assert live["data"] == recorded["data"]


def test_applying_again_changes_nothing() -> None:
    live = _apply(None, _config_map(key="value"))
    assert _apply(live, _config_map(key="value"), now=LATER) == live


def test_the_recorded_conflict() -> None:
    live = _apply(None, _config_map(key="value"))
    with pytest.raises(ApiError) as refused:
        _apply(live, _config_map(key="other"), manager="other")
    assert refused.value.status() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'Apply failed with 1 conflict: conflict with "kubectl": .data.key',
        "reason": "Conflict",
        "details": {
            "causes": [
                {"reason": "FieldManagerConflict", "message": 'conflict with "kubectl"', "field": ".data.key"}
            ]
        },
        "code": 409,
    }
    forced = _apply(live, _config_map(key="other"), manager="other", force=True, now=LATER)
    assert forced["data"] == {"key": "other"}
    assert [(entry["manager"], entry["time"]) for entry in forced["metadata"]["managedFields"]] == [
        ("other", LATER)
    ]


def test_conflicts_with_several_managers_are_grouped() -> None:
    live = _config_map(a="1", b="1", c="1")
    live["metadata"]["uid"] = "u"
    live["metadata"]["managedFields"] = track_update(None, live, CONFIG_MAPS, manager="z", now=NOW)
    changed = copy.deepcopy(live)
    changed["data"]["c"] = "2"
    changed["metadata"]["managedFields"] = track_update(
        live, changed, CONFIG_MAPS, manager="a", now=NOW, subresource="status"
    )
    with pytest.raises(ApiError) as refused:
        _apply(changed, _config_map(a="9", b="9", c="9"), manager="me")
    assert refused.value.message == (
        "Apply failed with 3 conflicts: "
        'conflicts with "a" with subresource "status" using v1:\n- .data.c\n'
        'conflicts with "z" using v1:\n- .data.a\n- .data.b'
    )


def test_co_owners_agree_and_the_last_one_removes() -> None:
    live = _apply(None, _config_map(a="1", b="1"), manager="one")
    live = _apply(live, _config_map(a="1"), manager="two", now=LATER)
    assert [(entry["manager"], entry.get("time")) for entry in live["metadata"]["managedFields"]] == [
        ("two", None),
        ("one", NOW),
    ]
    live = _apply(live, _config_map(b="1"), manager="one", now=LATER)
    assert live["data"] == {"a": "1", "b": "1"}
    live = _apply(live, _config_map(), manager="two", now=LATER)
    assert live["data"] == {"b": "1"}


def test_what_an_updater_owns_is_not_removed() -> None:
    live = _apply(None, _config_map(a="1", b="1"))
    updated = copy.deepcopy(live)
    updated["metadata"]["uid"] = "u"
    updated["data"]["b"] = "2"
    updated["metadata"]["managedFields"] = track_update(live, updated, CONFIG_MAPS, manager="editor", now=NOW)
    assert _apply(updated, _config_map(a="1"))["data"] == {"a": "1", "b": "2"}


def test_items_are_merged_by_key_and_removed_by_key() -> None:
    live = _apply(
        None, _with_containers({"name": "a", "image": "1"}, {"name": "b", "image": "1"}), DEPLOYMENTS
    )
    _containers(live)[0]["imagePullPolicy"] = "Always"
    live = _apply(live, _with_containers({"name": "a", "image": "2"}), DEPLOYMENTS)
    assert _containers(live) == [{"name": "a", "image": "2", "imagePullPolicy": "Always"}]


def test_a_port_without_protocol_is_tcp() -> None:
    live = _with_containers({"name": "a", "ports": [{"containerPort": 80, "protocol": "TCP"}]})
    live = _apply(None, live, DEPLOYMENTS)
    live = _apply(
        live, _with_containers({"name": "a", "ports": [{"containerPort": 80, "name": "http"}]}), DEPLOYMENTS
    )
    assert _containers(live)[0]["ports"] == [{"containerPort": 80, "name": "http"}]
    keys = live["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:template"]["f:spec"]["f:containers"]
    assert keys['k:{"name":"a"}']["f:ports"] == {
        'k:{"containerPort":80,"protocol":"TCP"}': {".": {}, "f:containerPort": {}, "f:name": {}}
    }


@pytest.mark.parametrize(
    ("live", "applied", "expected"),
    [
        ("abc", "abc", "abc"),
        ("abc", "cba", "cba"),
        ("abc", "c", "abc"),
        ("abc", "xc", "abxc"),
        ("abc", "ax", "abcx"),
        ("abc", "ca", "bca"),
        ("ab", "xy", "abxy"),
        ("abcd", "dxb", "acdxb"),
    ],
)
def test_order_of_a_keyed_list(live: str, applied: str, expected: str) -> None:
    def named(names: str) -> dict[str, Any]:
        return _with_containers(*({"name": name} for name in names))

    stored = _apply(None, named(live), DEPLOYMENTS, manager="one")
    found = _apply(stored, named(applied), DEPLOYMENTS, manager="two")
    assert "".join(container["name"] for container in _containers(found)) == expected


def test_an_applied_null_clears_a_field() -> None:
    live = _apply(None, _deployment({"replicas": 3, "paused": True}), DEPLOYMENTS)
    found = _apply(live, _deployment({"replicas": None, "paused": True}), DEPLOYMENTS)
    assert found["spec"] == {"paused": True}
    assert found["metadata"]["managedFields"][0]["fieldsV1"] == {"f:spec": {"f:paused": {}, "f:replicas": {}}}


def test_empty_objects_are_owned_and_empty_lists_are_not() -> None:
    volumes = [{"name": "v", "emptyDir": {}}]
    applied = _deployment({"template": {"spec": {"volumes": volumes, "containers": []}}})
    found = _apply(None, applied, DEPLOYMENTS)
    assert found["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:template"]["f:spec"] == {
        "f:volumes": {'k:{"name":"v"}': {".": {}, "f:emptyDir": {}, "f:name": {}}}
    }


def test_an_object_nobody_tracked_belongs_to_whoever_was_before() -> None:
    live = _config_map(a="1", b="1")
    found = _apply(live, _config_map(a="1"), manager="me", now=LATER)
    assert [(entry["manager"], entry["operation"]) for entry in found["metadata"]["managedFields"]] == [
        ("me", "Apply"),
        ("before-first-apply", "Update"),
    ]
    with pytest.raises(ApiError, match=r'conflict with "before-first-apply" using v1: \.data\.a'):
        _apply(live, _config_map(a="2"), manager="me")


def test_kubectl_takes_over_what_it_applied_client_side() -> None:
    live = _config_map(a="1", b="1")
    live["metadata"]["annotations"] = {LAST_APPLIED: json.dumps(_config_map(a="1"))}
    live["metadata"]["managedFields"] = track_update(
        None, live, CONFIG_MAPS, manager="kubectl-client-side-apply", now=NOW
    )
    with pytest.raises(ApiError, match="1 conflict"):
        _apply(live, _config_map(a="2"), manager="other")
    with pytest.raises(ApiError, match=r"1 conflict: .*: \.data\.b"):
        _apply(live, _config_map(a="2", b="2"))
    applied = _config_map(a="2 < 3")
    found = _apply(live, applied)
    assert found["data"] == {"a": "2 < 3", "b": "1"}
    assert found["metadata"]["annotations"][LAST_APPLIED] == (
        '{"apiVersion":"v1","data":{"a":"2 \\u003c 3"},"kind":"ConfigMap",'
        '"metadata":{"name":"app-config","namespace":"demo"}}\n'
    )


def test_a_custom_resource_without_a_schema() -> None:
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}
    live = _apply(None, {**widget, "spec": {"a": {"b": 1, "c": 2}, "l": [1]}}, WIDGETS)
    assert live["metadata"]["managedFields"][0]["fieldsV1"] == {
        "f:spec": {".": {}, "f:a": {".": {}, "f:b": {}, "f:c": {}}, "f:l": {}}
    }
    live = _apply(live, {**widget, "spec": {"a": {"b": 2}, "l": [2]}}, WIDGETS)
    assert live["spec"] == {"a": {"b": 2}, "l": [2]}


TEXT = Schema("string")
TEXT_SET = Schema("list", list_type="set", _items=TEXT)
NESTED = Resource(
    *("example.com", "v1", "nests", "nest", "Nest", True, ("get",)),
    custom={},
    schema=Schema(
        "object",
        _fields={
            "set": TEXT_SET,
            "sets": Schema("map", _items=TEXT_SET),
            "maps": Schema("map", _items=Schema("map", _items=TEXT)),
            "struct": Schema("object", _fields={"name": TEXT, "value": Schema("integer")}),
            "keyed": Schema(
                "list",
                list_type="map",
                keys=("name",),
                _items=Schema("object", _fields={"name": TEXT, "set": TEXT_SET}),
            ),
        },
    ),
)


@pytest.mark.parametrize(
    ("steps", "expected", "owned"),
    [
        # Each step is an applied configuration, or a controller's update after a star.
        (
            [{"keyed": [{"name": "a", "set": ["b", "c"]}]}, {"keyed": [{"name": "a", "set": ["a", "c"]}]}],
            {"keyed": [{"name": "a", "set": ["a", "c"]}]},
            {"f:keyed": {'k:{"name":"a"}': {".": {}, "f:name": {}, "f:set": {'v:"a"': {}, 'v:"c"': {}}}}},
        ),
        (
            [{"keyed": [{"name": "a", "set": ["b"]}]}, {"keyed": [{"name": "b", "set": ["c"]}]}],
            {"keyed": [{"name": "b", "set": ["c"]}]},
            {"f:keyed": {'k:{"name":"b"}': {".": {}, "f:name": {}, "f:set": {'v:"c"': {}}}}},
        ),
        (
            [{"sets": {"a": ["b", "c"]}}, {"sets": {"b": ["a", "c"]}}],
            {"sets": {"b": ["a", "c"]}},
            {"f:sets": {"f:b": {".": {}, 'v:"a"': {}, 'v:"c"': {}}}},
        ),
        (
            [{"maps": {"a": {"b": "x", "c": "y"}}}, {"maps": {"a": {"a": "x", "c": "z"}}}],
            {"maps": {"a": {"a": "x", "c": "z"}}},
            {"f:maps": {"f:a": {".": {}, "f:a": {}, "f:c": {}}}},
        ),
        ([{"struct": {"name": "a", "value": 1}}, {}], {}, None),
        (
            [{"struct": {"name": "a"}}, "*", {"struct": {"name": "a", "value": 1}}, {}],
            {"struct": {"value": 1}},
            None,
        ),
        (
            [{"struct": {"name": "a"}}, "*", {"struct": {"name": "a", "value": 1}}, {"struct": {}}],
            {"struct": {"value": 1}},
            {"f:struct": {}},
        ),
        (
            [{"struct": {"name": "a"}}, "*", {"struct": {"name": "a", "value": 1}}, {"struct": None}],
            {"struct": {"value": 1}},
            {"f:struct": {}},
        ),
        (
            [{"struct": {"name": "a"}}, "*", {"struct": {"name": "b", "value": 1}}, {"struct": None}],
            {"struct": {"name": "b", "value": 1}},
            {"f:struct": {}},
        ),
        (
            [{"set": ["a", "c"]}, "*", {"set": ["a", "b", "c", "d"]}, {"set": ["a", "x", "c", "y"]}],
            {"set": ["a", "b", "x", "c", "d", "y"]},
            {"f:set": {'v:"a"': {}, 'v:"c"': {}, 'v:"x"': {}, 'v:"y"': {}}},
        ),
        (
            [{"set": ["a", "b", "c"]}, {"set": ["c", "a"]}],
            {"set": ["c", "a"]},
            {"f:set": {'v:"a"': {}, 'v:"c"': {}}},
        ),
    ],
)
def test_steps(steps: list[Any], expected: dict[str, Any], owned: dict[str, Any] | None) -> None:
    base = {"apiVersion": "example.com/v1", "kind": "Nest", "metadata": {"name": "n"}}
    live: dict[str, Any] | None = None
    update = False
    for step in steps:
        if step == "*":
            update = True
        elif update:
            new = {**base, **step}
            listed = track_update(live, new, NESTED, manager="controller", now=NOW)
            live = {**new, "metadata": {"name": "n", "managedFields": listed}}
            update = False
        else:
            live = _apply(live, {**base, **step}, NESTED)
    assert live is not None
    entries = live["metadata"].pop("managedFields", [])
    assert live == {**base, **expected}
    assert [entry["fieldsV1"] for entry in entries if entry["operation"] == "Apply"] == (
        [owned] if owned else []
    )


@pytest.mark.parametrize(
    ("applied", "code", "message"),
    [
        (
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "managedFields": []}},
            400,
            "metadata.managedFields must be nil",
        ),
        ({"apiVersion": "v2", "kind": "ConfigMap"}, 400, "invalid object type: /v2, Kind=ConfigMap"),
        (
            {"apiVersion": "apps/v1", "kind": "Deployment"},
            400,
            "invalid object type: apps/v1, Kind=Deployment",
        ),
        ({}, 400, "invalid object type: /, Kind="),
        (
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "n"}, "dta": {}},
            500,
            "failed to create typed patch object (n/c; /v1, Kind=ConfigMap): .dta: field not declared in schema",
        ),
        (
            {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": 1}},
            500,
            "failed to create typed patch object (/; /v1, Kind=ConfigMap): "
            ".data.a: expected string, got &value.valueUnstructured{Value:1}",
        ),
        (
            {"apiVersion": "v1", "kind": "ConfigMap", "data": "x", "immutable": 1},
            500,
            "failed to create typed patch object (/; /v1, Kind=ConfigMap): errors:\n"
            "  .data: expected map, got &{x}\n"
            "  .immutable: expected boolean, got &value.valueUnstructured{Value:1}",
        ),
    ],
)
def test_refusals(applied: dict[str, Any], code: int, message: str) -> None:
    with pytest.raises(ApiError) as refused:
        _apply(None, applied)
    assert (refused.value.code, refused.value.message) == (code, message)


@pytest.mark.parametrize(
    ("containers", "complaint"),
    [
        (
            [{"image": "x"}],
            "element 0: associative list with keys has an element that omits all key fields "
            '["name"] (and doesn\'t have default values for any key fields)',
        ),
        ([{"name": "a"}, {"name": "a"}], 'duplicate entries for key [name="a"]'),
        ([None], "element 0: associative list with keys may not have a null element"),
        (["x"], "element 0: associative list with keys may not have non-map elements"),
        ("x", "expected list, got &{x}"),
    ],
)
def test_refusals_of_items(containers: Any, complaint: str) -> None:
    applied = _deployment({"template": {"spec": {"containers": containers}}})
    with pytest.raises(ApiError) as refused:
        _apply(None, applied, DEPLOYMENTS)
    assert refused.value.message == (
        "failed to create typed patch object (demo/web; apps/v1, Kind=Deployment): "
        f".spec.template.spec.containers: {complaint}"
    )


NAMES = st.sampled_from(["a", "b", "c"])
ENV = st.lists(
    st.fixed_dictionaries({"name": NAMES, "value": NAMES}), unique_by=lambda env: env["name"], min_size=1
)
PORTS = st.lists(
    st.fixed_dictionaries({"containerPort": st.integers(1, 3)}, optional={"name": NAMES}),
    unique_by=lambda port: port["containerPort"],
    min_size=1,
)
CONTAINERS = st.lists(
    st.fixed_dictionaries(
        {"name": NAMES}, optional={"image": NAMES, "env": ENV, "ports": PORTS, "args": st.lists(NAMES)}
    ),
    unique_by=lambda container: container["name"],
    min_size=1,
)
CONFIGS = st.builds(
    lambda replicas, containers, labels: _deployment(
        {"template": {"spec": {"containers": containers}}, **replicas}, **labels
    ),
    st.fixed_dictionaries({}, optional={"replicas": st.integers(0, 3)}),
    CONTAINERS,
    st.fixed_dictionaries({}, optional={"labels": st.dictionaries(NAMES, NAMES, min_size=1)}),
)


@pytest.mark.slow
@settings(max_examples=40)
@given(st.none() | CONFIGS, CONFIGS, st.booleans())
def test_applying_twice_is_applying_once(base: Any, config: Any, foreign: bool) -> None:
    live = base and _apply(None, base, DEPLOYMENTS, manager="other" if foreign else "me")
    once = _apply(live, config, DEPLOYMENTS, manager="me", force=True)
    assert _apply(once, config, DEPLOYMENTS, manager="me", now=LATER) == once


@settings(max_examples=40)
@given(CONFIGS, CONFIGS)
def test_the_only_manager_gets_what_it_says_and_nothing_else(first: Any, second: Any) -> None:
    live = _apply(None, first, DEPLOYMENTS)
    assert _apply(live, second, DEPLOYMENTS) == _apply(None, second, DEPLOYMENTS)


def _unordered(value: Any) -> Any:
    """A value whose lists of objects are sorted: their order tells what else once stood in them."""
    if isinstance(value, dict):
        return {key: _unordered(item) for key, item in value.items()}
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return sorted(map(_unordered, value), key=lambda item: json.dumps(item, sort_keys=True))
    return value


@pytest.mark.slow
@settings(max_examples=40)
@given(CONFIGS, CONFIGS)
def test_what_is_left_by_one_manager_is_what_the_other_says(mine: Any, theirs: Any) -> None:
    live = _apply(None, mine, DEPLOYMENTS, manager="me")
    live = _apply(live, theirs, DEPLOYMENTS, manager="them", force=True)
    left = _apply(live, _deployment({}), DEPLOYMENTS, manager="me")
    alone = _apply(None, theirs, DEPLOYMENTS, manager="them")
    assert _unordered(left["spec"]) == _unordered(alone["spec"])
    assert left["metadata"].get("labels") == alone["metadata"].get("labels")


@pytest.mark.slow
@settings(max_examples=40)
@given(CONFIGS, CONFIGS)
def test_without_force_nothing_of_others_changes(theirs: Any, mine: Any) -> None:
    live = _apply(None, theirs, DEPLOYMENTS, manager="them")
    try:
        found = _apply(live, mine, DEPLOYMENTS, manager="me")
    except ApiError as refused:
        assert refused.code == 409
        return
    assert _apply(found, theirs, DEPLOYMENTS, manager="them")["metadata"]["managedFields"]
    assert {entry["manager"] for entry in found["metadata"]["managedFields"]} == {"them", "me"}


HOSTILE = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.just(1.5) | NAMES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["metadata", "spec", "template", "containers", "name", "env", "labels", "finalizers"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=40)
@given(st.none() | CONFIGS, HOSTILE, HOSTILE)
def test_nothing_but_api_errors(base: Any, metadata: Any, spec: Any) -> None:
    live = base and _apply(None, base, DEPLOYMENTS)
    config = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}
    try:
        _apply(live, config, DEPLOYMENTS)
    except ApiError as refused:
        assert refused.code in (400, 409, 500)
