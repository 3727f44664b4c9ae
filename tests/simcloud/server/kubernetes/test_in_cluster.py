"""The API as pods reach it: by the Service's name and address, with the token that every pod has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from simcloud.server.kubernetes.in_cluster import open_door
from tests.simcloud.kubernetes.test_cluster import Lab

HOME = "/var/run/secrets/kubernetes.io/serviceaccount"
PODS = "https://kubernetes.default/api/v1/namespaces/default/pods"
WITH_TOKEN = f'-H "Authorization: Bearer $(cat {HOME}/token)"'


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    lab = Lab(nodes=2)
    open_door(lab.cluster.api)
    spec = {"containers": [{"name": "main", "image": "nginx:1.19"}]}
    lab.create("Pod", "cli", spec=spec)
    lab.world.run_for(10)
    yield lab


def sh(lab: Lab, line: str) -> str:
    pod = lab.client.get("pods", "default", "cli")
    assert pod is not None
    runtime = lab.cluster.kubelets[pod["spec"]["nodeName"]].node.runtime
    container = runtime.pods[pod["metadata"]["uid"]].containers[0].container
    assert container is not None
    done = container.run(["sh", "-c", line])
    assert done.status == 0, done.stderr.decode()
    return done.stdout.decode()


def ask(lab: Lab, line: str) -> Any:
    return json.loads(sh(lab, line))


def grant(lab: Lab, verbs: list[str], resources: list[str]) -> None:
    api = "rbac.authorization.k8s.io"
    lab.create(
        "Role", "reader", f"{api}/v1", rules=[{"apiGroups": [""], "verbs": verbs, "resources": resources}]
    )
    subjects = [{"kind": "ServiceAccount", "name": "default", "namespace": "default"}]
    role = {"apiGroup": api, "kind": "Role", "name": "reader"}
    lab.create("RoleBinding", "reader", f"{api}/v1", subjects=subjects, roleRef=role)


def test_nobody_and_somebody_without_rights_are_refused(lab: Lab) -> None:
    refused = ask(lab, f"curl -sk {PODS}")
    assert (refused["code"], refused["message"]) == (
        403,
        'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" in the namespace '
        '"default"',
    )
    refused = ask(lab, f"curl -sk {WITH_TOKEN} {PODS}")
    assert refused["message"] == (
        'pods is forbidden: User "system:serviceaccount:default:default" cannot list resource "pods" in API group "" '
        'in the namespace "default"'
    )
    refused = ask(lab, f'curl -sk -H "Authorization: Bearer nonsense" {PODS}')
    assert (refused["code"], refused["message"]) == (401, "Unauthorized")
    assert "gitVersion" in sh(lab, f"curl -sk {WITH_TOKEN} https://10.96.0.1/version")


def test_an_account_with_rights_reads_and_writes(lab: Lab) -> None:
    grant(lab, ["get", "list", "watch", "create", "delete"], ["pods", "pods/log", "configmaps"])
    listed = ask(lab, f"curl -sk {WITH_TOKEN} {PODS}")
    assert [one["metadata"]["name"] for one in listed["items"]] == ["cli"]
    body = json.dumps({"metadata": {"name": "made"}, "data": {"a": "b"}})
    configs = PODS.replace("pods", "configmaps")
    made = ask(
        lab, f"curl -sk -X POST {WITH_TOKEN} -H 'Content-Type: application/json' -d '{body}' {configs}"
    )
    assert made["data"] == {"a": "b"}
    stored = lab.client.get("configmaps", "default", "made")
    assert stored is not None
    gone = ask(lab, f"curl -sk -X DELETE {WITH_TOKEN} {configs}/made")
    assert gone["status"] == "Success"
    assert "ready for start up" in sh(lab, f"curl -sk {WITH_TOKEN} {PODS}/cli/log")


def test_a_watch_brings_what_is_there(lab: Lab) -> None:
    events = sh(lab, f"curl -sk {WITH_TOKEN} '{PODS}?watch=1'").splitlines()
    first = json.loads(events[0])
    assert (first["type"], first["object"]["metadata"]["name"]) == ("ADDED", "cli")
