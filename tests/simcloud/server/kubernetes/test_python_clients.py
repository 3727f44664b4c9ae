"""The Python clients that agents and operators are written with, against the served cluster."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
import yaml
from kubernetes import client, config, dynamic, watch
from kubernetes.client.exceptions import ApiException
from lightkube import Client, KubeConfig
from lightkube.core.exceptions import ApiError
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.apps_v1 import DeploymentSpec
from lightkube.models.core_v1 import Container, ContainerPort, PodSpec, PodTemplateSpec
from lightkube.models.meta_v1 import LabelSelector, ObjectMeta
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import ConfigMap, Namespace, Pod
from lightkube.types import PatchType

from tests.simcloud.server.kubernetes.served import Served

DEPLOYMENT: Any = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "labels": {"app": "web"}},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "nginx", "image": "nginx:1.19"}]},
        },
    },
}
DEFINITION: Any = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "backups.python.example"},
    "spec": {
        "group": "python.example",
        "scope": "Namespaced",
        "names": {"plural": "backups", "singular": "backup", "kind": "Backup"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {"keep": {"type": "integer", "minimum": 1, "default": 3}},
                            },
                            "status": {"type": "object", "properties": {"done": {"type": "boolean"}}},
                        },
                    }
                },
            }
        ],
    },
}
_NUMBERS = count(1)


@pytest.fixture(scope="module")
def official(served_cluster: Served) -> Iterator[client.ApiClient]:
    with config.new_client_from_config(str(served_cluster.kubeconfig)) as made:
        yield made


@pytest.fixture(scope="module")
def light(served_cluster: Served) -> Client:
    return Client(config=KubeConfig.from_file(str(served_cluster.kubeconfig)), field_manager="light")


@pytest.fixture
def space(official: client.ApiClient) -> str:
    """A namespace of this test's own."""
    name = f"python-{next(_NUMBERS)}"
    core = client.CoreV1Api(official)
    core.create_namespace({"metadata": {"name": name}})
    core.create_namespaced_service_account(name, {"metadata": {"name": "default"}})  # no loop makes it here
    return name


@pytest.fixture(scope="module")
def definition(official: client.ApiClient) -> Iterator[None]:
    api = client.ApiextensionsV1Api(official)
    made = api.create_custom_resource_definition(DEFINITION)
    assert made.spec.names.kind == "Backup"
    conditions = api.read_custom_resource_definition("backups.python.example").status.conditions
    assert {one.type: one.status for one in conditions}["Established"] == "True"
    yield
    api.delete_custom_resource_definition("backups.python.example")


# The official client.


def test_typed_objects_from_creation_to_deletion(official: client.ApiClient, space: str) -> None:
    apps = client.AppsV1Api(official)
    made = apps.create_namespaced_deployment(space, DEPLOYMENT)
    assert made.spec.strategy.rolling_update.max_surge == "25%"
    assert made.spec.template.spec.containers[0].image_pull_policy == "IfNotPresent"
    assert made.metadata.managed_fields[0].operation == "Update"
    read = apps.read_namespaced_deployment("web", space)
    assert read.to_dict() == made.to_dict()
    read.spec.replicas = 5
    replaced = apps.replace_namespaced_deployment("web", space, read)
    assert (replaced.spec.replicas, replaced.metadata.generation) == (5, 2)
    with pytest.raises(ApiException) as stale:
        apps.replace_namespaced_deployment("web", space, read)
    assert (stale.value.status, stale.value.reason) == (409, "Conflict")
    patched = apps.patch_namespaced_deployment("web", space, {"metadata": {"annotations": {"a": "b"}}})
    assert patched.metadata.annotations == {"a": "b"}
    scale = apps.read_namespaced_deployment_scale("web", space)
    assert (scale.spec.replicas, scale.status.selector) == (5, "app=web")
    scaled = apps.patch_namespaced_deployment_scale("web", space, {"spec": {"replicas": 1}})
    assert scaled.spec.replicas == 1
    listed = apps.list_namespaced_deployment(space, label_selector="app=web")
    assert [one.metadata.name for one in listed.items] == ["web"]
    gone = apps.delete_namespaced_deployment("web", space, propagation_policy="Background")
    assert gone["status"] == "Success"
    with pytest.raises(ApiException) as missing:
        apps.read_namespaced_deployment("web", space)
    assert missing.value.status == 404
    assert 'deployments.apps \\"web\\" not found' in missing.value.body


