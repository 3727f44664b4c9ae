"""managedFields, compared with those that a genuine server recorded."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from simcloud.kubernetes.api.apply import manager_name, track_update
from simcloud.kubernetes.api.apply.fieldset import union
from simcloud.kubernetes.api.resources import Catalogue, Resource, Subresource

DATA = Path(__file__).parent / "data"
CATALOGUE = Catalogue()
NOW = "2026-11-15T01:00:00Z"


def _resource(api_version: str, kind: str) -> Resource:
    found = CATALOGUE.of_kind(api_version, kind)
    assert found is not None
    return found


PODS = _resource("v1", "Pod")
DEPLOYMENTS = _resource("apps/v1", "Deployment")
CONFIG_MAPS = _resource("v1", "ConfigMap")
WIDGETS = Resource(
    "example.com", "v1", "widgets", "widget", "Widget", True, ("get",), custom={},
    subresources={"status": Subresource("status", "example.com", "v1", "Widget", ("get",))},
)  # fmt: skip


def _recorded(name: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A recorded object without its managedFields, and those."""
    obj = json.loads((DATA / f"{name}.json").read_text())
    return obj, obj["metadata"].pop("managedFields")


def _write(
    live: dict[str, Any] | None, new: dict[str, Any], resource: Resource = CONFIG_MAPS, **told: Any
) -> dict[str, Any]:
    """The new object as stored after a write."""
    told = {"manager": "me", "now": NOW, **told}
    before = copy.deepcopy((live, new))
    listed = track_update(live, new, resource, **told)
    assert before == (live, new)
    return {**new, "metadata": {**new["metadata"], "managedFields": listed}}


def test_a_deployment_that_kubectl_applied_and_the_controller_rolled_out() -> None:
    recorded, (controller, client) = _recorded("deployment")
    applied = copy.deepcopy(recorded)
    applied["status"] = {}
    del applied["metadata"]["annotations"]["deployment.kubernetes.io/revision"]
    live = _write(None, applied, DEPLOYMENTS, manager=client["manager"], now=client["time"])
    assert live["metadata"]["managedFields"] == [client]
    rolled = _write(
        live,
        recorded,
        DEPLOYMENTS,
        manager=controller["manager"],
        now=controller["time"],
        subresource="status",
    )
    assert rolled["metadata"]["managedFields"] == [controller, client]


def test_a_pod_that_kubectl_ran_and_the_kubelet_started() -> None:
    recorded, (client, kubelet) = _recorded("pod")
    run = copy.deepcopy(recorded)
    run["status"] = {}
    # What admission adds is nobody's.
    for name in (
        "nodeName",
        "preemptionPolicy",
        "priority",
        "serviceAccount",
        "serviceAccountName",
        "tolerations",
        "volumes",
    ):
        del run["spec"][name]
    del run["spec"]["containers"][0]["volumeMounts"]
    created = _write(None, run, PODS, manager=client["manager"], now=client["time"])
    assert created["metadata"]["managedFields"] == [client]
    # The binding of the scheduler is nobody's either.
    bound = copy.deepcopy(recorded)
    bound["metadata"] = created["metadata"]
    scheduled = next(one for one in recorded["status"]["conditions"] if one["type"] == "PodScheduled")
    scheduled = {key: value for key, value in scheduled.items() if key != "observedGeneration"}
    bound["status"] = {"phase": "Pending", "qosClass": "BestEffort", "conditions": [scheduled]}
    started = _write(
        bound, recorded, PODS, manager=kubelet["manager"], now=kubelet["time"], subresource="status"
    )
    assert started["metadata"]["managedFields"] == [client, kubelet]


@pytest.mark.parametrize(
    ("named", "agent", "name"),
    [
        ("kubectl-run", "kubectl/v1.36.4 (linux/amd64)", "kubectl-run"),
        (
            "",
            "kube-controller-manager/v1.36.4 (linux/amd64) kubernetes/abc/deployment",
            "kube-controller-manager",
        ),
        ("", "curl", "curl"),
        ("", "a\x00b\tc/1", "abc"),
        ("", "é" * 100, "é" * 64),
        ("", "", ""),
    ],
)
def test_manager_name(named: str, agent: str, name: str) -> None:
    assert manager_name(named, agent) == name


def _config_map(**data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "uid": "u"}, "data": data}


def _owned(obj: dict[str, Any]) -> dict[str, list[str]]:
    """Which keys of data each manager owns."""
    return {
        entry["manager"]: [step[2:] for step in entry["fieldsV1"].get("f:data", {}) if step != "."]
        for entry in obj["metadata"]["managedFields"]
    }


