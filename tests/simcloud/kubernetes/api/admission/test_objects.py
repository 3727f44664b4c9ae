"""Nodes, storage, priorities and namespaces at admission."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import copy
from simcloud.kubernetes.api.options import Caller
from simcloud.sim import Kernel
from tests.simcloud.kubernetes.api.admission.conftest import World, pod
from tests.simcloud.kubernetes.api.conftest import demo_cluster, node_user

FIELDS = (
    *("containers", "initContainers", "volumes", "name", "image", "resources", "requests", "limits", "cpu"),
    *("tolerations", "key", "effect", "volumeMounts", "mountPath", "priorityClassName", "serviceAccountName"),
    *(
        "taints",
        "overhead",
        "nodeName",
        "runtimeClassName",
        "securityContext",
        "capabilities",
        "add",
        "ports",
    ),
    *("projected", "sources", "imagePullSecrets", "hostPort", "nodeSelector", "ephemeralContainers"),
)

KUBELET = Caller(node_user("one"), "kubelet")


def test_a_new_node_takes_no_pods(world: World) -> None:
    made = world.create("nodes", {"metadata": {"name": "one"}}, "", KUBELET)
    assert made["spec"]["taints"] == [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]


def test_a_kubelet_keeps_to_its_own_node(world: World) -> None:
    role = {"node-role.kubernetes.io/control-plane": ""}
    assert world.refusal(
        "nodes", {"metadata": {"name": "one", "labels": role}}, namespace="", caller=KUBELET
    ).message == (
        'nodes "one" is forbidden: node "one" is not allowed to set the following labels: '
        "node-role.kubernetes.io/control-plane"
    )
    assert world.refusal("nodes", {"metadata": {"name": "two"}}, namespace="", caller=KUBELET).message == (
        'nodes "two" is forbidden: node "one" is not allowed to modify node "two"'
    )
    assert "can only create mirror pods" in world.refusal("pods", pod(), caller=KUBELET).message
    node = copy(world.create("nodes", {"metadata": {"name": "one"}}, "", KUBELET))
    node["spec"]["taints"] = []
    with pytest.raises(ApiError, match='node "one" is not allowed to modify taints'):
        world.update(node, caller=KUBELET)


def test_claims_and_volumes_wait_for_their_users(world: World) -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claim = world.create("persistentvolumeclaims", {"metadata": {"name": "a"}, "spec": spec})
    assert claim["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
    grown = copy(claim)
    grown["spec"]["resources"]["requests"]["storage"] = "2Gi"
    with pytest.raises(ApiError):
        world.update(grown)


def test_a_bound_claim_grows_where_its_class_allows(world: World) -> None:
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "fixed",
        "volumeName": "v",
    }
    world.create("storageclasses.storage.k8s.io", {"metadata": {"name": "fixed"}, "provisioner": "x/y"}, "")
    claim = copy(world.create("persistentvolumeclaims", {"metadata": {"name": "a"}, "spec": spec}))
    claim["status"] = {"phase": "Bound"}
    claim = copy(world.update(claim, "status"))
    claim["spec"]["resources"]["requests"]["storage"] = "2Gi"
    with pytest.raises(ApiError, match="the storageclass that provisions the pvc must support resize"):
        world.update(claim)


def test_the_newest_default_class_is_given(world: World) -> None:
    for name in ("b", "a"):
        annotations = {"storageclass.kubernetes.io/is-default-class": "true"}
        data = {"metadata": {"name": name, "annotations": annotations}, "provisioner": "x/y"}
        world.create("storageclasses.storage.k8s.io", data, "")
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    made = world.create("persistentvolumeclaims", {"metadata": {"name": "c"}, "spec": spec})
    assert made["spec"]["storageClassName"] == "a"


def test_priorities(world: World) -> None:
    classes = "priorityclasses.scheduling.k8s.io"
    world.create(classes, {"metadata": {"name": "usual"}, "value": 7, "globalDefault": True}, "")
    made = world.create("pods", pod())["spec"]
    assert (made["priority"], made["priorityClassName"]) == (7, "usual")
    assert world.refusal("pods", pod("q", priority=3)).message == (
        'pods "q" is forbidden: the integer value of priority (3) must not be provided in pod spec; '
        "priority admission controller computed 7 from the given PriorityClass name"
    )
    second = {"metadata": {"name": "other"}, "value": 8, "globalDefault": True}
    assert world.refusal(classes, second, namespace="").message == (
        'priorityclasses.scheduling.k8s.io "other" is forbidden: PriorityClass usual is already marked as '
        "default. Only one default can exist"
    )
    assert (
        "no PriorityClass with name nope was found"
        in world.refusal("pods", pod("r", priorityClassName="nope")).message
    )


def test_an_action_is_admitted_as_an_object_of_its_own(world: World) -> None:
    world.create("pods", pod())
    namespace = copy(world.get("namespaces", "demo", ""))
    world.api.delete(world.api.catalogue.find("namespaces"), "", namespace["metadata"]["name"])
    binding = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "one"}}
    with pytest.raises(ApiError, match="because it is being terminated"):
        world.api.subresource("create", world.api.catalogue.find("pods"), "demo", "p", "binding", binding)


def test_a_bound_pod_learns_its_zone(world: World) -> None:
    zone = {"topology.kubernetes.io/zone": "a", "other": "x"}
    world.create("nodes", {"metadata": {"name": "one", "labels": zone}}, "")
    world.create("pods", pod())
    binding = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "one"}}
    world.api.subresource("create", world.api.catalogue.find("pods"), "demo", "p", "binding", binding)
    assert world.get("pods", "p")["metadata"]["labels"] == {"topology.kubernetes.io/zone": "a"}


BITS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 300)
    | st.sampled_from(["", "a", "default", "1", "NoExecute"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
    max_leaves=8,
)


@given(
    spec=st.dictionaries(st.sampled_from(FIELDS), BITS, max_size=5), plural=st.sampled_from(["pods", "nodes"])
)
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_nothing_but_refusals(spec: dict[str, Any], plural: str) -> None:
    world = hostile_world()
    data = {"metadata": {"name": "p"}, "spec": spec}
    for caller in (None, KUBELET):
        try:
            world.create(plural, data, "demo" if plural == "pods" else "", caller, dry_run=True)
        except ApiError as refused:
            assert refused.message


@cache
def hostile_world() -> World:
    world = World(demo_cluster(Kernel(1)).api)
    world.create("serviceaccounts", {"metadata": {"name": "default"}})
    item = {"type": "Container", "default": {"cpu": "1"}, "min": {"memory": "1Mi"}}
    world.create("limitranges", {"metadata": {"name": "l"}, "spec": {"limits": [item]}})
    world.quota(hard={"pods": "5", "requests.cpu": "3"})
    world.label("demo", enforce="restricted")
    return world