def test_secrets_and_status(official: client.ApiClient, space: str) -> None:
    core = client.CoreV1Api(official)
    core.create_namespaced_secret(space, {"metadata": {"name": "s"}, "stringData": {"password": "geheim"}})
    secret = core.read_namespaced_secret("s", space)
    assert base64.b64decode(secret.data["password"]) == b"geheim"
    core.create_namespaced_pod(
        space, {"metadata": {"name": "p"}, "spec": DEPLOYMENT["spec"]["template"]["spec"]}
    )
    condition = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    status = {"status": {"phase": "Running", "conditions": [condition]}}
    document = core.patch_namespaced_pod_status("p", space, status)
    assert document.status.phase == "Running"
    assert [
        one.metadata.name
        for one in core.list_namespaced_pod(space, field_selector="status.phase=Running").items
    ] == ["p"]


def test_pages(official: client.ApiClient, space: str) -> None:
    core = client.CoreV1Api(official)
    for number in range(7):
        core.create_namespaced_config_map(space, {"metadata": {"name": f"c{number}"}})
    seen, token = [], None
    while True:
        page = core.list_namespaced_config_map(space, limit=3, _continue=token)
        seen.append([one.metadata.name for one in page.items])
        token = page.metadata._continue
        if not token:
            break
    assert seen == [["c0", "c1", "c2"], ["c3", "c4", "c5"], ["c6"]]
    assert core.list_namespaced_config_map(space, limit=3).metadata.remaining_item_count == 4


def test_a_watch_tells_what_happens(official: client.ApiClient, space: str) -> None:
    core = client.CoreV1Api(official)
    start = core.list_namespaced_config_map(space).metadata.resource_version
    core.create_namespaced_config_map(space, {"metadata": {"name": "c"}, "data": {"k": "1"}})
    core.patch_namespaced_config_map("c", space, {"data": {"k": "2"}})
    core.delete_namespaced_config_map("c", space)
    events = []
    for event in watch.Watch().stream(
        core.list_namespaced_config_map, space, resource_version=start, timeout_seconds=5
    ):
        events.append((event["type"], event["object"].data))
        if event["type"] == "DELETED":
            break
    assert events == [("ADDED", {"k": "1"}), ("MODIFIED", {"k": "2"}), ("DELETED", {"k": "2"})]


def test_a_watch_ends_with_its_time(official: client.ApiClient, space: str) -> None:
    core = client.CoreV1Api(official)
    core.create_namespaced_config_map(space, {"metadata": {"name": "c"}})
    stream = watch.Watch().stream(core.list_namespaced_config_map, space, timeout_seconds=1)
    assert [event["type"] for event in stream] == ["ADDED"]


def test_the_dynamic_client(official: client.ApiClient, space: str, definition: None) -> None:
    door = dynamic.DynamicClient(official)
    maps = door.resources.get(api_version="v1", kind="ConfigMap")
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"a": "1"}}
    assert maps.create(body=body, namespace=space).data.a == "1"
    applied = maps.server_side_apply(
        body={**body, "data": {"b": "2"}}, name="m", namespace=space, field_manager="python"
    )
    assert applied.data.to_dict() == {"a": "1", "b": "2"}
    with pytest.raises(dynamic.exceptions.ConflictError):
        maps.server_side_apply(
            body={**body, "data": {"b": "3"}}, name="m", namespace=space, field_manager="other"
        )
    forced = maps.server_side_apply(
        body={**body, "data": {"b": "3"}},
        name="m",
        namespace=space,
        field_manager="other",
        force_conflicts=True,
    )
    assert forced.data.b == "3"
    assert [one.metadata.name for one in maps.get(namespace=space).items] == ["m"]
    maps.delete(name="m", namespace=space)
    with pytest.raises(dynamic.exceptions.NotFoundError):
        maps.get(name="m", namespace=space)
    backups = door.resources.get(api_version="python.example/v1", kind="Backup")
    backup = {"apiVersion": "python.example/v1", "kind": "Backup", "metadata": {"name": "b"}, "spec": {}}
    assert backups.create(body=backup, namespace=space).spec.keep == 3
    with pytest.raises(dynamic.exceptions.UnprocessibleEntityError):
        backups.create(body={**backup, "metadata": {"name": "c"}, "spec": {"keep": 0}}, namespace=space)