def test_a_changed_field_changes_hands_and_a_removed_one_is_nobodys() -> None:
    live = _write(None, _config_map(a="1", b="1", c="1"), manager="first")
    live = _write(live, _config_map(a="1", b="2", d="1"), manager="second")
    assert _owned(live) == {"first": ["a"], "second": ["b", "d"]}


def test_a_manager_without_fields_is_gone() -> None:
    live = _write(None, {**_config_map(), "data": {"a": "1"}}, manager="first")
    live = _write(live, _config_map(a="2"), manager="second")
    assert [entry["fieldsV1"] for entry in live["metadata"]["managedFields"]] == [
        {"f:data": {}},
        {"f:data": {"f:a": {}}},
    ]
    live = _write(
        live, {key: value for key, value in _config_map().items() if key != "data"}, manager="third"
    )
    assert live["metadata"]["managedFields"] == []


def test_a_write_that_changes_nothing_gives_back_the_same_list() -> None:
    live = _write(None, _config_map(a="1"))
    new = copy.deepcopy(live)
    new["metadata"]["resourceVersion"] = "77"
    again = track_update(live, new, CONFIG_MAPS, manager="other", now="2026-11-15T02:00:00Z")
    assert again is live["metadata"]["managedFields"]


def test_time_tells_the_last_change_and_orders_the_entries() -> None:
    live = _write(None, _config_map(a="1", b="1"), manager="z", now="2026-11-15T01:00:00Z")
    live = _write(live, _config_map(a="2", b="1"), manager="a", now="2026-11-15T01:00:01Z")
    assert [entry["manager"] for entry in live["metadata"]["managedFields"]] == ["z", "a"]
    live = _write(live, _config_map(a="2", b="2"), manager="z", now="2026-11-15T01:00:02Z")
    assert [(entry["manager"], entry["time"][-3:]) for entry in live["metadata"]["managedFields"]] == [
        ("a", "01Z"),
        ("z", "02Z"),
    ]


def test_a_write_to_the_object_never_owns_its_status_nor_the_other_way_round() -> None:
    deployment, _ = _recorded("deployment")
    live = _write(None, deployment, DEPLOYMENTS)
    assert "f:status" not in live["metadata"]["managedFields"][0]["fieldsV1"]
    new = copy.deepcopy(live)
    new["spec"]["replicas"] = 7
    new["metadata"]["labels"]["x"] = "y"
    new["status"]["replicas"] = 7
    written = _write(live, new, DEPLOYMENTS, manager="controller", subresource="status")
    assert [
        entry["fieldsV1"] for entry in written["metadata"]["managedFields"] if "subresource" in entry
    ] == [{"f:status": {"f:replicas": {}}}]


def test_scaling_takes_the_replicas_over() -> None:
    deployment, _ = _recorded("deployment")
    live = _write(None, deployment, DEPLOYMENTS, manager="kubectl-client-side-apply")
    new = copy.deepcopy(live)
    new["spec"]["replicas"] = 5
    first, second = _write(live, new, DEPLOYMENTS, manager="kubectl", subresource="scale")["metadata"][
        "managedFields"
    ]
    assert first["fieldsV1"] == {"f:spec": {"f:replicas": {}}}
    assert list(first) == [
        "manager",
        "operation",
        "apiVersion",
        "time",
        "fieldsType",
        "fieldsV1",
        "subresource",
    ]
    assert (first["manager"], first["subresource"]) == ("kubectl", "scale")
    assert "f:replicas" not in second["fieldsV1"]["f:spec"]


@pytest.mark.parametrize(
    ("api_version", "kind", "rest", "owned"),
    [
        (
            "v1",
            "Event",
            {
                "involvedObject": {"kind": "Pod"},
                "eventTime": None,
                "reason": "x",
                "source": {"component": "kubelet"},
            },
            {"f:involvedObject": {}, "f:reason": {}, "f:source": {"f:component": {}}},
        ),
        (
            "v1",
            "Service",
            {
                "spec": {"ports": [{"port": 80, "protocol": "TCP"}], "selector": {"a": "b"}},
                "status": {"loadBalancer": {}},
            },
            {
                "f:spec": {
                    "f:ports": {
                        ".": {},
                        'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}, "f:protocol": {}},
                    },
                    "f:selector": {},
                }
            },
        ),
        (
            "v1",
            "PersistentVolumeClaim",
            {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}},
            {"f:spec": {"f:accessModes": {}, "f:resources": {"f:requests": {".": {}, "f:storage": {}}}}},
        ),
        (
            "rbac.authorization.k8s.io/v1",
            "RoleBinding",
            {"roleRef": {"kind": "Role", "name": "r"}, "subjects": [{"kind": "User", "name": "u"}]},
            {"f:roleRef": {}, "f:subjects": {}},
        ),
    ],
)
def test_structs_that_go_always_writes_are_nobodys(
    api_version: str, kind: str, rest: Any, owned: Any
) -> None:
    obj = {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "x", "creationTimestamp": None},
        **rest,
    }
    listed = track_update(None, obj, _resource(api_version, kind), manager="me", now=NOW)
    assert [entry["fieldsV1"] for entry in listed] == [owned]


