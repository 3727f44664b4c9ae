"""Binding of PersistentVolumeClaims to PersistentVolumes, and what becomes of a volume without its claim.

A new volume does not wake the claims that wait: as in the genuine controller they are looked at every
15 s. A claim of a class that waits for its first consumer is bound once the scheduler has chosen a node.
Volumes are made and deleted by provisioners; this controller asks for them.
"""

from __future__ import annotations

import re
from typing import Final

from simcloud.kubernetes.api.objects import Object, at, copy
from simcloud.kubernetes.api.quantity import parse
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.controller import Controller, NamespacedName, controller
from simcloud.kubernetes.controllers.volumes.claimants import Claimants
from simcloud.kubernetes.controllers.volumes.selection import VolumeIndex, class_of, is_bound_to

RESYNC_S: Final = 15.0
BIND_COMPLETED: Final = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER: Final = "pv.kubernetes.io/bound-by-controller"
PROVISIONED_BY: Final = "pv.kubernetes.io/provisioned-by"
SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
PROVISIONER: Final = "volume.kubernetes.io/storage-provisioner"
BETA_PROVISIONER: Final = "volume.beta.kubernetes.io/storage-provisioner"
DEFAULT_CLASS: Final = "storageclass.kubernetes.io/is-default-class"

_DELETABLE: Final = re.compile(r"/tmp/.+")
_WAITING: Final = (
    "Waiting for a volume to be created either by the external provisioner '{}' or manually by the system "
    "administrator. If volume creation is delayed, please verify that the provisioner is running and "
    "correctly registered."
)


