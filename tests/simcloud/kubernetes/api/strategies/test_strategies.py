"""What the server keeps, clears and counts around a write."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from simcloud.kubernetes.api.defaults import apply_defaults
from simcloud.kubernetes.api.objects import copy
from simcloud.kubernetes.api.resources import Catalogue, Resource, Subresource
from simcloud.kubernetes.api.strategies import (
    prepare_create,
    prepare_ephemeral_containers,
    prepare_finalize,
    prepare_resize,
    prepare_status_update,
    prepare_update,
)
from tests.simcloud.kubernetes.api.defaults.generated import objects
from tests.simcloud.kubernetes.api.defaults.recordings import Recording, recordings

CATALOGUE = Catalogue()
BORN = "2026-01-01T00:00:00Z"
LATER = "2026-01-01T00:05:00Z"


def resource(plural: str, group: str = "") -> Resource:
    return CATALOGUE.find(plural, group)


def make(of: Resource, **fields: Any) -> dict[str, Any]:
    """An object ready to be created."""
    metadata = {"name": "x", "uid": "u-1", "creationTimestamp": BORN, **fields.pop("metadata", {})}
    obj = {"apiVersion": of.api_version, "kind": of.kind, "metadata": metadata, **copy(fields)}
    if of.custom is None:
        apply_defaults(of, obj)
    return obj


def created(of: Resource, **fields: Any) -> dict[str, Any]:
    obj = make(of, **fields)
    prepare_create(of, obj)
    return obj


def custom(*subresources: str) -> Resource:
    parts = {name: Subresource(name, "example.com", "v1", "Foo", ("get",)) for name in subresources}
    return Resource(
        "example.com", "v1", "foos", "foo", "Foo", True, ("create",), subresources=parts, custom={}
    )


@pytest.mark.slow
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(objects())
def test_what_is_created_is_complete_and_writing_it_again_changes_nothing(
    made: tuple[Resource, dict[str, Any]],
) -> None:
    of, obj = made
    apply_defaults(of, obj)
    prepare_create(of, obj)
    stored = copy(obj)
    apply_defaults(of, obj)
    assert obj == stored
    again = copy(stored)
    prepare_update(of, again, stored)
    assert again == stored
    prepare_status_update(of, again, stored)
    assert again == stored


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(objects(), objects())
def test_the_stored_object_is_never_changed(
    one: tuple[Resource, dict[str, Any]], two: tuple[Resource, dict[str, Any]]
) -> None:
    of, old = one
    apply_defaults(of, old)
    prepare_create(of, old)
    before = copy(old)
    new = {
        **copy(old),
        **{field: value for field, value in two[1].items() if field in ("status", "metadata")},
    }
    prepare_update(of, new, old)
    apply_defaults(of, new)
    prepare_status_update(of, new, old)
    apply_defaults(of, new)
    assert old == before
    assert new["metadata"].get("generation") == old["metadata"].get("generation") or of.key == (
        "apps",
        "deployments",
    )


def test_what_later_rules_may_change_is_not_shared_with_the_stored_object() -> None:
    of = resource("pods")
    old = created(of, metadata={"ownerReferences": [{"name": "o"}]}, spec={"containers": [{"name": "a"}]})
    before = copy(old)
    new = make(of)
    prepare_update(of, new, old)
    new["status"]["phase"] = "Changed"
    new["spec"]["restartPolicy"] = "Changed"
    new = make(of)
    prepare_status_update(of, new, old)
    new["status"]["phase"] = "Changed"
    assert new["spec"] is old["spec"]
    assert old == before


@pytest.mark.parametrize("recording", recordings(), ids=str)
def test_kinds_have_a_generation_if_the_recorded_ones_do(recording: Recording) -> None:
    obj = copy(recording.recorded)
    obj["metadata"].pop("generation", None)
    of = CATALOGUE.of_kind(obj["apiVersion"], obj["kind"])
    assert of is not None
    prepare_create(of, obj)
    assert ("generation" in obj["metadata"]) == ("generation" in recording.recorded["metadata"])


def test_a_job_is_recorded_with_the_labels_and_the_selector_made_from_its_uid() -> None:
    recording = next(one for one in recordings() if one.recorded["kind"] == "Job")
    job = copy(recording.manifest)
    job["metadata"]["uid"] = recording.recorded["metadata"]["uid"]
    of = resource("jobs", "batch")
    apply_defaults(of, job)
    prepare_create(of, job)
    assert job["spec"] == recording.recorded["spec"]
    assert job["metadata"]["labels"] == recording.recorded["metadata"]["labels"]
    assert job["status"] == {}


def test_a_job_selected_by_hand_gets_no_labels() -> None:
    spec = {"manualSelector": True, "selector": {"matchLabels": {"a": "b"}}}
    job = created(resource("jobs", "batch"), spec=spec)
    assert job["spec"]["selector"] == {"matchLabels": {"a": "b"}}
    assert job["spec"]["template"]["metadata"] == {}


@pytest.mark.parametrize("recording", [one for one in recordings() if one.recorded["kind"] == "Pod"], ids=str)
def test_a_pod_starts_pending_in_the_recorded_class_of_service(recording: Recording) -> None:
    pod = copy(recording.recorded)
    prepare_create(resource("pods"), pod)
    assert pod["status"] == {"phase": "Pending", "qosClass": recording.recorded["status"]["qosClass"]}


def limits(**amounts: str) -> dict[str, Any]:
    return {"name": "a", "resources": {"limits": amounts}}


@pytest.mark.parametrize(
    ("containers", "qos"),
    [
        ([limits(cpu="1", memory="1Gi")], "Guaranteed"),
        ([limits(cpu="1", memory="1Gi"), limits(cpu="1")], "Burstable"),
        ([limits(cpu="1")], "Burstable"),
        (
            [{"name": "a", "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2", "memory": "1"}}}],
            "Burstable",
        ),
        ([{"name": "a", "resources": {"limits": {"example.com/gpu": "1"}}}], "BestEffort"),
        ([{"name": "a", "resources": {"requests": {"cpu": "0"}}}], "BestEffort"),
    ],
)
def test_the_class_of_service(containers: list[dict[str, Any]], qos: str) -> None:
    assert created(resource("pods"), spec={"containers": containers})["status"]["qosClass"] == qos


def test_resources_of_the_pod_decide_over_those_of_its_containers() -> None:
    spec = {"resources": {"limits": {"cpu": "1", "memory": "1Gi"}}, "containers": [{"name": "a"}]}
    assert created(resource("pods"), spec=spec)["status"]["qosClass"] == "Guaranteed"


def test_a_gated_pod_says_why_it_waits() -> None:
    pod = created(resource("pods"), spec={"schedulingGates": [{"name": "g"}]})
    assert pod["status"]["conditions"] == [
        {
            "type": "PodScheduled",
            "status": "False",
            "lastProbeTime": None,
            "lastTransitionTime": BORN,
            "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
        }
    ]


def test_a_pods_own_labels_join_the_selectors_that_ask_for_them() -> None:
    term = {
        "topologyKey": "k",
        "labelSelector": {},
        "matchLabelKeys": ["v"],
        "mismatchLabelKeys": ["t", "absent"],
    }
    spec = {
        "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}},
        "topologySpreadConstraints": [
            {"labelSelector": {}, "matchLabelKeys": ["v"]},
            {"matchLabelKeys": ["v"]},
        ],
    }
    pod = created(resource("pods"), metadata={"labels": {"v": "1", "t": "2"}}, spec=spec)
    found = pod["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0]
    by_version = {"key": "v", "operator": "In", "values": ["1"]}
    assert found["labelSelector"]["matchExpressions"] == [
        by_version,
        {"key": "t", "operator": "NotIn", "values": ["2"]},
    ]
    spread = pod["spec"]["topologySpreadConstraints"]
    assert spread[0]["labelSelector"]["matchExpressions"] == [by_version]
    assert "labelSelector" not in spread[1]


def test_nobody_creates_a_status_or_a_deleted_object() -> None:
    deployment = created(
        resource("deployments", "apps"),
        metadata={"deletionTimestamp": BORN, "deletionGracePeriodSeconds": 5, "generation": 7},
        status={"replicas": 3},
    )
    assert deployment["status"] == {}
    assert deployment["metadata"] == {"name": "x", "uid": "u-1", "creationTimestamp": BORN, "generation": 1}


def test_a_node_registers_with_its_status() -> None:
    node = created(resource("nodes"), status={"capacity": {"cpu": "2"}})
    assert node["status"]["capacity"] == node["status"]["allocatable"] == {"cpu": "2"}


def test_a_new_namespace_is_active_and_held_by_its_contents() -> None:
    namespace = created(resource("namespaces"), status={"phase": "Terminating"})
    assert namespace["spec"] == {"finalizers": ["kubernetes"]}
    assert namespace["status"] == {"phase": "Active"}
    assert namespace["metadata"]["labels"] == {"kubernetes.io/metadata.name": "x"}


@pytest.mark.parametrize(
    ("plural", "group", "status"),
    [
        ("persistentvolumes", "", {"phase": "Pending", "lastPhaseTransitionTime": BORN}),
        ("persistentvolumeclaims", "", {"phase": "Pending"}),
        ("services", "", {"loadBalancer": {}}),
        ("statefulsets", "apps", {"replicas": 0, "availableReplicas": 0}),
        ("horizontalpodautoscalers", "autoscaling", {"desiredReplicas": 0, "currentMetrics": None}),
        ("cronjobs", "batch", {}),
    ],
)
def test_the_first_status(plural: str, group: str, status: dict[str, Any]) -> None:
    assert created(resource(plural, group), status={"conditions": [{"type": "x"}]})["status"] == status


def test_an_update_keeps_status_and_identity_and_counts_changes_of_the_spec() -> None:
    of = resource("replicasets", "apps")
    old = created(of, metadata={"deletionTimestamp": LATER, "deletionGracePeriodSeconds": 30})
    old["metadata"] |= {"deletionTimestamp": LATER, "deletionGracePeriodSeconds": 30}
    old["status"] = {"replicas": 1}
    new = make(of, spec={"replicas": 2}, status={"replicas": 9})
    for field in ("uid", "creationTimestamp"):
        del new["metadata"][field]
    new["metadata"]["generation"] = 40
    prepare_update(of, new, old)
    assert new["status"] == {"replicas": 1}
    assert new["metadata"] == {**old["metadata"], "generation": 2}


@pytest.mark.parametrize(
    ("plural", "group", "change", "counts"),
    [
        ("deployments", "apps", {"metadata": {"annotations": {"a": "b"}}}, True),
        ("deployments", "apps", {"metadata": {"labels": {"a": "b"}}}, False),
        ("replicasets", "apps", {"metadata": {"annotations": {"a": "b"}}}, False),
        ("endpointslices", "discovery.k8s.io", {"metadata": {"labels": {"a": "b"}}}, True),
        ("endpointslices", "discovery.k8s.io", {"endpoints": [{"addresses": ["10.0.0.1"]}]}, True),
        (
            "validatingwebhookconfigurations",
            "admissionregistration.k8s.io",
            {"webhooks": [{"name": "a"}]},
            True,
        ),
        (
            "networkpolicies",
            "networking.k8s.io",
            {"spec": {"podSelector": {"matchLabels": {"a": "b"}}}},
            True,
        ),
        ("priorityclasses", "scheduling.k8s.io", {"value": 5}, False),
    ],
)
def test_what_counts_as_a_new_generation(
    plural: str, group: str, change: dict[str, Any], counts: bool
) -> None:
    of = resource(plural, group)
    old = created(of)
    new = make(of, **change)
    prepare_update(of, new, old)
    assert new["metadata"]["generation"] == (2 if counts else 1)


@pytest.mark.parametrize(
    ("plural", "change"), [("services", {"spec": {"type": "NodePort"}}), ("configmaps", {"data": {"a": "b"}})]
)
def test_some_kinds_have_no_generation(plural: str, change: dict[str, Any]) -> None:
    of = resource(plural)
    new = make(of, **change)
    prepare_update(of, new, created(of))
    assert "generation" not in new["metadata"]


def test_a_daemon_set_counts_its_templates_in_an_annotation() -> None:
    of = resource("daemonsets", "apps")
    name = "deprecated.daemonset.template.generation"
    old = created(of)
    assert old["metadata"]["annotations"] == {name: "1"}
    new = make(of, metadata={"annotations": {name: "99"}}, spec={"minReadySeconds": 5})
    prepare_update(of, new, old)
    assert (new["metadata"]["annotations"][name], new["metadata"]["generation"]) == ("1", 2)
    new = make(of, spec={"template": {"spec": {"restartPolicy": "Never"}}})
    prepare_update(of, new, old)
    assert (new["metadata"]["annotations"][name], new["metadata"]["generation"]) == ("2", 2)


def test_finalizers_of_a_namespace_are_written_by_finalize_only() -> None:
    of = resource("namespaces")
    old = created(of)
    new = make(of, spec={})
    prepare_update(of, new, old)
    assert new["spec"] == {"finalizers": ["kubernetes"]}
    new = make(of, spec={}, status={"phase": "Terminating"})
    prepare_finalize(new, old)
    assert new["spec"] == {}
    assert new["status"] == {"phase": "Active"}


def test_a_service_account_keeps_names_of_secrets_only() -> None:
    account = created(
        resource("serviceaccounts"), secrets=[{"name": "s", "namespace": "n"}, {"kind": "Secret"}]
    )
    assert account["secrets"] == [{"name": "s"}, {}]


NODE_PORT = {
    "type": "NodePort",
    "clusterIP": "10.96.0.9",
    "clusterIPs": ["10.96.0.9"],
    "ipFamilies": ["IPv4"],
    "ipFamilyPolicy": "SingleStack",
    "ports": [{"name": "a", "port": 80, "nodePort": 30080}, {"name": "b", "port": 81, "nodePort": 30081}],
}


def updated_service(spec: dict[str, Any]) -> dict[str, Any]:
    of = resource("services")
    new = make(of, spec=spec)
    prepare_update(of, new, created(of, spec=NODE_PORT))
    found: dict[str, Any] = new["spec"]
    return found


def test_a_service_written_again_keeps_what_was_allocated() -> None:
    ports = [{"name": "b", "port": 81}, {"name": "a", "port": 8080}, {"name": "c", "port": 82}]
    spec = updated_service({"type": "NodePort", "ports": ports})
    assert (spec["clusterIP"], spec["clusterIPs"], spec["ipFamilies"]) == (
        "10.96.0.9",
        ["10.96.0.9"],
        ["IPv4"],
    )
    assert [port.get("nodePort") for port in spec["ports"]] == [30081, 30080, None]


def test_a_node_port_that_another_port_took_over_is_not_given_twice() -> None:
    spec = updated_service(
        {
            "type": "NodePort",
            "ports": [{"name": "a", "port": 80}, {"name": "b", "port": 81, "nodePort": 30080}],
        }
    )
    assert [port.get("nodePort") for port in spec["ports"]] == [None, 30080]


def test_a_service_that_changes_its_type_gives_back_what_it_no_longer_uses() -> None:
    spec = updated_service({**NODE_PORT, "type": "ClusterIP", "externalTrafficPolicy": "Cluster"})
    assert [port.get("nodePort") for port in spec["ports"]] == [None, None]
    assert "externalTrafficPolicy" not in spec
    assert spec["clusterIP"] == "10.96.0.9"
    spec = updated_service({**NODE_PORT, "type": "ExternalName"})
    assert not {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"} & spec.keys()


def test_a_service_that_balances_no_more_has_no_balancer_in_its_status() -> None:
    of = resource("services")
    old = created(of, spec={"type": "LoadBalancer"})
    old["status"] = {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}
    new = make(of, spec={"type": "LoadBalancer"})
    prepare_update(of, new, old)
    assert new["status"] == old["status"]
    new = make(of, spec={"type": "ClusterIP"})
    prepare_update(of, new, old)
    assert new["status"] == {"loadBalancer": {}}


def test_a_node_port_changed_together_with_the_type_is_left_for_validation() -> None:
    ports = [{"name": "a", "port": 80, "nodePort": 31000}]
    assert (
        updated_service({**NODE_PORT, "type": "ClusterIP", "ports": ports})["ports"][0]["nodePort"] == 31000
    )


def test_one_address_is_also_the_list_of_addresses() -> None:
    service = created(resource("services"), spec={"clusterIP": "None"})
    assert service["spec"]["clusterIPs"] == ["None"]
    assert updated_service({**NODE_PORT, "clusterIP": "None"})["clusterIPs"] == ["None"]


def test_the_source_of_a_claim_is_said_in_both_ways() -> None:
    of = resource("persistentvolumeclaims")
    source = {"kind": "PersistentVolumeClaim", "name": "a"}
    printed = {"apiGroup": None, **source}
    assert created(of, spec={"dataSource": source})["spec"]["dataSourceRef"] == printed
    assert created(of, spec={"dataSourceRef": source})["spec"]["dataSource"] == printed
    assert "dataSource" not in created(of, spec={"dataSourceRef": {**source, "namespace": "n"}})["spec"]
    assert "dataSource" not in created(of, spec={"dataSource": {"kind": "Tape", "name": "a"}})["spec"]


def test_a_status_update_changes_the_status_and_labels_of_most_kinds() -> None:
    of = resource("replicasets", "apps")
    old = created(of)
    new = make(
        of, metadata={"labels": {"a": "b"}, "generation": 5}, spec={"replicas": 9}, status={"replicas": 1}
    )
    prepare_status_update(of, new, old)
    assert new["spec"] == old["spec"]
    assert new["status"] == {"replicas": 1}
    assert new["metadata"] == {**old["metadata"], "labels": {"a": "b"}}


USER_METADATA: dict[str, Any] = {
    "labels": {"a": "b"},
    "annotations": {"a": "b"},
    "finalizers": ["f.io/x"],
    "ownerReferences": [{"name": "o"}],
}


@pytest.mark.parametrize(
    ("plural", "group", "refused"),
    [
        ("services", "", ()),
        ("deployments", "apps", ("labels",)),
        ("pods", "", ("ownerReferences",)),
        ("customresourcedefinitions", "apiextensions.k8s.io", tuple(USER_METADATA)),
    ],
)
def test_metadata_that_a_status_update_may_change(plural: str, group: str, refused: tuple[str, ...]) -> None:
    of = resource(plural, group)
    new = make(of, metadata=USER_METADATA)
    prepare_status_update(of, new, created(of))
    assert [field for field in USER_METADATA if field not in new["metadata"]] == list(refused)


def test_the_status_of_a_pod_keeps_what_the_kubelet_forgot() -> None:
    of = resource("pods")
    old = created(of)
    old["status"] |= {"observedGeneration": 3, "conditions": [{"type": "Ready", "observedGeneration": 2}]}
    status = {
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "True"}, {"type": "Initialized"}],
    }
    new = make(of, status=status)
    prepare_status_update(of, new, old)
    assert (new["status"]["qosClass"], new["status"]["observedGeneration"]) == ("BestEffort", 3)
    assert [one.get("observedGeneration") for one in new["status"]["conditions"]] == [2, None]


def test_a_volume_notes_when_its_phase_changed() -> None:
    of = resource("persistentvolumes")
    old = created(of)
    new = make(of, status={"phase": "Bound", "lastPhaseTransitionTime": BORN})
    prepare_status_update(of, new, old, now=LATER)
    assert new["status"] == {"phase": "Bound", "lastPhaseTransitionTime": LATER}
    again = copy(new)
    prepare_status_update(of, again, new, now="2027-01-01T00:00:00Z")
    assert again["status"] == new["status"]


def test_ephemeral_containers_are_all_that_their_subresource_changes() -> None:
    of = resource("pods")
    old = created(of, spec={"containers": [{"name": "a", "image": "a:1"}]})
    debug = {"name": "debug", "image": "busybox:1"}
    spec = {"containers": [{"name": "a", "image": "evil"}], "ephemeralContainers": [debug]}
    new = make(of, metadata={"labels": {"a": "b"}}, spec=spec, status={"phase": "Failed"})
    wanted = copy(new["spec"]["ephemeralContainers"])
    prepare_ephemeral_containers(new, old)
    assert new == {
        **old,
        "metadata": {**old["metadata"], "generation": 2},
        "spec": {**old["spec"], "ephemeralContainers": wanted},
    }


def test_a_resize_changes_resources_only() -> None:
    of = resource("pods")
    old = created(of, spec={"containers": [{"name": "a", "image": "a:1"}]})
    container = {"name": "a", "image": "evil", "resources": {"requests": {"cpu": "1"}}}
    new = make(of, metadata={"labels": {"a": "b"}}, spec={"nodeName": "n", "containers": [container]})
    prepare_resize(new, old)
    resized = {**old["spec"]["containers"][0], "resources": {"requests": {"cpu": "1"}}}
    assert new == {
        **old,
        "metadata": {**old["metadata"], "generation": 2},
        "spec": {**old["spec"], "containers": [resized]},
    }


@pytest.mark.parametrize("containers", [[], [{"name": "b"}], [{"name": "a"}, {"name": "b"}]])
def test_a_resize_that_changes_the_containers_is_left_for_validation(
    containers: list[dict[str, Any]],
) -> None:
    of = resource("pods")
    old = created(of, spec={"containers": [{"name": "a", "image": "a:1"}]})
    new = make(of, spec={"containers": containers})
    wanted = copy(new["spec"].get("containers"))
    prepare_resize(new, old)
    assert new["spec"].get("containers") == wanted


def test_versions_that_were_stored_are_remembered() -> None:
    of = resource("customresourcedefinitions", "apiextensions.k8s.io")
    old = created(of, spec={"versions": [{"name": "v1", "storage": True}]})
    assert old["status"]["storedVersions"] == ["v1"]
    new = make(of, spec={"versions": [{"name": "v1"}, {"name": "v2", "storage": True}]})
    prepare_update(of, new, old)
    assert new["status"]["storedVersions"] == ["v1", "v2"]


def test_a_local_api_service_is_available_at_once() -> None:
    of = resource("apiservices", "apiregistration.k8s.io")
    assert created(of)["status"]["conditions"][0]["reason"] == "Local"
    assert created(of, spec={"service": {"name": "s"}})["status"] == {}


def test_a_custom_resource_without_status_subresource_counts_every_change_outside_metadata() -> None:
    of = custom()
    old = created(of, status={"ready": True})
    assert (old["status"], old["metadata"]["generation"]) == ({"ready": True}, 1)
    new = make(of, status={"ready": False})
    prepare_update(of, new, old)
    assert (new["status"], new["metadata"]["generation"]) == ({"ready": False}, 2)
    new = make(of, status={"ready": True}, metadata={"labels": {"a": "b"}})
    prepare_update(of, new, old)
    assert new["metadata"]["generation"] == 1


def test_a_custom_resource_with_status_subresource_keeps_status_apart() -> None:
    of = custom("status")
    old = created(of, spec={"size": 1}, status={"ready": True})
    assert "status" not in old
    new = make(of, spec={"size": 2}, status={"ready": True})
    prepare_update(of, new, old)
    assert "status" not in new
    assert new["metadata"]["generation"] == 2
    new = make(
        of, spec={"size": 3}, status={"ready": True}, metadata={"labels": {"a": "b"}, "managedFields": [{}]}
    )
    prepare_status_update(of, new, old)
    assert new == {**old, "status": {"ready": True}, "metadata": {**old["metadata"], "managedFields": [{}]}}