def test_an_owner_is_one_field() -> None:
    pod, _ = _recorded("pod")
    pod["metadata"] = {"name": "x", "ownerReferences": [{"kind": "ReplicaSet", "name": "r", "uid": "1"}]}
    listed = track_update(None, pod, PODS, manager="me", now=NOW)
    assert listed[0]["fieldsV1"]["f:metadata"] == {"f:ownerReferences": {".": {}, 'k:{"uid":"1"}': {}}}


def test_at_most_ten_updaters() -> None:
    live = _write(None, _config_map(k0="1"), manager="m0", now="2026-11-15T01:00:00Z")
    for number in range(1, 12):
        data = {**live["data"], f"k{number}": "1"}
        live = _write(live, _config_map(**data), manager=f"m{number}", now=f"2026-11-15T01:00:{number:02}Z")
    owned = _owned(live)
    assert list(owned) == ["ancient-changes", *(f"m{number}" for number in range(3, 12))]
    assert owned["ancient-changes"] == ["k0", "k1", "k2"]
    assert live["metadata"]["managedFields"][0]["time"] == "2026-11-15T01:00:02Z"


@pytest.mark.parametrize("told", [[], [{}]])
def test_a_client_may_reset_managed_fields(told: Any) -> None:
    live = _write(None, _config_map(a="1"))
    new = _config_map(a="1")
    new["metadata"]["managedFields"] = told
    assert track_update(live, new, CONFIG_MAPS, manager="me", now=NOW) == []


def test_an_object_without_managed_fields_stays_untracked() -> None:
    assert track_update(_config_map(a="1"), _config_map(a="2"), CONFIG_MAPS, manager="me", now=NOW) == []


def test_unreadable_stored_managed_fields_count_as_none() -> None:
    live = _config_map(a="1")
    live["metadata"]["managedFields"] = [{"manager": "me"}]
    assert track_update(live, _config_map(a="2"), CONFIG_MAPS, manager="me", now=NOW) == []


def test_a_client_may_set_managed_fields() -> None:
    live = _write(None, _config_map(a="1", b="1"), manager="me")
    new = copy.deepcopy(live)
    entry = new["metadata"]["managedFields"][0]
    entry["manager"] = "other"
    entry["fieldsV1"] = {"f:data": {"f:b": {}, "f:a": {}, ".": {}}}
    assert _owned(_write(live, new, manager="me")) == {"other": ["a", "b"]}


@pytest.mark.parametrize(
    "told",
    [
        "x",
        [1],
        [{"operation": "Update"}],
        [{"operation": "x", "apiVersion": "v1", "fieldsType": "FieldsV1"}],
        [
            {
                "manager": "m",
                "operation": "Update",
                "apiVersion": "v1",
                "fieldsType": "FieldsV1",
                "fieldsV1": {"f:a": 1},
            }
        ],
        [
            {
                "manager": "m",
                "operation": "Update",
                "apiVersion": "v1",
                "fieldsType": "FieldsV1",
                "fieldsV1": {"k:{": {}},
            }
        ],
        [{"manager": "m", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "time": 5}],
        [{"manager": [], "operation": {}, "apiVersion": 1, "fieldsType": "FieldsV1"}],
    ],
)
def test_unreadable_managed_fields_are_ignored(told: Any) -> None:
    live = _write(None, _config_map(a="1"), manager="first")
    new = _config_map(a="1", b="1")
    new["metadata"]["managedFields"] = told
    assert _owned(_write(live, new, manager="second")) == {"first": ["a"], "second": ["b"]}


def test_items_that_cannot_be_told_apart_leave_the_list_as_it_is() -> None:
    pod, _ = _recorded("pod")
    live = _write(None, pod, PODS)
    new = copy.deepcopy(live)
    new["spec"]["containers"] = [{"image": "x"}]
    assert track_update(live, new, PODS, manager="x", now=NOW) == live["metadata"]["managedFields"]


