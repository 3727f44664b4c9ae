"""Create, read, update, patch and delete, in process: what every client of the API relies on."""

from __future__ import annotations

from typing import Any

import pytest

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.errors import (
    AlreadyExists,
    ApiError,
    BadRequest,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
)
from simcloud.kubernetes.api.objects import copy
from simcloud.kubernetes.api.options import Caller, DeleteOptions, ListOptions, WriteOptions
from simcloud.kubernetes.api.patch import PatchType
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.verbs.patches import Patch

Data = dict[str, Any]


def config(name: str, **data: str) -> Data:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def deployment(name: str, **spec: Any) -> Data:
    labels = {"app": name}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "main", "image": "nginx:1.19"}]},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": labels}, "template": template, **spec},
    }


def service(name: str, **spec: Any) -> Data:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"ports": [{"port": 80}], **spec},
    }


def resource(api: Api, plural: str, group: str = "") -> Resource:
    return api.catalogue.find(plural, group)


def test_a_created_object_has_what_the_server_adds(api: Api) -> None:
    stored = api.create(resource(api, "configmaps"), "demo", config("c", a="b"), Caller(manager="me"))
    metadata = stored["metadata"]
    assert metadata["namespace"] == "demo"
    assert metadata["creationTimestamp"] == "2026-01-05T09:00:00Z"
    assert len(metadata["uid"]) == 36
    assert metadata["resourceVersion"] == str(api.log.revision)
    assert metadata["managedFields"][0]["manager"] == "me"
    assert api.get(resource(api, "configmaps"), "demo", "c") == stored


def test_a_name_is_taken_once(api: Api) -> None:
    configs = resource(api, "configmaps")
    api.create(configs, "demo", config("c"))
    with pytest.raises(AlreadyExists, match='configmaps "c" already exists'):
        api.create(configs, "demo", config("c"))


def test_a_generated_name_is_free(api: Api) -> None:
    configs = resource(api, "configmaps")
    data = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "c-"}}
    names = {api.create(configs, "demo", data)["metadata"]["name"] for _ in range(20)}
    assert len(names) == 20
    assert all(len(name) == 7 and name.startswith("c-") for name in names)


def test_nothing_is_created_in_a_namespace_that_is_not_there(api: Api) -> None:
    with pytest.raises(NotFound, match='namespaces "nowhere" not found'):
        api.create(resource(api, "configmaps"), "nowhere", config("c"))


def test_the_namespace_of_the_object_is_that_of_the_request(api: Api) -> None:
    data = config("c")
    data["metadata"]["namespace"] = "other"
    with pytest.raises(BadRequest, match="does not match the namespace sent on the request"):
        api.create(resource(api, "configmaps"), "demo", data)


def test_a_dry_run_leaves_nothing(api: Api) -> None:
    before = api.log.hash()
    services = resource(api, "services")
    shown = api.create(services, "demo", service("s"), options=WriteOptions(dry_run=True))
    assert shown["spec"]["clusterIP"].startswith("10.96.")
    assert api.log.hash() == before
    with pytest.raises(NotFound):
        api.get(services, "demo", "s")


def test_a_stale_update_conflicts(api: Api) -> None:
    configs = resource(api, "configmaps")
    first = api.create(configs, "demo", config("c", a="1"))
    newer = copy(first)
    newer["data"]["a"] = "2"
    api.update(configs, "demo", "c", newer)
    with pytest.raises(Conflict, match="please apply your changes to the latest version and try again"):
        api.update(configs, "demo", "c", newer)


def test_an_update_that_changes_nothing_is_no_revision(api: Api) -> None:
    configs = resource(api, "configmaps")
    stored = api.create(configs, "demo", config("c", a="1"), Caller(manager="me"))
    assert api.update(configs, "demo", "c", copy(stored), Caller(manager="other")) == stored
    assert api.log.revision == int(stored["metadata"]["resourceVersion"])


