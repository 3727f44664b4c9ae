"""Claims: there, bound, to be bound on a node, or to be made there; and volumes that only some nodes can use."""

from __future__ import annotations

from typing import Any

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.controllers.volumes.binder import BIND_COMPLETED
from tests.simcloud.kubernetes.scheduler.world import HOST, ONE_NODE, ZONE, World, no_room

SELECTED = "volume.kubernetes.io/selected-node"


def storage_class(world: World, name: str, **more: Any) -> None:
    world.client.create(
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": name},
            "provisioner": "rancher.io/local-path",
            "volumeBindingMode": "WaitForFirstConsumer",
            **more,
        }
    )


def claim(
    world: World, name: str, kind: str = "standard", modes: Any = ("ReadWriteOnce",), **spec: Any
) -> Object:
    size = {"requests": {"storage": spec.pop("size", "1Gi")}}
    body = {"storageClassName": kind, "accessModes": list(modes), "resources": size, **spec}
    metadata = {"name": name, "namespace": "lab"}
    return world.client.create(
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": body}
    )


def volume(
    world: World,
    name: str,
    node: str = "",
    size: str = "1Gi",
    kind: str = "standard",
    labels: Any = None,
    **spec: Any,
) -> Object:
    body: Object = {
        "capacity": {"storage": size},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": kind,
        "persistentVolumeReclaimPolicy": "Retain",
    }
    body |= spec or {"hostPath": {"path": "/data"}}
    if node:
        expression = {"key": HOST, "operator": "In", "values": [node]}
        body["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    metadata = {"name": name, "labels": labels or {}}
    world.client.create({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": body})
    found = world.client.get("persistentvolumes", "", name)
    assert found is not None
    return world.client.edit(found, lambda one: one["status"].update(phase="Available"), "status")


def bound(world: World, name: str, to: str, **spec: Any) -> None:
    """A claim that the volume controller has bound."""
    made = claim(world, name, volumeName=to, **spec)
    world.client.patch(made, {"metadata": {"annotations": {BIND_COMPLETED: "yes"}}})


def uses(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names]


def read(world: World, kind: str, name: str) -> Object:
    found = world.client.get(kind, "lab" if kind == "persistentvolumeclaims" else "", name)
    assert found is not None
    return found


def bind(world: World, name: str, to: str) -> None:
    """Do what the volume controller does once a volume is there."""
    change = {"metadata": {"annotations": {BIND_COMPLETED: "yes"}}, "spec": {"volumeName": to}}
    world.client.patch(read(world, "persistentvolumeclaims", name), change)


def test_a_missing_claim_is_named_as_recorded(world: World) -> None:
    world.node()
    world.pod("p", volumes=uses("nosuch-pvc"))
    world.run()
    assert world.why("p") == (
        '0/1 nodes are available: persistentvolumeclaim "nosuch-pvc" not found. not found'
    )


def test_an_unbound_immediate_claim_as_recorded(world: World) -> None:
    world.node()
    claim(world, "data", "nosuch-class")
    world.pod("p", volumes=uses("data"))
    world.run()
    assert world.why("p") == (
        "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found"
    )


def test_a_claim_that_comes_later_lets_the_pod_in(world: World) -> None:
    world.node()
    volume(world, "disk")
    world.pod("p", volumes=uses("data"))
    world.run()
    bound(world, "data", "disk")
    world.run()
    assert world.where("p") == ONE_NODE


def test_a_lost_claim_and_one_that_is_being_deleted(world: World) -> None:
    world.node()
    world.client.edit(
        claim(world, "lost", volumeName="gone"), lambda one: one["status"].update(phase="Lost"), "status"
    )
    going = claim(world, "going")
    world.client.edit(going, lambda one: one["metadata"].update(finalizers=["example.com/hold"]))
    world.client.delete(read(world, "persistentvolumeclaims", "going"))
    world.pod("p", volumes=uses("lost"))
    world.pod("q", volumes=uses("going"))
    world.run()
    assert world.why("p") == (
        '0/1 nodes are available: persistentvolumeclaim "lost" bound to non-existent persistentvolume "gone". '
        "not found"
    )
    assert world.why("q") == (
        '0/1 nodes are available: persistentvolumeclaim "going" is being deleted. not found'
    )


def test_a_volume_that_is_elsewhere(world: World) -> None:
    world.node("a")
    world.node("b")
    volume(world, "disk", node="b")
    bound(world, "data", "disk")
    world.pod("p", volumes=uses("data"))
    world.pod("q", volumes=uses("data"), nodeSelector={HOST: "a"})
    world.run()
    assert world.where("p") == "b"
    reasons = (
        "1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had volume node affinity conflict"
    )
    assert world.why("q") == no_room(2, reasons, not_helpful=2)


def test_a_volume_that_is_gone(world: World) -> None:
    world.node()
    bound(world, "data", "disk")
    world.pod("p", volumes=uses("data"))
    world.run()
    assert world.why("p") == '0/1 nodes are available: persistentvolume "disk" not found. not found'


def test_a_claim_is_told_its_node_and_the_pod_waits_for_its_volume(world: World) -> None:
    world.node()
    storage_class(world, "standard")
    claim(world, "data")
    world.pod("p", volumes=uses("data"))
    world.run()
    assert read(world, "persistentvolumeclaims", "data")["metadata"]["annotations"][SELECTED] == ONE_NODE
    assert world.where("p") is None
    # Recorded: a pod that waits for its volumes shows where it is going to be, and nothing else.
    assert world.get("p")["status"]["nominatedNodeName"] == ONE_NODE
    assert "conditions" not in world.get("p")["status"]
    assert world.events("FailedScheduling") == []
    volume(world, "disk", node=ONE_NODE)
    bind(world, "data", "disk")
    world.run(1.5)
    assert world.where("p") == ONE_NODE
    assert "nominatedNodeName" not in world.get("p")["status"]


def test_the_smallest_existing_volume_is_taken_where_it_is(world: World) -> None:
    world.node("a")
    world.node("b")
    storage_class(world, "standard", provisioner="kubernetes.io/no-provisioner")
    volume(world, "small", node="b")
    volume(world, "middle", node="b", size="3Gi")
    volume(world, "large", node="b", size="5Gi")
    claim(world, "data", size="2Gi")
    world.pod("p", volumes=uses("data"))
    world.run()
    reference = read(world, "persistentvolumes", "middle")["spec"]["claimRef"]
    assert (reference["namespace"], reference["name"]) == ("lab", "data")
    annotations = read(world, "persistentvolumes", "middle")["metadata"]["annotations"]
    assert annotations == {"pv.kubernetes.io/bound-by-controller": "yes"}
    assert SELECTED not in (
        read(world, "persistentvolumeclaims", "data")["metadata"].get("annotations") or {}
    )
    bind(world, "data", "middle")
    world.run(2)
    assert world.where("p") == "b"


def test_two_claims_of_a_pod_need_two_volumes_of_one_node(world: World) -> None:
    world.node("a")
    world.node("b")
    storage_class(world, "standard", provisioner="kubernetes.io/no-provisioner")
    volume(world, "a1", node="a")
    volume(world, "b1", node="b")
    for name in ("one", "two"):
        claim(world, name)
    world.pod("p", volumes=uses("one", "two"))
    world.run()
    reason = "2 node(s) didn't find available persistent volumes to bind"
    assert world.why("p") == no_room(2, reason, not_helpful=2)
    volume(world, "b2", node="b")
    world.run()
    assert {read(world, "persistentvolumes", name)["spec"]["claimRef"]["name"] for name in ("b1", "b2")} == {
        "one",
        "two",
    }


def test_a_claim_that_was_told_another_node(world: World) -> None:
    world.node("a")
    world.node("b")
    storage_class(world, "standard")
    told = claim(world, "data")
    world.client.patch(told, {"metadata": {"annotations": {SELECTED: "b"}}})
    world.pod("p", volumes=uses("data"), nodeSelector={HOST: "a"})
    world.run()
    reasons = (
        "1 node(s) didn't find available persistent volumes to bind, "
        "1 node(s) didn't match Pod's node affinity/selector"
    )
    assert world.why("p") == no_room(2, reasons, not_helpful=2)


def test_a_provisioner_that_gives_up_has_the_pod_tried_again(world: World) -> None:
    world.node()
    storage_class(world, "standard")
    claim(world, "data")
    world.pod("p", volumes=uses("data"))
    world.run(2)
    made = read(world, "persistentvolumeclaims", "data")
    world.client.patch(made, {"metadata": {"annotations": {SELECTED: None}}})
    world.run(1.5)
    (condition,) = world.get("p")["status"]["conditions"]
    assert condition["reason"] == "SchedulerError"
    assert condition["message"] == (
        'running PreBind plugin "VolumeBinding": binding volumes: provisioning failed for PVC "data"'
    )
    world.run(10)
    assert read(world, "persistentvolumeclaims", "data")["metadata"]["annotations"][SELECTED] == ONE_NODE


def test_volumes_are_waited_for_ten_minutes(world: World) -> None:
    world.node()
    storage_class(world, "standard")
    claim(world, "data")
    world.pod("p", volumes=uses("data"))
    world.run(599)
    assert world.events("FailedScheduling") == []
    world.run(3)
    (event,) = world.events("FailedScheduling")
    assert event["message"] == (
        'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded'
    )


def test_topologies_that_a_class_allows(world: World) -> None:
    world.node("a", labels={ZONE: "x"})
    world.node("b", labels={ZONE: "y"})
    allowed = [{"matchLabelExpressions": [{"key": ZONE, "values": ["y"]}]}]
    storage_class(world, "standard", allowedTopologies=allowed)
    claim(world, "data")
    world.pod("p", volumes=uses("data"))
    world.run()
    assert read(world, "persistentvolumeclaims", "data")["metadata"]["annotations"][SELECTED] == "b"


def test_a_volume_of_a_zone(world: World) -> None:
    world.node("a", labels={ZONE: "x"})
    world.node("b", labels={ZONE: "y"})
    volume(world, "disk", labels={ZONE: "y__z"})
    bound(world, "data", "disk")
    world.pod("p", volumes=uses("data"))
    world.pod("q", volumes=uses("data"), nodeSelector={ZONE: "x"})
    world.run()
    assert world.where("p") == "b"
    reasons = "1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had no available volume zone"
    assert world.why("q") == no_room(2, reasons, not_helpful=2)


def test_a_claim_for_one_pod_only(world: World) -> None:
    world.node("a")
    world.node("b")
    volume(world, "disk")
    bound(world, "data", "disk", modes=("ReadWriteOncePod",))
    world.pod("first", volumes=uses("data"))
    world.run()
    world.pod("second", volumes=uses("data"))
    world.run()
    reason = "2 node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"
    assert world.why("second") == no_room(2, reason, no_victims=2)
    world.gone("first")
    world.run()
    assert world.where("second") in ("a", "b")