@controller("persistentvolume-controller")
class VolumeBinder(Controller):
    """Keys without a namespace are volumes, the others claims."""

    volumes: VolumeIndex
    claimants: Claimants
    unsettled: dict[NamespacedName, None]

    def watch(self) -> None:
        self.unsettled = {}
        self.volumes = VolumeIndex(self.client)
        self.claimants = Claimants(self.client)
        self.follow("persistentvolumes", self._see_volume)
        self.follow("persistentvolumeclaims", self._see_claim)
        self.kernel.spawn(self._resync(), f"{self.name}.resync")

    def _see_volume(self, write: Revision) -> None:
        self._note(write, ("Bound", "Available"))
        self.enqueue(write)
        reference = write.object["spec"].get("claimRef")
        if write.change == "DELETED" and reference is not None:
            self.queue.add(NamespacedName(reference["namespace"], reference["name"]))

    def _see_claim(self, write: Revision) -> None:
        self._note(write, ("Bound",))
        self.enqueue(write)
        if write.change == "DELETED" and write.object["spec"].get("volumeName"):
            self.queue.add(NamespacedName("", write.object["spec"]["volumeName"]))

    def _note(self, write: Revision, settled: tuple[str, ...]) -> None:
        key = NamespacedName(write.key.namespace, write.key.name)
        if write.change == "DELETED" or at(write.object, "status", "phase") in settled:
            self.unsettled.pop(key, None)
        else:
            self.unsettled[key] = None

    async def _resync(self) -> None:
        while True:
            await self.kernel.sleep(RESYNC_S)
            for key in self.unsettled:
                self.queue.add(key)

    def sync(self, key: NamespacedName) -> None:
        if not key.namespace:
            volume = self.client.get("persistentvolumes", "", key.name)
            if volume is not None:
                self._sync_volume(volume)
            return
        claim = self.client.get("persistentvolumeclaims", *key)
        if claim is None:
            return
        if BIND_COMPLETED in annotations_of(claim):
            self._sync_bound(claim)
        elif claim["spec"].get("volumeName"):
            self._sync_asking(claim)
        else:
            self._sync_unbound(claim)

    # Claims.

    def _sync_unbound(self, claim: Object) -> None:
        """A claim that takes any volume."""
        storage_class = self.client.get("storageclasses.storage.k8s.io", "", class_of(claim))
        waits = at(storage_class, "volumeBindingMode") == "WaitForFirstConsumer"
        volume = self.volumes.best(claim, reserved_only=waits)
        if volume is not None:
            self._bind(volume, claim)
            return
        default = self._default_class(claim)
        if default is not None:
            self.client.patch(claim, {"spec": {"storageClassName": default}})
        elif waits and SELECTED_NODE not in annotations_of(claim):
            self._tell_waiting(claim)
            self._claim_status(claim, "Pending", None)
        elif class_of(claim):
            self._ask_provisioner(claim, storage_class)
        else:
            words = "no persistent volumes available for this claim and no storage class is set"
            self.recorder.event(claim, "Normal", "FailedBinding", words)
            self._claim_status(claim, "Pending", None)

    def _sync_asking(self, claim: Object) -> None:
        """A claim that asks for a certain volume."""
        volume = self.client.get("persistentvolumes", "", claim["spec"]["volumeName"])
        if volume is None:
            self._claim_status(claim, "Pending", None)
        elif volume["spec"].get("claimRef") is None:
            refusal = _mismatch(volume, claim)
            if refusal:
                self.recorder.event(claim, "Warning", "VolumeMismatch", refusal)
                self._claim_status(claim, "Pending", None)
            else:
                self._bind(volume, claim)
        elif is_bound_to(volume, claim):
            self._bind(volume, claim)
        else:
            words = f'volume "{volume["metadata"]["name"]}" already bound to a different claim.'
            self.recorder.event(claim, "Warning", "FailedBinding", words)
            self._claim_status(claim, "Pending", None)

    def _sync_bound(self, claim: Object) -> None:
        """A claim that was bound: its volume must still be there and be its own."""
        name = claim["spec"].get("volumeName")
        volume = self.client.get("persistentvolumes", "", name) if name else None
        if not name:
            self._lose(
                claim,
                "ClaimLost",
                "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!",
            )
        elif volume is None:
            words = "Bound claim has lost its PersistentVolume. Data on the volume is lost!"
            self._lose(claim, "ClaimLost", words)
        elif at(volume, "spec", "claimRef", "uid") in (None, claim["metadata"]["uid"]):
            self._bind(volume, claim)
        else:
            words = "Two claims are bound to the same volume, this one is bound incorrectly"
            self._lose(claim, "ClaimMisbound", words)

    def _lose(self, claim: Object, reason: str, message: str) -> None:
        if at(claim, "status", "phase") != "Lost":
            self._claim_status(claim, "Lost", None)
            self.recorder.event(claim, "Warning", reason, message)

    def _tell_waiting(self, claim: Object) -> None:
        pods = self.claimants.find_unscheduled(claim)
        if not pods:
            words = "waiting for first consumer to be created before binding"
            self.recorder.event(claim, "Normal", "WaitForFirstConsumer", words)
            return
        whom = f"pod {pods[0]}" if len(pods) == 1 else f"pods {','.join(pods)}"
        words = f"waiting for {whom} to be scheduled"
        self.recorder.event(claim, "Normal", "WaitForPodScheduled", words)

    def _default_class(self, claim: Object) -> str | None:
        """The default class, for a claim that says nothing about its class."""
        if claim["spec"].get("storageClassName") is not None or class_of(claim):
            return None
        defaults = [
            storage_class
            for storage_class in self.client.list("storageclasses.storage.k8s.io")
            if annotations_of(storage_class).get(DEFAULT_CLASS) == "true"
        ]
        newest = sorted(defaults, key=lambda storage_class: storage_class["metadata"]["name"])
        newest.sort(
            key=lambda storage_class: str(storage_class["metadata"]["creationTimestamp"]), reverse=True
        )
        return newest[0]["metadata"]["name"] if newest else None

    def _ask_provisioner(self, claim: Object, storage_class: Object | None) -> None:
        if storage_class is None:
            words = f'storageclass.storage.k8s.io "{class_of(claim)}" not found'
            self.recorder.event(claim, "Warning", "ProvisioningFailed", words)
            return
        name = storage_class["provisioner"]
        if name.startswith("kubernetes.io/"):
            words = f"no volume plugin matched name: {name}"
            self.recorder.event(claim, "Warning", "ProvisioningFailed", words)
            return
        wanted = {BETA_PROVISIONER: name, PROVISIONER: name}
        if not wanted.items() <= annotations_of(claim).items():
            claim = self.client.patch(claim, {"metadata": {"annotations": wanted}})
        self.recorder.event(claim, "Normal", "ExternalProvisioning", _WAITING.format(name))

    # Volumes.

    def _sync_volume(self, volume: Object) -> None:
        reference = volume["spec"].get("claimRef")
        if reference is None or not reference.get("uid"):
            self._phase(volume, "Available")
            return
        claim = self.client.get("persistentvolumeclaims", reference["namespace"], reference["name"])
        if claim is None or claim["metadata"]["uid"] != reference["uid"]:
            self._reclaim(volume)
        elif not claim["spec"].get("volumeName"):
            self.queue.add(NamespacedName(reference["namespace"], reference["name"]))
        elif claim["spec"]["volumeName"] == volume["metadata"]["name"]:
            self._phase(volume, "Bound")
        elif (
            PROVISIONED_BY in annotations_of(volume)
            and volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete"
        ):
            self._reclaim(volume)
        else:
            self._unbind(volume)

    def _reclaim(self, volume: Object) -> None:
        """The claim is gone: keep the volume for somebody to look at, or have it deleted."""
        if at(volume, "status", "phase") not in ("Released", "Failed"):
            volume = self._phase(volume, "Released")
        if volume["spec"].get("persistentVolumeReclaimPolicy") != "Delete":
            return
        if PROVISIONED_BY in annotations_of(volume) or "deletionTimestamp" in volume["metadata"]:
            return
        path = at(volume, "spec", "hostPath", "path")
        if path is not None and _DELETABLE.match(path):
            self.client.delete(volume)
            return
        name = volume["metadata"]["name"]
        words = f'error getting deleter volume plugin for volume "{name}": no deletable volume plugin matched'
        if path is not None:
            words = f"host_path deleter only supports /tmp/.+ but received provided {path}"
        if at(volume, "status", "phase") != "Failed":
            self._phase(volume, "Failed", words)
            self.recorder.event(volume, "Warning", "VolumeFailedDelete", words)

    def _unbind(self, volume: Object) -> None:
        """The claim took another volume: this one is free again."""
        changed: Object = copy(volume)
        if BOUND_BY_CONTROLLER in annotations_of(volume):
            del changed["spec"]["claimRef"]
            del changed["metadata"]["annotations"][BOUND_BY_CONTROLLER]
        else:
            changed["spec"]["claimRef"].pop("uid", None)
        self._phase(self.client.update(changed), "Available")

    # Both.

    def _bind(self, volume: Object, claim: Object) -> None:
        """Write the binding into the volume first, then into the claim; what is there already stays."""
        volume = self._bind_volume(volume, claim)
        volume = self._phase(volume, "Bound")
        claim = self._bind_claim(claim, volume)
        self._claim_status(claim, "Bound", volume)

    def _bind_volume(self, volume: Object, claim: Object) -> Object:
        metadata = claim["metadata"]
        if at(volume, "spec", "claimRef", "uid") == metadata["uid"]:
            return volume
        changed: Object = copy(volume)
        if not is_bound_to(volume, claim):
            changed["metadata"].setdefault("annotations", {})[BOUND_BY_CONTROLLER] = "yes"
        changed["spec"]["claimRef"] = claim_reference(claim)
        return self.client.update(changed)

    def _bind_claim(self, claim: Object, volume: Object) -> Object:
        name = volume["metadata"]["name"]
        changed: Object = copy(claim)
        annotations = changed["metadata"].get("annotations") or {}
        if claim["spec"].get("volumeName") != name:
            changed["spec"]["volumeName"] = name
            annotations[BOUND_BY_CONTROLLER] = "yes"
        annotations[BIND_COMPLETED] = "yes"
        changed["metadata"]["annotations"] = annotations
        return claim if changed == claim else self.client.update(changed)

    def _claim_status(self, claim: Object, phase: str, volume: Object | None) -> None:
        changed: Object = copy(claim)
        status = changed.setdefault("status", {})
        status["phase"] = phase
        for key in ("accessModes", "capacity"):
            if volume is None:
                status.pop(key, None)
        if volume is not None:
            status["accessModes"] = copy(volume["spec"].get("accessModes") or [])
            status.setdefault("capacity", copy(volume["spec"].get("capacity") or {}))
        if changed != claim:
            self.client.update_status(changed)

    def _phase(self, volume: Object, phase: str, message: str = "") -> Object:
        if at(volume, "status", "phase") == phase:
            return volume
        changed: Object = copy(volume)
        changed["status"]["phase"] = phase
        changed["status"].pop("message", None)
        if message:
            changed["status"]["message"] = message
        return self.client.update_status(changed)