def test_status_and_spec_have_doors_of_their_own(api: Api) -> None:
    deployments = resource(api, "deployments", "apps")
    stored = copy(api.create(deployments, "demo", deployment("web")))
    stored["status"] = {"replicas": 3, "observedGeneration": 1}
    stored["spec"]["replicas"] = 9
    by_status = api.update(deployments, "demo", "web", stored, subresource="status")
    assert by_status["spec"]["replicas"] == 1
    assert by_status["status"]["replicas"] == 3
    assert by_status["metadata"]["generation"] == 1
    changed = copy(by_status)
    changed["spec"]["replicas"] = 2
    changed["status"] = {}
    by_spec = api.update(deployments, "demo", "web", changed)
    assert by_spec["status"]["replicas"] == 3
    assert by_spec["metadata"]["generation"] == 2


def test_scale_is_a_view_of_replicas(api: Api) -> None:
    deployments = resource(api, "deployments", "apps")
    api.create(deployments, "demo", deployment("web"))
    scale = copy(api.subresource("get", deployments, "demo", "web", "scale"))
    assert scale["status"]["selector"] == "app=web"
    scale["spec"]["replicas"] = 5
    api.subresource("update", deployments, "demo", "web", "scale", scale)
    assert api.get(deployments, "demo", "web")["spec"]["replicas"] == 5


def test_a_broken_rule_is_told_and_nothing_is_stored(api: Api) -> None:
    before = api.log.revision
    bad = deployment("web", replicas=-1)
    with pytest.raises(Invalid) as refused:
        api.create(resource(api, "deployments", "apps"), "demo", bad)
    assert refused.value.message == (
        'Deployment.apps "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0'
    )
    assert api.log.revision == before


def test_unknown_fields_by_the_callers_wish(api: Api) -> None:
    deployments = resource(api, "deployments", "apps")
    bad = deployment("web", replica=3)
    with pytest.raises(BadRequest, match=r'strict decoding error: unknown field "spec.replica"'):
        api.create(deployments, "demo", bad, options=WriteOptions(field_validation="Strict"))
    warned = WriteOptions(field_validation="Warn")
    stored = api.create(deployments, "demo", bad, options=warned)
    assert warned.warnings == ['unknown field "spec.replica"']
    assert "replica" not in stored["spec"]


def test_services_get_addresses_and_keep_them(api: Api) -> None:
    services = resource(api, "services")
    stored = copy(api.create(services, "demo", service("s", type="NodePort")))
    address, port = stored["spec"]["clusterIP"], stored["spec"]["ports"][0]["nodePort"]
    assert 30000 <= port <= 32767
    stored["spec"]["selector"] = {"app": "web"}
    again = api.update(services, "demo", "s", stored)
    assert (again["spec"]["clusterIP"], again["spec"]["ports"][0]["nodePort"]) == (address, port)
    with pytest.raises(Invalid, match="provided IP is already allocated"):
        api.create(services, "demo", service("t", clusterIP=address))
    with pytest.raises(Invalid, match="provided port is already allocated"):
        api.create(services, "demo", service("t", type="NodePort", ports=[{"port": 80, "nodePort": port}]))
    api.delete(services, "demo", "s")
    assert api.create(services, "demo", service("t", clusterIP=address))["spec"]["clusterIP"] == address


def test_a_page_is_a_view_of_one_revision(api: Api) -> None:
    configs = resource(api, "configmaps")
    for number in range(5):
        api.create(configs, "demo", config(f"c{number}"))
    page = api.list(configs, "demo", ListOptions(limit=2))
    assert page["metadata"]["remainingItemCount"] == 3
    api.delete(configs, "demo", "c3")
    api.create(configs, "demo", config("c9"))
    names = [one["metadata"]["name"] for one in page["items"]]
    while token := page["metadata"].get("continue"):
        page = api.list(configs, "demo", ListOptions(limit=2, token=token))
        names += [one["metadata"]["name"] for one in page["items"]]
    assert names == ["c0", "c1", "c2", "c3", "c4"]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (ListOptions(labels="tier=front"), ["a"]),
        (ListOptions(labels="tier in (front, back)"), ["a", "b"]),
        (ListOptions(labels="!tier"), ["c"]),
        (ListOptions(fields="metadata.name=b"), ["b"]),
        (ListOptions(fields="metadata.name!=b"), ["a", "c"]),
    ],
)
def test_selectors(api: Api, options: ListOptions, names: list[str]) -> None:
    configs = resource(api, "configmaps")
    for name, labels in (("a", {"tier": "front"}), ("b", {"tier": "back"}), ("c", {})):
        data = config(name)
        data["metadata"]["labels"] = labels
        api.create(configs, "demo", data)
    chosen = api.list(configs, "demo", options)["items"]
    assert [one["metadata"]["name"] for one in chosen] == names