def test_duplicates_in_a_keyed_list_are_one_field() -> None:
    pod, _ = _recorded("pod")
    pod["spec"]["containers"][0]["env"] = [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]
    listed = track_update(None, pod, PODS, manager="me", now=NOW)
    assert listed[0]["fieldsV1"]["f:spec"]["f:containers"]['k:{"name":"ok"}']["f:env"] == {
        ".": {},
        'k:{"name":"A"}': {},
    }


def test_a_custom_resource_without_a_schema() -> None:
    widget = {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "w", "labels": {"a": "b"}, "finalizers": ["x"]},
        "spec": {"size": 3, "parts": [{"name": "a"}], "more": {"deep": {"er": None}}},
        "status": {"ready": True},
    }
    live = _write(None, widget, WIDGETS)
    assert live["metadata"]["managedFields"][0]["fieldsV1"] == {
        "f:metadata": {"f:finalizers": {".": {}, 'v:"x"': {}}, "f:labels": {".": {}, "f:a": {}}},
        "f:spec": {
            ".": {},
            "f:more": {".": {}, "f:deep": {".": {}, "f:er": {}}},
            "f:parts": {},
            "f:size": {},
        },
    }
    new = copy.deepcopy(live)
    new["spec"]["more"] = 3
    new["status"] = {"ready": False}
    listed = _write(live, new, WIDGETS, manager="x", subresource="status")["metadata"]["managedFields"]
    assert [entry["fieldsV1"] for entry in listed if entry["manager"] == "x"] == [
        {"f:status": {"f:ready": {}}}
    ]
    listed = _write(live, new, WIDGETS, manager="x")["metadata"]["managedFields"]
    assert [entry["fieldsV1"] for entry in listed if entry["manager"] == "x"] == [{"f:spec": {"f:more": {}}}]


DATA_MAPS = st.dictionaries(st.text("abcde", min_size=1, max_size=1), st.sampled_from("12"), min_size=1)


@given(st.lists(st.tuples(DATA_MAPS, st.sampled_from(["x", "y", "z"])), min_size=1, max_size=6))
def test_every_field_has_one_updater_at_most_and_none_outlives_it(
    writes: list[tuple[dict[str, str], str]],
) -> None:
    live: dict[str, Any] | None = None
    for data, manager in writes:
        before = (live or {}).get("data", {})
        live = _write(live, _config_map(**data), manager=manager)
        owned = _owned(live)
        owners = [key for keys in owned.values() for key in keys]
        assert sorted(owners) == sorted(data)
        changed = [key for key, value in data.items() if before.get(key) != value]
        assert all(key in owned[manager] for key in changed)


NAMES = st.sampled_from(["a", "b", "c"])
ENV = st.lists(st.fixed_dictionaries({"name": NAMES, "value": NAMES}), unique_by=lambda env: env["name"])
SPECS = st.fixed_dictionaries(
    {
        "containers": st.lists(
            st.fixed_dictionaries(
                {"name": NAMES}, optional={"image": NAMES, "env": ENV, "args": st.lists(NAMES)}
            ),
            unique_by=lambda container: container["name"],
            min_size=1,
        )
    },
    optional={
        "nodeSelector": st.dictionaries(NAMES, NAMES),
        "nodeName": NAMES,
        "securityContext": st.just({}),
    },
)


@pytest.mark.slow
@settings(max_examples=60)
@given(st.lists(st.tuples(SPECS, st.sampled_from(["x", "y"])), min_size=1, max_size=4))
def test_all_managers_together_own_all_that_is_there(writes: list[tuple[dict[str, Any], str]]) -> None:
    live: dict[str, Any] | None = None
    for spec, manager in writes:
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
        live = _write(live, pod, PODS, manager=manager)
        owned: dict[str, Any] = {}
        for entry in live["metadata"]["managedFields"]:
            owned = union(owned, entry["fieldsV1"])
        fresh = track_update(None, pod, PODS, manager="x", now=NOW)
        assert [owned] == [entry["fieldsV1"] for entry in fresh]


def test_a_resize_owns_sizes_only() -> None:
    pod, _ = _recorded("pod")
    live = _write(None, pod, PODS)
    new = copy.deepcopy(live)
    new["metadata"]["labels"]["x"] = "y"
    new["spec"]["containers"][0]["image"] = "other"
    new["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "2"}}
    listed = _write(live, new, PODS, manager="scaler", subresource="resize")["metadata"]["managedFields"]
    assert [entry["fieldsV1"] for entry in listed if entry["manager"] == "scaler"] == [
        {
            "f:spec": {
                "f:containers": {'k:{"name":"ok"}': {"f:resources": {"f:limits": {".": {}, "f:cpu": {}}}}}
            }
        }
    ]