def annotations_of(obj: Object) -> dict[str, str]:
    """An object's annotations."""
    return obj["metadata"].get("annotations") or {}


def claim_reference(claim: Object) -> Object:
    """How a volume names the claim that it is bound to."""
    metadata = claim["metadata"]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "name": metadata["name"],
        "namespace": metadata["namespace"],
        "resourceVersion": metadata["resourceVersion"],
        "uid": metadata["uid"],
    }


def _mismatch(volume: Object, claim: Object) -> str:
    """Why a claim cannot have the volume that it asks for; empty if it can."""
    from_volume, wanted = volume["spec"], claim["spec"]
    name = volume["metadata"]["name"]
    if from_volume.get("volumeMode", "Filesystem") != wanted.get("volumeMode", "Filesystem"):
        return f'Cannot bind to requested volume "{name}": incompatible volumeMode'
    if class_of(volume) != class_of(claim):
        return f'Cannot bind to requested volume "{name}": storageClassName does not match'
    if not set(wanted.get("accessModes") or ()) <= set(from_volume.get("accessModes") or ()):
        return f'Cannot bind to requested volume "{name}": incompatible accessMode'
    size = parse(at(wanted, "resources", "requests", "storage", default="0"))
    if parse(at(from_volume, "capacity", "storage", default="0")) < size:
        return f'Cannot bind to requested volume "{name}": requested PV is too small'
    return ""