def test_an_object_with_finalizers_goes_with_the_last_one(api: Api) -> None:
    configs = resource(api, "configmaps")
    data = config("c")
    data["metadata"]["finalizers"] = ["example.com/wait"]
    api.create(configs, "demo", data)
    outcome = api.delete(configs, "demo", "c")
    assert not outcome.gone
    marked = api.get(configs, "demo", "c")
    assert marked["metadata"]["deletionTimestamp"] == "2026-01-05T09:00:00Z"
    free = copy(marked)
    free["metadata"]["finalizers"] = []
    api.update(configs, "demo", "c", free)
    with pytest.raises(NotFound):
        api.get(configs, "demo", "c")


def test_preconditions_of_a_deletion(api: Api) -> None:
    configs = resource(api, "configmaps")
    stored = api.create(configs, "demo", config("c"))
    with pytest.raises(Conflict, match="the UID in the precondition"):
        api.delete(configs, "demo", "c", DeleteOptions(uid="other"))
    assert api.delete(configs, "demo", "c", DeleteOptions(uid=stored["metadata"]["uid"])).gone


def test_some_namespaces_stay(api: Api) -> None:
    with pytest.raises(Forbidden, match="this namespace may not be deleted"):
        api.delete(resource(api, "namespaces"), "", "kube-system")


def test_a_collection_is_deleted_by_selection(api: Api) -> None:
    configs = resource(api, "configmaps")
    for name in ("a", "b"):
        api.create(configs, "demo", config(name))
    gone = api.delete_collection(configs, "demo", ListOptions(fields="metadata.name=a"))
    assert [one["metadata"]["name"] for one in gone["items"]] == ["a"]
    assert [one["metadata"]["name"] for one in api.list(configs, "demo")["items"]] == ["b"]


def test_apply_makes_and_changes_and_removes(api: Api) -> None:
    configs = resource(api, "configmaps")

    def apply(manager: str, force: bool = False, **data: str) -> Data:
        change = Patch(PatchType.APPLY, config("c", **data))
        return api.patch(configs, "demo", "c", change, Caller(manager=manager), WriteOptions(force=force))

    assert apply("me", a="1", b="2")["data"] == {"a": "1", "b": "2"}
    assert apply("me", a="1")["data"] == {"a": "1"}
    with pytest.raises(ApiError, match=r'conflict with "me": \.data\.a'):
        apply("other", a="9")
    assert apply("other", force=True, a="9")["data"] == {"a": "9"}


def test_a_kind_in_two_versions_is_one_object(api: Api) -> None:
    old = api.catalogue.at("autoscaling", "v1", "horizontalpodautoscalers")
    new = api.catalogue.at("autoscaling", "v2", "horizontalpodautoscalers")
    assert old is not None and new is not None
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"scaleTargetRef": target, "maxReplicas": 3, "targetCPUUtilizationPercentage": 80}
    data = {
        "apiVersion": "autoscaling/v1",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "h"},
        "spec": spec,
    }
    api.create(old, "demo", data)
    seen = api.get(new, "demo", "h")
    assert seen["apiVersion"] == "autoscaling/v2"
    assert seen["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"] == 80
    assert api.get(old, "demo", "h")["spec"]["targetCPUUtilizationPercentage"] == 80
    assert api.list(old, "demo")["items"][0]["apiVersion"] == "autoscaling/v1"


def test_the_log_knows_who_wrote(api: Api) -> None:
    from simcloud.kubernetes.api.access.users import User

    jane = Caller(User("jane", groups=("system:masters",)), "kubectl")
    api.create(resource(api, "configmaps"), "demo", config("c"), jane)
    assert list(api.log.history())[-1].by == "jane"
