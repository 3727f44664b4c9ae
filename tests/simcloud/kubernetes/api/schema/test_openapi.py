"""OpenAPI documents: what kubectl looks for is there, and everything that is referred to exists."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from simcloud.kubernetes.api.resources import Catalogue, Resource
from simcloud.kubernetes.api.schema import openapi
from simcloud.kubernetes.api.schema.structural import schema_from

DECLARED = {
    "type": "object",
    "description": "A table of jobs.",
    "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer", "nullable": True}}}},
}
CRON_TABS = Resource(
    group="stable.example.com",
    version="v1",
    plural="crontabs",
    singular="crontab",
    kind="CronTab",
    namespaced=True,
    verbs=("get", "list", "create", "patch"),
    schema=schema_from(DECLARED),
    custom={"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": DECLARED}}]}},
)


def document(catalogue: Catalogue, path: str) -> Any:
    rendered = openapi.document(catalogue, path)
    assert rendered is not None
    return json.loads(rendered)


def references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def test_the_index_lists_every_group_version() -> None:
    catalogue = Catalogue()
    paths = openapi.index(catalogue)["paths"]
    assert {"api/v1", "apis/apps/v1", "apis/autoscaling/v2"} <= set(paths)
    assert list(paths) == sorted(paths)
    assert paths["apis/apps/v1"]["serverRelativeURL"].startswith("/openapi/v3/apis/apps/v1?hash=")
    assert openapi.index(Catalogue()) == openapi.index(catalogue)


@pytest.mark.parametrize("path", sorted(openapi.index(Catalogue())["paths"]))
def test_every_reference_leads_somewhere(path: str) -> None:
    told = document(Catalogue(), path)
    known = {f"#/components/schemas/{name}" for name in told["components"]["schemas"]}
    assert set(references(told)) <= known


def test_a_patch_declares_what_kubectl_asks_for() -> None:
    paths = document(Catalogue(), "apis/apps/v1")["paths"]
    patch = paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"]
    assert {"dryRun", "fieldManager", "fieldValidation", "force"} <= {
        one["name"] for one in patch["parameters"]
    }
    assert patch["x-kubernetes-group-version-kind"] == {
        "group": "apps",
        "kind": "Deployment",
        "version": "v1",
    }
    assert patch["x-kubernetes-action"] == "patch"
    assert patch["operationId"] == "patchAppsV1NamespacedDeployment"
    assert "application/apply-patch+yaml" in patch["requestBody"]["content"]
    scale = paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale"]["put"]
    assert scale["x-kubernetes-group-version-kind"]["kind"] == "Scale"
    assert paths["/apis/apps/v1/deployments"]["get"]["operationId"] == "listAppsV1DeploymentForAllNamespaces"


def test_fields_are_described_as_the_genuine_server_describes_them() -> None:
    schemas = document(Catalogue(), "apis/coordination.k8s.io/v1")["components"]["schemas"]
    lease = schemas["io.k8s.api.coordination.v1.Lease"]
    assert lease["x-kubernetes-group-version-kind"] == [
        {"group": "coordination.k8s.io", "kind": "Lease", "version": "v1"}
    ]
    assert lease["properties"]["spec"]["allOf"] == [
        {"$ref": "#/components/schemas/io.k8s.api.coordination.v1.LeaseSpec"}
    ]
    assert lease["properties"]["spec"]["default"] == {}
    resource = schemas["io.k8s.apimachinery.pkg.apis.meta.v1.APIResource"]["properties"]
    assert resource["namespaced"]["default"] is False
    assert resource["name"]["default"] == ""
    assert "default" not in resource["group"]


def test_custom_kinds_join_their_group_and_change_its_hash() -> None:
    catalogue = Catalogue()
    path = "apis/stable.example.com/v1"
    assert openapi.document(catalogue, path) is None
    catalogue.add(CRON_TABS)
    told = document(catalogue, path)
    kind = told["components"]["schemas"]["com.example.stable.v1.CronTab"]
    assert kind["properties"]["spec"] == DECLARED["properties"]["spec"]
    assert kind["properties"]["metadata"]["allOf"][0]["$ref"].endswith("meta.v1.ObjectMeta")
    assert "/apis/stable.example.com/v1/namespaces/{namespace}/crontabs/{name}" in told["paths"]
    assert set(references(told)) <= {f"#/components/schemas/{name}" for name in told["components"]["schemas"]}
    before = openapi.index(catalogue)["paths"]
    catalogue.remove(CRON_TABS)
    after = openapi.index(catalogue)["paths"]
    assert path in before and path not in after
    assert before["apis/apps/v1"] == after["apis/apps/v1"]


def test_edition_2_is_one_document_in_its_own_words() -> None:
    catalogue = Catalogue()
    catalogue.add(CRON_TABS)
    told = json.loads(openapi.v2(catalogue))
    assert told["swagger"] == "2.0"
    assert set(references(told)) <= {f"#/definitions/{name}" for name in told["definitions"]}
    quantity = told["definitions"]["io.k8s.apimachinery.pkg.api.resource.Quantity"]
    assert quantity["type"] == "string"
    size = told["definitions"]["com.example.stable.v1.CronTab"]["properties"]["spec"]["properties"]["size"]
    assert size == {}, "old clients take null for nothing that has a type"
    patch = told["paths"]["/api/v1/namespaces/{namespace}/pods/{name}"]["patch"]
    assert "dryRun" in {one["name"] for one in patch["parameters"]}


@pytest.mark.parametrize("edition", ["v2", "v3"])
def test_custom_kinds_cannot_be_patched_strategically(edition: str) -> None:
    catalogue = Catalogue()
    catalogue.add(CRON_TABS)
    if edition == "v2":
        paths = json.loads(openapi.v2(catalogue))["paths"]
        offered = paths["/apis/stable.example.com/v1/namespaces/{namespace}/crontabs/{name}"]["patch"][
            "consumes"
        ]
    else:
        paths = document(catalogue, "apis/stable.example.com/v1")["paths"]
        patch = paths["/apis/stable.example.com/v1/namespaces/{namespace}/crontabs/{name}"]["patch"]
        offered = list(patch["requestBody"]["content"])
    assert "application/merge-patch+json" in offered
    assert "application/strategic-merge-patch+json" not in offered


def declared_as_v2(declared: Any) -> Any:
    catalogue = Catalogue()
    custom = {"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": declared}}]}}
    catalogue.add(replace(CRON_TABS, custom=custom))
    return json.loads(openapi.v2(catalogue))["definitions"]["com.example.stable.v1.CronTab"]


def test_edition_2_leaves_out_what_old_clients_choke_on() -> None:
    told = declared_as_v2(
        {
            "type": "object",
            "required": ["maybe", "always"],
            "properties": {
                "maybe": {"type": "object", "nullable": True, "properties": {"a": {"type": "string"}}},
                "always": {
                    "anyOf": [{"type": "integer"}, {"type": "string"}],
                    "x-kubernetes-int-or-string": True,
                },
                "open": {
                    "type": "object",
                    "description": "Anything.",
                    "x-kubernetes-preserve-unknown-fields": True,
                    "properties": {"a": {"type": "string"}},
                },
            },
        }
    )
    assert told["required"] == ["always"]
    assert told["properties"]["maybe"] == {}
    assert told["properties"]["always"] == {"x-kubernetes-int-or-string": True}
    assert told["properties"]["open"] == {
        "description": "Anything.",
        "x-kubernetes-preserve-unknown-fields": True,
    }


def test_edition_2_says_nothing_of_a_kind_with_unknown_fields() -> None:
    told = declared_as_v2(
        {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"a": {}}}
    )
    assert set(told) == {"type", "x-kubernetes-group-version-kind"}


def test_embedded_objects_have_the_fields_of_every_object() -> None:
    inner = {
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "properties": {"spec": {"type": "object"}},
    }
    catalogue = Catalogue()
    declared = {"type": "object", "properties": {"pod": inner}}
    custom = {"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": declared}}]}}
    catalogue.add(replace(CRON_TABS, custom=custom))
    schemas = document(catalogue, "apis/stable.example.com/v1")["components"]["schemas"]
    pod = schemas["com.example.stable.v1.CronTab"]["properties"]["pod"]
    assert set(pod["properties"]) == {"apiVersion", "kind", "metadata", "spec"}


def test_what_is_always_there_has_a_default() -> None:
    schemas = document(Catalogue(), "apis/apps/v1")["components"]["schemas"]
    status = schemas["io.k8s.api.apps.v1.DaemonSetStatus"]["properties"]
    reference = {"$ref": "#/components/schemas/io.k8s.api.apps.v1.DaemonSetCondition"}
    assert status["conditions"]["items"] == {"allOf": [reference], "default": {}}
    assert status["numberReady"]["default"] == 0
    assert "default" not in status["numberAvailable"]
    condition = schemas["io.k8s.api.apps.v1.DaemonSetCondition"]["properties"]
    assert "default" not in condition["lastTransitionTime"], "a time has a JSON form of its own"
    assert schemas["io.k8s.api.core.v1.Container"]["properties"]["args"]["items"] == {
        "default": "",
        "type": "string",
    }


def test_types_with_few_values_list_them() -> None:
    schemas = document(Catalogue(), "apis/apps/v1")["components"]["schemas"]
    policy = schemas["io.k8s.api.core.v1.Container"]["properties"]["imagePullPolicy"]
    assert policy["enum"] == ["Always", "IfNotPresent", "Never"]
    assert policy["description"].partition("\n\n")[2].splitlines() == [
        "Possible enum values:",
        ' - `"Always"` means that kubelet always attempts to pull the latest image. Container will fail If the pull'
        " fails.",
        ' - `"IfNotPresent"` means that kubelet pulls if the image isn\'t present on disk. Container will fail if the'
        " image isn't present and the pull fails.",
        ' - `"Never"` means that kubelet never pulls an image, but only uses a local image. Container will fail if the'
        " image isn't present",
    ]
    restart = schemas["io.k8s.api.core.v1.PodSpec"]["properties"]["restartPolicy"]
    assert restart["description"].endswith('\n - `"Always"`\n - `"Never"`\n - `"OnFailure"`')
    assert "enum" not in schemas["io.k8s.api.core.v1.Container"]["properties"]["restartPolicy"]
