"""Volumes: what their files are, when they change, and what is said when they cannot be had."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from simcloud.kubernetes.api.objects import Object, copy
from tests.simcloud.kubernetes.kubelet.world import World


def create(world: World, kind: str, name: str, **more: Any) -> None:
    version = "v1"
    metadata = {"name": name}
    if kind != "PersistentVolume":
        metadata["namespace"] = "lab"
    world.client.create({"apiVersion": version, "kind": kind, "metadata": metadata, **more})


def run_with(world: World, name: str, volume: Object, line: str = "sleep 1000", **mount: Any) -> None:
    world.run(
        name,
        "sh",
        "-c",
        line,
        restartPolicy="Never",
        volumes=[{"name": "v", **volume}],
        container={"volumeMounts": [{"name": "v", "mountPath": "/v", **mount}]},
    )


def read(world: World, name: str, path: str) -> bytes:
    uid = world.pod(name)["metadata"]["uid"]
    container = world.kubelet.node.runtime.pods[uid].containers[0].container
    assert container is not None
    return container.files.read(path)


def test_a_changed_config_map_reaches_files_but_no_sub_path_and_no_variable(world: World) -> None:
    create(world, "ConfigMap", "cm", data={"a.conf": "old", "b.conf": "b"})
    world.run(
        "app",
        "sleep",
        "1000",
        volumes=[{"name": "v", "configMap": {"name": "cm"}}],
        container={
            "envFrom": [{"configMapRef": {"name": "cm"}}],
            "volumeMounts": [
                {"name": "v", "mountPath": "/v"},
                {"name": "v", "mountPath": "/etc/app/a.conf", "subPath": "a.conf"},
            ],
        },
    )
    world.run_until_ready(["app"])
    assert read(world, "app", "/v/a.conf") == read(world, "app", "/etc/app/a.conf") == b"old"
    changed = copy(world.client.get("configmaps", "lab", "cm"))
    changed["data"] = {"a.conf": "new", "c.conf": "c"}
    world.client.update(changed)
    world.kernel.run_for(0.5)
    assert read(world, "app", "/v/a.conf") == b"old"
    world.kernel.run_for(90)
    assert read(world, "app", "/v/a.conf") == b"new"
    assert read(world, "app", "/v/c.conf") == b"c"
    assert read(world, "app", "/etc/app/a.conf") == b"old"
    assert world.status("app")["restartCount"] == 0


def test_items_modes_and_secrets(world: World) -> None:
    create(world, "Secret", "s", data={"key": base64.b64encode(b"x\x00y").decode()})
    items = [{"key": "key", "path": "deep/er.pem", "mode": 0o400}]
    secret = {"secretName": "s", "items": items, "defaultMode": 0o644}
    run_with(world, "app", {"secret": secret}, "ls -lL /v/deep; sleep 1000")
    world.run_until_ready(["app"])
    assert read(world, "app", "/v/deep/er.pem") == b"x\x00y"
    assert world.logs("app").splitlines()[-1].startswith("-r--------")


@pytest.mark.parametrize(
    ("volume", "why"),
    [
        ({"configMap": {"name": "no"}}, 'configmap "no" not found'),
        ({"secret": {"secretName": "no"}}, 'secret "no" not found'),
        (
            {"configMap": {"name": "cm", "items": [{"key": "no", "path": "x"}]}},
            "configmap references non-existent config key: no",
        ),
        (
            {"hostPath": {"path": "/etc/passwd", "type": "Directory"}},
            "hostPath type check failed: /etc/passwd is not a directory",
        ),
        ({"hostPath": {"path": "/etc", "type": "File"}}, "hostPath type check failed: /etc is not a file"),
    ],
)
def test_what_is_said_of_a_volume_that_cannot_be_had(world: World, volume: Object, why: str) -> None:
    create(world, "ConfigMap", "cm", data={"a": "1"})
    run_with(world, "app", volume)
    world.kernel.run_for(10)
    told = f'MountVolume.SetUp failed for volume "v" : {why}'
    assert (5, "Warning", "FailedMount", told) in world.events("app")
    assert world.status("app")["state"] == {"waiting": {"reason": "ContainerCreating"}}


def test_after_two_minutes_the_whole_attempt_is_told_of(world: World) -> None:
    run_with(world, "app", {"configMap": {"name": "no"}})
    world.kernel.run_for(126)
    told = (
        "Unable to attach or mount volumes: unmounted volumes=[v], unattached volumes=[], "
        "failed to process volumes=[]: context deadline exceeded"
    )
    assert (1, "Warning", "FailedMount", told) in world.events("app")


def test_a_pod_that_waits_for_a_volume_can_be_deleted(world: World) -> None:
    run_with(world, "app", {"configMap": {"name": "no"}})
    world.kernel.run_for(5)
    world.client.delete(world.pod("app"))
    world.kernel.run_for(3)
    assert not world.has("app")


def test_an_optional_config_map_may_be_missing(world: World) -> None:
    run_with(world, "app", {"configMap": {"name": "no", "optional": True}})
    world.run_until_ready(["app"])


def test_an_empty_dir_outlives_containers_and_not_the_pod(world: World) -> None:
    world.run(
        "app",
        "sh",
        "-c",
        "echo x >> /v/starts; wc -l < /v/starts; sleep 2; exit 1",
        volumes=[{"name": "v", "emptyDir": {}}],
        container={"volumeMounts": [{"name": "v", "mountPath": "/v"}]},
    )
    world.kernel.run_for(10)
    assert world.logs("app").strip() == "2"
    used = world.machine.disk.used_bytes
    world.client.delete(world.pod("app"))
    world.kernel.run_for(35)
    assert world.machine.disk.used_bytes < used


def test_a_read_only_mount_and_a_read_only_root(world: World) -> None:
    world.machine.host.files.mkdir("/srv/data", parents=True)
    run_with(world, "ro", {"hostPath": {"path": "/srv/data"}}, "echo x > /v/f", readOnly=True)
    world.run(
        "root",
        "sh",
        "-c",
        "echo x > /v/f && echo y > /f",
        restartPolicy="Never",
        volumes=[{"name": "v", "emptyDir": {}}],
        container={
            "securityContext": {"readOnlyRootFilesystem": True},
            "volumeMounts": [{"name": "v", "mountPath": "/v"}],
        },
    )
    world.kernel.run_for(8)
    assert "Read-only file system" in world.logs("ro")
    assert "/f: Read-only file system" in world.logs("root")


def test_a_host_path_is_the_machines_own(world: World) -> None:
    run_with(
        world, "app", {"hostPath": {"path": "/srv/new/deep", "type": "DirectoryOrCreate"}}, "echo hi > /v/f"
    )
    world.kernel.run_for(8)
    assert world.machine.host.files.read("/srv/new/deep/f") == b"hi\n"


def test_a_claim_that_is_bound_brings_its_disk(world: World) -> None:
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}
    create(world, "PersistentVolume", "pv1", spec={**spec, "hostPath": {"path": "/srv/pv1"}})
    resources = {"resources": {"requests": {"storage": "1Gi"}}}
    claim = {"accessModes": ["ReadWriteOnce"], **resources, "volumeName": "pv1", "storageClassName": ""}
    create(world, "PersistentVolumeClaim", "data", spec=claim)
    run_with(world, "app", {"persistentVolumeClaim": {"claimName": "data"}}, "echo kept > /v/f; sleep 1000")
    world.kernel.run_for(10)
    assert world.status("app")["state"] == {"waiting": {"reason": "ContainerCreating"}}
    bound = copy(world.client.get("persistentvolumeclaims", "lab", "data"))
    bound["status"] = {"phase": "Bound"}
    world.client.update_status(bound)
    world.run_until_ready(["app"])
    assert world.machine.host.files.read("/srv/pv1/f") == b"kept\n"


def test_the_downward_api_follows_labels(world: World) -> None:
    items = [
        {"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}},
        {"path": "name", "fieldRef": {"fieldPath": "metadata.name"}},
    ]
    run_with(world, "app", {"downwardAPI": {"items": items}})
    world.run_until_ready(["app"])
    assert read(world, "app", "/v/labels") == b'run="app"'
    changed = copy(world.pod("app"))
    changed["metadata"]["labels"]["tier"] = "back"
    world.client.update(changed)
    world.kernel.run_for(3)
    assert read(world, "app", "/v/labels") == b'run="app"\ntier="back"'


def test_the_token_of_the_service_account_speaks_for_the_pod(world: World) -> None:
    create(world, "ServiceAccount", "robot")
    create(world, "ConfigMap", "kube-root-ca.crt", data={"ca.crt": "CERT"})
    sources = [
        {"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}]}},
    ]
    world.run(
        "app",
        "sleep",
        "1000",
        serviceAccountName="robot",
        volumes=[{"name": "v", "projected": {"sources": sources}}],
        container={"volumeMounts": [{"name": "v", "mountPath": "/v", "readOnly": True}]},
    )
    world.run_until_ready(["app"])
    assert read(world, "app", "/v/namespace") == b"lab"
    assert read(world, "app", "/v/ca.crt") == b"CERT"
    user = world.api.tokens.authenticate(read(world, "app", "/v/token").decode(), world.api.now_s)
    assert user is not None
    assert user.name == "system:serviceaccount:lab:robot"