def test_custom_objects(official: client.ApiClient, space: str, definition: None) -> None:
    custom = client.CustomObjectsApi(official)
    where = ("python.example", "v1", space, "backups")
    body = {
        "apiVersion": "python.example/v1",
        "kind": "Backup",
        "metadata": {"name": "b"},
        "spec": {"keep": 5},
    }
    assert custom.create_namespaced_custom_object(*where, body)["metadata"]["generation"] == 1
    patched = custom.patch_namespaced_custom_object(*where, "b", {"spec": {"keep": 6}})
    assert (patched["spec"]["keep"], patched["metadata"]["generation"]) == (6, 2)
    done = custom.patch_namespaced_custom_object_status(*where, "b", {"status": {"done": True}})
    assert (done["status"], done["metadata"]["generation"]) == ({"done": True}, 2)
    assert len(custom.list_namespaced_custom_object(*where)["items"]) == 1
    assert custom.delete_namespaced_custom_object(*where, "b")["status"] == "Success"


def test_invalid_objects_are_explained(official: client.ApiClient, space: str) -> None:
    with pytest.raises(ApiException) as refused:
        client.CoreV1Api(official).create_namespaced_config_map(space, {"metadata": {"name": "Not_A_Name"}})
    assert refused.value.status == 422
    document = yaml.safe_load(refused.value.body)
    assert document["details"]["causes"][0]["field"] == "metadata.name"


def test_a_service_accounts_token_opens_what_its_roles_allow(
    official: client.ApiClient, served_cluster: Served, space: str
) -> None:
    core, rbac = client.CoreV1Api(official), client.RbacAuthorizationV1Api(official)
    core.create_namespaced_service_account(space, {"metadata": {"name": "robot"}})
    token = core.create_namespaced_service_account_token(
        "robot", space, {"spec": {"expirationSeconds": 3600}}
    )
    robot = client.CoreV1Api(speaking(served_cluster, token.status.token))
    with pytest.raises(ApiException) as refused:
        robot.list_namespaced_pod(space)
    assert refused.value.status == 403
    assert f"system:serviceaccount:{space}:robot" in refused.value.body
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}
    rbac.create_namespaced_role(space, {"metadata": {"name": "reader"}, "rules": [rule]})
    rbac.create_namespaced_role_binding(
        space,
        {
            "metadata": {"name": "reader"},
            "subjects": [{"kind": "ServiceAccount", "name": "robot", "namespace": space}],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
        },
    )
    assert robot.list_namespaced_pod(space).items == []
    with pytest.raises(ApiException):
        robot.list_pod_for_all_namespaces()
    review = client.AuthenticationV1Api(official).create_token_review({"spec": {"token": token.status.token}})
    assert review.status.user.username == f"system:serviceaccount:{space}:robot"
    with pytest.raises(ApiException) as unknown:
        client.CoreV1Api(speaking(served_cluster, "nonsense")).list_namespaced_pod(space)
    assert unknown.value.status == 401


def test_impersonation(official: client.ApiClient, served_cluster: Served, space: str) -> None:
    body = {"spec": {"resourceAttributes": {"verb": "delete", "resource": "nodes"}}}
    allowed = client.AuthorizationV1Api(official).create_self_subject_access_review(body)
    assert allowed.status.allowed is True
    with config.new_client_from_config(str(served_cluster.kubeconfig)) as jane:
        jane.set_default_header("Impersonate-User", "jane")
        with pytest.raises(ApiException) as refused:
            client.CoreV1Api(jane).list_namespaced_secret(space)
    assert refused.value.status == 403
    assert 'User \\"jane\\" cannot list resource \\"secrets\\"' in refused.value.body


def speaking(served: Served, token: str) -> client.ApiClient:
    """The official client with nothing but a token."""
    document = yaml.safe_load(served.kubeconfig.read_text())
    document["users"][0]["user"] = {"token": token}
    return config.new_client_from_config_dict(document)


