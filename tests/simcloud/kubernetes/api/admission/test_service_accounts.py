"""Every pod runs as an account, and finds its token as recorded pods do."""

from __future__ import annotations

from typing import Any

import msgspec

from simcloud.kubernetes.api.objects import copy
from tests.simcloud.kubernetes.api.admission.conftest import World, pod

RECORDED_SOURCES = [
    {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
    {"configMap": {"items": [{"key": "ca.crt", "path": "ca.crt"}], "name": "kube-root-ca.crt"}},
    {
        "downwardAPI": {
            "items": [
                {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}, "path": "namespace"}
            ]
        }
    },
]


def token_mounts(container: dict[str, Any]) -> list[dict[str, Any]]:
    return list(container.get("volumeMounts") or [])


def test_a_pod_gets_the_default_account_and_its_token(world: World) -> None:
    spec = world.create("pods", pod())["spec"]
    assert spec["serviceAccountName"] == spec["serviceAccount"] == "default"
    (volume,) = spec["volumes"]
    assert volume["name"].startswith("kube-api-access-")
    assert len(volume["name"]) == len("kube-api-access-7gbjk")
    assert volume["projected"] == {"defaultMode": 420, "sources": RECORDED_SOURCES}
    assert token_mounts(spec["containers"][0]) == [
        {
            "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
            "name": volume["name"],
            "readOnly": True,
        }
    ]


def test_without_the_account_there_is_no_pod(world: World) -> None:
    refused = world.refusal("pods", pod(serviceAccountName="robot"))
    assert refused.message == (
        'pods "p" is forbidden: error looking up service account demo/robot: serviceaccount "robot" not found'
    )
    assert (refused.code, refused.reason) == (403, "Forbidden")


def test_a_pod_that_awaits_its_name_is_refused_by_the_beginning_of_it(world: World) -> None:
    wanted = pod(serviceAccountName="robot")
    wanted["metadata"] = {"generateName": "web-7d4b8c9f-"}
    assert world.refusal("pods", wanted).message.startswith(
        'pods "web-7d4b8c9f-" is forbidden: error looking up service account demo/robot'
    )
    world.create("serviceaccounts", {"metadata": {"name": "robot"}})
    assert world.create("pods", wanted)["metadata"]["name"].startswith("web-7d4b8c9f-")


def test_a_token_is_not_mounted_where_nobody_wants_it(world: World) -> None:
    quiet = world.create("pods", pod("quiet", automountServiceAccountToken=False))
    assert "volumes" not in quiet["spec"]
    account = {"metadata": {"name": "robot"}, "automountServiceAccountToken": False}
    world.create("serviceaccounts", account)
    assert "volumes" not in world.create("pods", pod("a", serviceAccountName="robot"))["spec"]
    wanted = pod("b", serviceAccountName="robot", automountServiceAccountToken=True)
    assert len(world.create("pods", wanted)["spec"]["volumes"]) == 1


def test_an_own_mount_at_the_tokens_place_stays(world: World) -> None:
    mount = {"name": "own", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
    own = {"name": "own", "emptyDir": {}}
    made = world.create("pods", pod("p", {"name": "c", "volumeMounts": [mount]}, volumes=[own]))
    assert [one["name"] for one in made["spec"]["volumes"]] == ["own"]


def test_pull_secrets_come_from_the_account(world: World) -> None:
    account = copy(world.get("serviceaccounts", "default"))
    account["imagePullSecrets"] = [{"name": "registry"}]
    world.update(account)
    assert world.create("pods", pod("a"))["spec"]["imagePullSecrets"] == [{"name": "registry"}]
    own = world.create("pods", pod("b", imagePullSecrets=[{"name": "mine"}]))
    assert own["spec"]["imagePullSecrets"] == [{"name": "mine"}]


def test_a_mirror_pod_is_left_alone(world: World) -> None:
    mirror = pod("static", nodeName="node")
    mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    assert "serviceAccountName" not in world.create("pods", mirror)["spec"]


RECORDED = """
containers:
- image: nginx:1.19
  imagePullPolicy: IfNotPresent
  name: ok
  resources: {}
  terminationMessagePath: /dev/termination-log
  terminationMessagePolicy: File
  volumeMounts:
  - mountPath: /var/run/secrets/kubernetes.io/serviceaccount
    name: kube-api-access-7gbjk
    readOnly: true
dnsPolicy: ClusterFirst
enableServiceLinks: true
preemptionPolicy: PreemptLowerPriority
priority: 0
restartPolicy: Always
schedulerName: default-scheduler
securityContext: {}
serviceAccount: default
serviceAccountName: default
terminationGracePeriodSeconds: 30
tolerations:
- effect: NoExecute
  key: node.kubernetes.io/not-ready
  operator: Exists
  tolerationSeconds: 300
- effect: NoExecute
  key: node.kubernetes.io/unreachable
  operator: Exists
  tolerationSeconds: 300
volumes:
- name: kube-api-access-7gbjk
  projected:
    defaultMode: 420
    sources:
    - serviceAccountToken:
        expirationSeconds: 3607
        path: token
    - configMap:
        items:
        - key: ca.crt
          path: ca.crt
        name: kube-root-ca.crt
    - downwardAPI:
        items:
        - fieldRef:
            apiVersion: v1
            fieldPath: metadata.namespace
          path: namespace
"""
"""What a v1.36.4 server stored for ``kubectl run ok --image=nginx:1.19``, without its node."""


def test_a_pod_is_stored_as_recorded(world: World) -> None:
    made = copy(world.create("pods", pod("ok", {"name": "ok", "image": "nginx:1.19"})))
    name = made["spec"]["volumes"][0]["name"]
    assert msgspec.yaml.decode(RECORDED.replace("kube-api-access-7gbjk", name)) == made["spec"]
