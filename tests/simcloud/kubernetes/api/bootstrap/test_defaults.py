"""Default objects are those of a genuine v1.36 cluster.

``genuine_digests.json`` holds, for what was recorded of one, the digest of each object's JSON as it was
served, without what the server sets (uid, times, versions, managedFields).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest

from simcloud.kubernetes.api.access.attributes import Attributes
from simcloud.kubernetes.api.access.rbac import Authorizer
from simcloud.kubernetes.api.access.users import ANONYMOUS, User, service_account_user
from simcloud.kubernetes.api.bootstrap import (
    ClusterFacts,
    default_objects,
    default_service_account,
    manager_of,
    root_ca_config_map,
)
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.resources import Catalogue
from tests.simcloud.kubernetes.api.access.conftest import Policy

GENUINE = json.loads((Path(__file__).parent / "genuine_digests.json").read_text())
CATALOGUE = Catalogue()
FACTS = ClusterFacts(now_s=1_794_000_000, client_ca="PEM", front_proxy_ca="PROXY")
OBJECTS = default_objects(CATALOGUE, FACTS)


def of_kind(kind: str) -> list[Object]:
    return [obj for obj in OBJECTS if obj["kind"] == kind]


def found(kind: str, name: str) -> Object:
    return next(obj for obj in of_kind(kind) if obj["metadata"]["name"] == name)


def digest(obj: Object) -> str:
    """Of the bytes a genuine server sends for it inside a list, key order included."""
    told = {key: value for key, value in copy(obj).items() if key not in ("kind", "apiVersion")}
    for condition in told.get("status", {}).get("conditions", ()):
        del condition["lastTransitionTime"]
    return hashlib.sha256(json.dumps(told, separators=(",", ":")).encode()).hexdigest()[:16]


@pytest.mark.parametrize("kind", sorted(GENUINE))
def test_objects_equal_the_recorded_ones(kind: str) -> None:
    assert {obj["metadata"]["name"]: digest(obj) for obj in of_kind(kind)} == GENUINE[kind]


def test_how_many_there_are() -> None:
    assert Counter(obj["kind"] for obj in OBJECTS) == {
        "Namespace": 4,
        "APIService": 21,
        "PriorityLevelConfiguration": 8,
        "FlowSchema": 13,
        "PriorityClass": 2,
        "ClusterRole": 69,
        "ClusterRoleBinding": 50,
        "Role": 7,
        "RoleBinding": 7,
        "ServiceCIDR": 1,
        "Service": 1,
        "IPAddress": 1,
        "Endpoints": 1,
        "EndpointSlice": 1,
        "ConfigMap": 2,
    }


def test_every_object_is_of_a_served_kind_and_scope_and_none_is_twice() -> None:
    keys = set()
    for obj in OBJECTS:
        resource = CATALOGUE.of_kind(obj["apiVersion"], obj["kind"])
        assert resource is not None
        assert resource.namespaced == ("namespace" in obj["metadata"])
        keys.add((resource.key, obj["metadata"].get("namespace", ""), obj["metadata"]["name"]))
    assert len(keys) == len(OBJECTS)


def test_namespaces_come_before_what_is_in_them() -> None:
    made = set()
    for obj in OBJECTS:
        home = obj["metadata"].get("namespace")
        assert home is None or home in made
        if obj["kind"] == "Namespace":
            made.add(obj["metadata"]["name"])


def test_every_binding_has_its_role() -> None:
    roles = {(obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"]) for obj in OBJECTS}
    for obj in OBJECTS:
        if obj["kind"].endswith("RoleBinding"):
            ref = obj["roleRef"]
            home = obj["metadata"].get("namespace", "") if ref["kind"] == "Role" else ""
            assert (ref["kind"], home, ref["name"]) in roles


def test_bindings_look_like_the_genuine_ones() -> None:
    assert found("ClusterRoleBinding", "system:controller:job-controller") == {
        "kind": "ClusterRoleBinding",
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "metadata": {
            "name": "system:controller:job-controller",
            "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"},
            "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"},
        },
        "subjects": [{"kind": "ServiceAccount", "name": "job-controller", "namespace": "kube-system"}],
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "system:controller:job-controller",
        },
    }
    assert "subjects" not in found("ClusterRoleBinding", "system:node")


@pytest.mark.parametrize(
    ("user", "asked", "allowed"),
    [
        (ANONYMOUS, {"verb": "get", "path": "/healthz"}, True),
        (ANONYMOUS, {"verb": "get", "path": "/apis"}, False),
        (User("jane", groups=("system:authenticated",)), {"verb": "get", "path": "/apis/apps/v1"}, True),
        (
            User("jane", groups=("system:authenticated",)),
            {"verb": "create", "group": "authorization.k8s.io", "plural": "selfsubjectaccessreviews"},
            True,
        ),
        (User("jane", groups=("system:authenticated",)), {"verb": "get", "plural": "pods"}, False),
        (
            service_account_user("kube-system", "deployment-controller"),
            {"verb": "create", "group": "apps", "plural": "replicasets", "namespace": "demo"},
            True,
        ),
        (User("system:kube-scheduler"), {"verb": "create", "plural": "pods", "subresource": "binding"}, True),
        (
            User("system:kube-scheduler"),
            {
                "verb": "get",
                "plural": "configmaps",
                "namespace": "kube-system",
                "name": "extension-apiserver-authentication",
            },
            True,
        ),
        (User("system:kube-scheduler"), {"verb": "delete", "plural": "nodes"}, False),
    ],
)
def test_what_the_default_policy_allows(user: User, asked: dict, allowed: bool) -> None:
    policy = Policy()
    for obj in OBJECTS:
        if obj["apiVersion"].startswith("rbac."):
            policy.put(obj["kind"].lower() + "s", obj)
    assert Authorizer(policy).authorize(Attributes(user, **asked)).allowed is allowed


def test_the_kubernetes_service_has_the_first_address_of_the_range() -> None:
    service = found("Service", "kubernetes")
    assert (service["spec"]["clusterIP"], service["spec"]["ports"][0]["targetPort"]) == ("10.96.0.1", 6443)
    assert found("IPAddress", "10.96.0.1")["spec"]["parentRef"] == {
        "resource": "services",
        "namespace": "default",
        "name": "kubernetes",
    }
    assert found("Endpoints", "kubernetes")["subsets"][0]["addresses"] == [{"ip": "172.18.0.2"}]
    assert found("EndpointSlice", "kubernetes")["endpoints"][0]["addresses"] == ["172.18.0.2"]


def test_the_front_proxy_is_published_only_where_there_is_one() -> None:
    name = "extension-apiserver-authentication"
    assert len(found("ConfigMap", name)["data"]) == 6
    plain = default_objects(CATALOGUE, ClusterFacts(client_ca="PEM"))
    assert next(obj for obj in plain if obj["metadata"]["name"] == name)["data"] == {"client-ca-file": "PEM"}


def test_flow_schemas_lead_to_priority_levels_that_exist() -> None:
    levels = {obj["metadata"]["name"] for obj in of_kind("PriorityLevelConfiguration")}
    for schema in of_kind("FlowSchema"):
        assert schema["spec"]["priorityLevelConfiguration"]["name"] in levels
    assert manager_of(of_kind("FlowSchema")[0]) == "api-priority-and-fairness-config-producer-v1"
    assert manager_of(found("Namespace", "default")) == "kube-apiserver"


def test_objects_are_fresh_each_time() -> None:
    first, second = default_objects(CATALOGUE, FACTS), default_objects(CATALOGUE, FACTS)
    assert first == second == OBJECTS
    for obj in first:
        _spoil(obj)
    assert default_objects(CATALOGUE, FACTS) == second


def _spoil(value: object) -> None:
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _spoil(part)
    if isinstance(value, dict | list):
        value.clear()


def test_what_every_namespace_gets() -> None:
    assert default_service_account("demo")["metadata"] == {"name": "default", "namespace": "demo"}
    assert root_ca_config_map("demo", "PEM")["data"] == {"ca.crt": "PEM"}
