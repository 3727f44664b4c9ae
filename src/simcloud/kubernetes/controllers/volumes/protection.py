"""Claims and volumes in use are not removed: finalizers keep them until nobody uses them any more."""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.api.objects import Object, at, copy
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.controller import Controller, NamespacedName, controller
from simcloud.kubernetes.controllers.volumes.claimants import Claimants

OF_CLAIMS: Final = "kubernetes.io/pvc-protection"
OF_VOLUMES: Final = "kubernetes.io/pv-protection"


@controller("pvc-protection-controller")
class ClaimProtection(Controller):
    """A claim goes when no pod on a node uses it."""

    claimants: Claimants

    def watch(self) -> None:
        self.claimants = Claimants(self.client, self._enqueue_claim)
        self.follow("persistentvolumeclaims", self.enqueue)

    def _enqueue_claim(self, namespace: str, name: str) -> None:
        claim = self.client.get("persistentvolumeclaims", namespace, name)
        if claim is not None and "deletionTimestamp" in claim["metadata"]:
            self.queue.add(NamespacedName(namespace, name))

    def sync(self, key: NamespacedName) -> None:
        claim = self.client.get("persistentvolumeclaims", *key)
        if claim is not None:
            used = any(pod["spec"].get("nodeName") for pod in self.claimants.of(claim))
            protect(self.client, claim, OF_CLAIMS, used)


@controller("pv-protection-controller")
class VolumeProtection(Controller):
    """A volume goes when it is not bound."""

    def watch(self) -> None:
        self.follow("persistentvolumes", self.enqueue)

    def sync(self, key: NamespacedName) -> None:
        volume = self.client.get("persistentvolumes", "", key.name)
        if volume is not None:
            protect(self.client, volume, OF_VOLUMES, at(volume, "status", "phase") == "Bound")


def protect(client: ComponentClient, obj: Object, finalizer: str, used: bool) -> None:
    """Put a finalizer on an object that stays; take it from one that goes and is not used."""
    present = obj["metadata"].get("finalizers") or []
    leaving = "deletionTimestamp" in obj["metadata"]
    if leaving and not used and finalizer in present:
        wanted = [name for name in present if name != finalizer]
    elif not leaving and finalizer not in present:
        wanted = [*present, finalizer]
    else:
        return
    changed: Object = copy(obj)
    changed["metadata"]["finalizers"] = wanted
    client.update(changed)
