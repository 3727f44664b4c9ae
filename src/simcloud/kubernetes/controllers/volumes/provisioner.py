"""The provisioner of local volumes, ``rancher.io/local-path``: a directory of the node that a pod was given.

It is not part of the control plane but an external provisioner, as a kind cluster has one for its default class: it
works while its pod runs. The helper pods by which the genuine one makes and removes directories are not shown, only
the time that they take: the kubelet makes the directory when it mounts the volume.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Final

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object, at, copy
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.controller import Controller, NamespacedName, controller
from simcloud.kubernetes.controllers.volumes.binder import (
    DEFAULT_CLASS,
    PROVISIONED_BY,
    PROVISIONER,
    SELECTED_NODE,
    annotations_of,
    claim_reference,
)
from simcloud.kubernetes.controllers.volumes.selection import class_of
from simcloud.kubernetes.events import Recorder

NAME: Final = "rancher.io/local-path"
ROOT: Final = "/var/local-path-provisioner"
HELPER_S: Final = 2.5
"""How long a helper pod takes to make or remove a directory."""

_ACCOUNT: Final = "system:serviceaccount:local-path-storage:local-path-provisioner-service-account"
_MODES: Final = ("ReadWriteOnce", "ReadWriteOncePod")

STANDARD_CLASS: Final[Object] = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "standard", "annotations": {DEFAULT_CLASS: "true"}},
    "provisioner": NAME,
    "reclaimPolicy": "Delete",
    "volumeBindingMode": "WaitForFirstConsumer",
}
"""The default class of a kind cluster."""


@controller(NAME)
class LocalPathProvisioner(Controller):
    """Makes volumes for the claims that name it, and deletes them when they are released."""

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self.client = ComponentClient(api, _ACCOUNT, "local-path-provisioner")
        drawn = api.kernel.random("local-path-provisioner").getrandbits(40)
        identity = f"{NAME}_local-path-provisioner-{drawn:010x}_{api.new_uid()}"
        self.recorder = Recorder(self.client, identity)
        self._busy: dict[str, None] = {}
        self._stop_following: list[Callable[[], None]] = []
        self._ended = False

    def run_in(self, spawn: Callable[[Coroutine[Any, Any, Any], str], object]) -> None:
        """Begin to watch and to work in tasks of a process; ``end`` it with that process."""
        self.watch()
        for _ in range(self.workers):
            spawn(self._work(), self.name)

    def end(self) -> None:
        """The process is gone: what it had begun stays as it is."""
        self._ended = True
        for stop in self._stop_following:
            stop()

    def follow(self, name: str, handler: Callable[[Revision], None]) -> None:
        self._stop_following.append(self.client.follow(name, handler))

    def watch(self) -> None:
        self.follow("persistentvolumeclaims", self.enqueue)
        self.follow("persistentvolumes", self.enqueue)

    def sync(self, key: NamespacedName) -> None:
        if key.namespace:
            claim = self.client.get("persistentvolumeclaims", *key)
            if claim is not None and self._is_wanted(claim):
                self._begin(claim)
            return
        volume = self.client.get("persistentvolumes", "", key.name)
        if volume is not None and _to_delete(volume) and volume["metadata"]["uid"] not in self._busy:
            self._busy[volume["metadata"]["uid"]] = None
            self.kernel.call_later(HELPER_S, self._remove, volume)

    def _is_wanted(self, claim: Object) -> bool:
        if claim["spec"].get("volumeName") or "deletionTimestamp" in claim["metadata"]:
            return False
        if annotations_of(claim).get(PROVISIONER) != NAME or claim["metadata"]["uid"] in self._busy:
            return False
        storage_class = self.client.get("storageclasses.storage.k8s.io", "", class_of(claim))
        if storage_class is None or storage_class["provisioner"] != NAME:
            return False
        waits = storage_class.get("volumeBindingMode") == "WaitForFirstConsumer"
        return not waits or SELECTED_NODE in annotations_of(claim)

    def _begin(self, claim: Object) -> None:
        metadata = claim["metadata"]
        words = f'External provisioner is provisioning volume for claim "{metadata["namespace"]}/{metadata["name"]}"'
        self.recorder.event(claim, "Normal", "Provisioning", words)
        refusal = self._refusal(claim)
        if refusal:
            words = f'failed to provision volume with StorageClass "{class_of(claim)}": {refusal}'
            self.recorder.event(claim, "Warning", "ProvisioningFailed", words)
            return
        self._busy[metadata["uid"]] = None
        self.kernel.call_later(HELPER_S, self._provision, claim)

    def _refusal(self, claim: Object) -> str:
        """Why no volume can be made for a claim; empty if one can."""
        spec = claim["spec"]
        if spec.get("volumeMode") == "Block":
            return f"{NAME} does not support block volume provisioning"
        if spec.get("selector") is not None:
            return "claim.Spec.Selector is not supported"
        if any(mode not in _MODES for mode in spec.get("accessModes") or ()):
            return "NodePath only supports ReadWriteOnce and ReadWriteOncePod (1.22+) access modes"
        if not annotations_of(claim).get(SELECTED_NODE):
            return "configuration error, no node was specified"
        return ""

    def _provision(self, wanted: Object) -> None:
        self._busy.pop(wanted["metadata"]["uid"], None)
        claim = self.client.refresh(wanted)
        if self._ended or claim is None or not self._is_wanted(claim):
            return
        storage_class = self.client.get("storageclasses.storage.k8s.io", "", class_of(claim))
        name = f"pvc-{claim['metadata']['uid']}"
        try:
            self.client.create(local_volume(claim, storage_class or STANDARD_CLASS))
        except ApiError:
            self.queue.retry(NamespacedName(claim["metadata"]["namespace"], claim["metadata"]["name"]))
            return
        self.recorder.event(
            claim, "Normal", "ProvisioningSucceeded", f"Successfully provisioned volume {name}"
        )

    def _remove(self, wanted: Object) -> None:
        self._busy.pop(wanted["metadata"]["uid"], None)
        volume = self.client.refresh(wanted)
        if self._ended or volume is None or not _to_delete(volume):
            return
        try:
            self.client.delete(volume)
        except ApiError:
            self.queue.retry(NamespacedName("", volume["metadata"]["name"]))


def local_volume(claim: Object, storage_class: Object) -> Object:
    """A volume that is a directory of the node selected for a claim."""
    metadata, node = claim["metadata"], annotations_of(claim)[SELECTED_NODE]
    name = f"pvc-{metadata['uid']}"
    hostname = {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {
            "name": name,
            "annotations": {"local.path.provisioner/selected-node": node, PROVISIONED_BY: NAME},
        },
        "spec": {
            "accessModes": copy(claim["spec"].get("accessModes") or []),
            "capacity": {"storage": at(claim, "spec", "resources", "requests", "storage")},
            "claimRef": claim_reference(claim),
            "hostPath": {
                "path": f"{ROOT}/{name}_{metadata['namespace']}_{metadata['name']}",
                "type": "DirectoryOrCreate",
            },
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [hostname]}]}},
            "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy", "Delete"),
            "storageClassName": storage_class["metadata"]["name"],
            "volumeMode": "Filesystem",
        },
    }


def _to_delete(volume: Object) -> bool:
    return (
        annotations_of(volume).get(PROVISIONED_BY) == NAME
        and at(volume, "status", "phase") == "Released"
        and volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete"
        and "deletionTimestamp" not in volume["metadata"]
    )
