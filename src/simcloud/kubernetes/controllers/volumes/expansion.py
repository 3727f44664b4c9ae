"""Claims that ask for more than they have: no volume of ours can grow, so they wait for somebody who can do it."""

from __future__ import annotations

from simcloud.kubernetes.api import quantity
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.controller import Controller, NamespacedName, controller

WORDS = "waiting for an external controller to expand this PVC"


@controller("volume_expand")
class VolumeExpand(Controller):
    """Says of every bound claim that grew whom it waits for."""

    def watch(self) -> None:
        self.follow("persistentvolumeclaims", self._see)

    def _see(self, write: Revision) -> None:
        grew = write.before is None or _request_bytes(write.object) > _request_bytes(write.before)
        if write.change != "DELETED" and grew:
            self.enqueue(write)

    def sync(self, key: NamespacedName) -> None:
        claim = self.client.get("persistentvolumeclaims", *key)
        if (
            claim is not None
            and at(claim, "status", "phase") == "Bound"
            and _request_bytes(claim) > _capacity_bytes(claim)
        ):
            self.recorder.event(claim, "Normal", "ExternalExpanding", WORDS)


def _request_bytes(claim: Object) -> int:
    return quantity.whole(at(claim, "spec", "resources", "requests", "storage", default="0"))


def _capacity_bytes(claim: Object) -> int:
    return quantity.whole(at(claim, "status", "capacity", "storage", default="0"))
