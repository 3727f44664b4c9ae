"""Claims and volumes: dynamic ones as recorded, and each bound to at most one of the other."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from simcloud.kubernetes.api.objects import Object, at, copy
from simcloud.kubernetes.controllers.volumes.provisioner import NAME, STANDARD_CLASS
from tests.simcloud.kubernetes.controllers.test_cases import World, event_line, frozen_objects

__all__ = ["frozen_objects"]

BINDING = ["persistentvolume-controller", "pvc-protection-controller", "pv-protection-controller"]
SELECTED = "volume.kubernetes.io/selected-node"


def claim(name: str, size: int = 1, storage_class: str | None = None, **spec: Any) -> Object:
    wanted: Object = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": f"{size}Gi"}},
        **spec,
    }
    if storage_class is not None:
        wanted["storageClassName"] = storage_class
    metadata = {"name": name, "finalizers": ["kubernetes.io/pvc-protection"]}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": wanted}


def volume(name: str, size: int) -> Object:
    spec = {"capacity": {"storage": f"{size}Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "m"}
    spec["hostPath"] = {"path": f"/data/{name}"}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}


def told(world: World, name: str) -> list[str]:
    found = [one for one in world.client.list("events", "demo") if one["involvedObject"]["name"] == name]
    return [event_line(one) for one in world.oldest_first(found)]


def test_a_local_volume_is_made_on_the_selected_node_and_goes_with_its_claim() -> None:
    world = World([*BINDING, NAME], stand_in=False)
    world.client.create(copy(STANDARD_CLASS))
    world.create(claim("wffc", storage_class="standard"))
    world.kernel.run_for(20)
    world.patch({"persistentvolumeclaims/wffc": {"metadata": {"annotations": {SELECTED: "kind-worker"}}}}, "")
    world.kernel.run_for(5)
    (bound,) = world.some("persistentvolumeclaims/wffc")
    assert bound["status"]["phase"] == "Bound"
    assert bound["metadata"]["annotations"] == {
        "pv.kubernetes.io/bind-completed": "yes",
        "pv.kubernetes.io/bound-by-controller": "yes",
        "volume.beta.kubernetes.io/storage-provisioner": NAME,
        "volume.kubernetes.io/storage-provisioner": NAME,
        SELECTED: "kind-worker",
    }
    (made,) = world.client.list("persistentvolumes")
    uid = bound["metadata"]["uid"]
    assert made["metadata"]["name"] == f"pvc-{uid}"
    assert made["spec"]["hostPath"]["path"] == f"/var/local-path-provisioner/pvc-{uid}_demo_wffc"
    assert made["spec"]["persistentVolumeReclaimPolicy"] == "Delete"
    waiting = (
        "Normal ExternalProvisioning PersistentVolumeClaim/wffc: Waiting for a volume to be created either by"
        " the external provisioner 'rancher.io/local-path' or manually by the system administrator. If volume"
        " creation is delayed, please verify that the provisioner is running and correctly registered. (x2)"
    )
    assert sorted(told(world, "wffc")) == sorted(
        [
            "Normal WaitForFirstConsumer PersistentVolumeClaim/wffc: "
            "waiting for first consumer to be created before binding (x2)",
            waiting,
            "Normal Provisioning PersistentVolumeClaim/wffc: "
            'External provisioner is provisioning volume for claim "demo/wffc"',
            "Normal ProvisioningSucceeded PersistentVolumeClaim/wffc: "
            f"Successfully provisioned volume pvc-{uid}",
        ]
    )
    world.delete("persistentvolumeclaims/wffc")
    world.kernel.run_for(5)
    assert world.client.list("persistentvolumes") == []


def test_a_pod_that_waits_for_a_node_is_named() -> None:
    world = World(BINDING, stand_in=False)
    world.client.create(copy(STANDARD_CLASS))
    mounted = {"name": "d", "persistentVolumeClaim": {"claimName": "wffc"}}
    spec = {"containers": [{"name": "a", "image": "a"}], "volumes": [mounted]}
    world.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "user"}, "spec": spec})
    world.create(claim("wffc", storage_class="standard"))
    world.kernel.run_for(1)
    assert told(world, "wffc") == [
        "Normal WaitForPodScheduled PersistentVolumeClaim/wffc: waiting for pod user to be scheduled"
    ]


def test_a_late_default_class_is_given_to_claims_that_name_none() -> None:
    world = World(BINDING, stand_in=False)
    world.create([claim("data"), claim("never", storage_class="")])
    world.kernel.run_for(1)
    world.client.create(copy(STANDARD_CLASS))
    world.kernel.run_for(16)
    assert [one["spec"].get("storageClassName") for one in world.some("persistentvolumeclaims/*")] == [
        "standard",
        "",
    ]


def test_a_claim_is_lost_with_its_volume() -> None:
    world = World(["persistentvolume-controller"], stand_in=False)
    world.create([volume("v", 1), claim("c", storage_class="m")])
    world.kernel.run_for(16)
    world.delete("persistentvolumes/v")
    (protected,) = world.some("persistentvolumes/v")
    world.client.edit(protected, lambda obj: obj["metadata"].update(finalizers=[]))  # somebody forces it
    world.kernel.run_for(1)
    (lost,) = world.some("persistentvolumeclaims/c")
    assert lost["status"] == {"phase": "Lost"}
    assert told(world, "c")[-1] == (
        "Warning ClaimLost PersistentVolumeClaim/c: "
        "Bound claim has lost its PersistentVolume. Data on the volume is lost!"
    )


STEPS = st.tuples(
    st.sampled_from(["claim", "volume", "drop", "remove", "wait"]), st.integers(0, 4), st.integers(1, 3)
)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.lists(STEPS, max_size=16))
def test_a_claim_and_a_volume_have_each_other_alone(steps: list[tuple[str, int, int]]) -> None:
    world = World(BINDING, stand_in=False)
    for verb, number, size in steps:
        if verb == "claim" and not world.named(f"persistentvolumeclaims/c{number}"):
            world.create(claim(f"c{number}", size, "m"))
        elif verb == "volume" and not world.named(f"persistentvolumes/v{number}"):
            world.create(volume(f"v{number}", size))
        elif verb == "drop" and world.named(f"persistentvolumeclaims/c{number}"):
            world.delete(f"persistentvolumeclaims/c{number}")
        elif verb == "remove" and world.named(f"persistentvolumes/v{number}"):
            world.delete(f"persistentvolumes/v{number}")
        world.kernel.run_for(size / 100)
    world.kernel.run_for(40)
    claims = {one["metadata"]["name"]: one for one in world.client.list("persistentvolumeclaims", "demo")}
    volumes = {one["metadata"]["name"]: one for one in world.client.list("persistentvolumes")}
    held = [one["spec"]["volumeName"] for one in claims.values() if one["status"]["phase"] == "Bound"]
    assert len(held) == len(set(held))
    for name, one in claims.items():
        if one["status"]["phase"] == "Bound":
            owner = volumes[one["spec"]["volumeName"]]
            assert owner["status"]["phase"] == "Bound"
            assert owner["spec"]["claimRef"]["uid"] == one["metadata"]["uid"]
        else:
            wanted = int(one["spec"]["resources"]["requests"]["storage"][:-2])
            free = [v for v in volumes.values() if v["status"]["phase"] == "Available"]
            assert all(int(at(v, "spec", "capacity", "storage")[:-2]) < wanted for v in free), name


def test_a_claim_that_grows_waits_for_whoever_can_do_it() -> None:
    world = World([*BINDING, NAME, "volume_expand"], stand_in=False)
    world.client.create({**copy(STANDARD_CLASS), "allowVolumeExpansion": True})
    world.create(claim("data", storage_class="standard"))
    world.patch({"persistentvolumeclaims/data": {"metadata": {"annotations": {SELECTED: "kind-worker"}}}}, "")
    world.kernel.run_for(20)
    wanted = {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}
    world.patch({"persistentvolumeclaims/data": wanted}, "")
    world.kernel.run_for(5)
    (grown,) = world.some("persistentvolumeclaims/data")
    assert grown["status"]["capacity"] == {"storage": "1Gi"}
    words = "waiting for an external controller to expand this PVC"
    assert [line for line in told(world, "data") if words in line], told(world, "data")