# lightkube.


def test_lightkube_from_creation_to_deletion(light: Client, space: str) -> None:
    labels = {"app": "light"}
    pod = PodSpec(containers=[Container("main", image="nginx", ports=[ContainerPort(80)])])
    spec = DeploymentSpec(
        selector=LabelSelector(matchLabels=labels),
        template=PodTemplateSpec(metadata=ObjectMeta(labels=labels), spec=pod),
        replicas=3,
    )
    made = light.create(Deployment(metadata=ObjectMeta(name="light", namespace=space), spec=spec))
    assert made.spec.strategy.type == "RollingUpdate"
    assert light.get(Deployment, "light", namespace=space).spec.replicas == 3
    made.spec.replicas = 4
    assert light.replace(made).spec.replicas == 4
    with pytest.raises(ApiError, match=r"modified|conflict"):
        light.replace(made)
    merge = {"metadata": {"labels": {"x": "y"}}}
    assert light.patch(
        Deployment, "light", merge, namespace=space, patch_type=PatchType.MERGE
    ).metadata.labels == {"x": "y"}
    operations = [{"op": "replace", "path": "/spec/replicas", "value": 1}]
    assert (
        light.patch(Deployment, "light", operations, namespace=space, patch_type=PatchType.JSON).spec.replicas
        == 1
    )
    scale = light.get(Deployment.Scale, "light", namespace=space)
    assert scale.spec.replicas == 1
    assert [one.metadata.name for one in light.list(Deployment, namespace=space)] == ["light"]
    light.delete(Deployment, "light", namespace=space)
    with pytest.raises(ApiError) as missing:
        light.get(Deployment, "light", namespace=space)
    assert missing.value.status.reason == "NotFound"


def test_lightkube_applies(light: Client, space: str) -> None:
    wanted = ConfigMap(metadata=ObjectMeta(name="m", namespace=space), data={"a": "1"})
    assert light.apply(wanted).data == {"a": "1"}
    wanted.data = {"b": "2"}
    assert light.apply(wanted).data == {"b": "2"}
    with pytest.raises(ApiError, match=r"modified|conflict"):
        light.apply(
            ConfigMap(metadata=ObjectMeta(name="m", namespace=space), data={"b": "3"}), field_manager="other"
        )


def test_lightkube_pages_and_watches(light: Client, space: str) -> None:
    for number in range(5):
        light.create(ConfigMap(metadata=ObjectMeta(name=f"c{number}", namespace=space)))
    listed = light.list(ConfigMap, namespace=space, chunk_size=2)
    assert [one.metadata.name for one in listed] == ["c0", "c1", "c2", "c3", "c4"]
    events = []
    for kind, obj in light.watch(ConfigMap, namespace=space):
        events.append((kind, obj.metadata.name))
        if len(events) == 5:
            light.delete(ConfigMap, "c0", namespace=space)
        if kind == "DELETED":
            break
    assert events == [("ADDED", f"c{number}") for number in range(5)] + [("DELETED", "c0")]


def test_lightkube_and_custom_resources(light: Client, space: str, definition: None) -> None:
    backup = create_namespaced_resource("python.example", "v1", "Backup", "backups")
    made = light.create(backup({"metadata": {"name": "l", "namespace": space}, "spec": {}}))
    assert made.spec == {"keep": 3}
    with pytest.raises(ApiError) as refused:
        light.create(backup({"metadata": {"name": "k", "namespace": space}, "spec": {"keep": "x"}}))
    assert refused.value.status.code == 422


def test_lightkube_is_refused_what_it_may_not(served_cluster: Served, light: Client, space: str) -> None:
    document = yaml.safe_load(served_cluster.kubeconfig.read_text())
    document["users"][0]["user"] = {"token": "nonsense"}
    with pytest.raises(ApiError) as unknown:
        list(Client(config=KubeConfig.from_dict(document)).list(Pod, namespace=space))
    assert unknown.value.status.code == 401
    with pytest.raises(ApiError) as taken:
        light.create(Namespace(metadata=ObjectMeta(name=space)))
    assert taken.value.status.reason == "AlreadyExists"
