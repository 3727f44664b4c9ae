"""Deletion of namespaces: first the pods, then all other content, then the namespace itself.

A deleted namespace is Terminating. Five seconds later everything in it is deleted, of every kind; pods get their
grace period, and other objects wait until the pods are gone. Remaining objects are reported in the namespace's
conditions, and the sync is repeated: after half of the longest grace period, or with a growing back-off if anything
else remains.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct, field

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.errors import ApiError, NotFound
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.options import DeleteOptions
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.api.times import parse
from simcloud.kubernetes.controller import Controller, NamespacedName, controller
from simcloud.kubernetes.workqueue import WorkQueue

GRACE_S: Final = 5.0
"""Late creations inside the namespace are given this long to be seen."""

FINALIZERS_ESTIMATE_S: Final = 15
"""How long whoever holds a finalizer is expected to need."""

LONGEST_PAUSE_S: Final = 60.0
FINALIZER: Final = "kubernetes"

WELL: Final = (
    ("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"),
    (
        "NamespaceDeletionGroupVersionParsingFailure",
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    ),
    (
        "NamespaceDeletionContentFailure",
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    ("NamespaceContentRemaining", "ContentRemoved", "All content successfully removed"),
    ("NamespaceFinalizersRemaining", "ContentHasNoFinalizers", "All content-preserving finalizers finished"),
)
"""The conditions of a namespace that ends, in their order, and what each says when all is well."""


class Remains(Struct):
    """What a pass over a namespace left behind."""

    estimate_s: int = 0
    """How long the rest is expected to take; with nothing left to wait for, 0."""
    objects: dict[str, int] = field(default_factory=dict)
    finalizers: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def troubles(self) -> dict[str, tuple[str, str]]:
        """Reason and sentence of every condition that is not well."""
        conditions = {}
        if self.failures:
            failures = f"{len(self.failures)} remaining: {', '.join(sorted(self.failures))}"
            conditions["NamespaceDeletionContentFailure"] = (
                "ContentDeletionFailed",
                f"Failed to delete all resource types, {failures}",
            )
        if self.objects:
            rest = sorted(f"{name} has {count} resource instances" for name, count in self.objects.items())
            conditions["NamespaceContentRemaining"] = (
                "SomeResourcesRemain",
                f"Some resources are remaining: {', '.join(rest)}",
            )
        if self.finalizers:
            rest = sorted(f"{name} in {count} resource instances" for name, count in self.finalizers.items())
            conditions["NamespaceFinalizersRemaining"] = (
                "SomeFinalizersRemain",
                f"Some content in the namespace has finalizers remaining: {', '.join(rest)}",
            )
        return conditions


class ContentRemains(ApiError):
    """Something is left in the namespace that nobody says to be waiting for."""


@controller("namespace-controller")
class Namespaces(Controller):
    """Empties and ends the namespaces that were deleted."""

    workers = 10

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self.queue = WorkQueue(api.kernel, LONGEST_PAUSE_S)

    def watch(self) -> None:
        self.follow("namespaces", self._see)

    def _see(self, write: Revision) -> None:
        if write.change != "DELETED" and "deletionTimestamp" in write.object["metadata"]:
            self.queue.add_after(NamespacedName("", write.key.name), GRACE_S)

    def sync(self, key: NamespacedName) -> None:
        namespace = self.client.get("namespaces", "", key.name)
        if namespace is None or "deletionTimestamp" not in namespace["metadata"]:
            return
        if FINALIZER not in (namespace.get("spec", {}).get("finalizers") or ()):
            return
        remains = self._empty(namespace)
        self._tell(namespace, remains)
        if remains.failures:
            raise ContentRemains(remains.failures[0])
        if remains.estimate_s:
            self.queue.add_after(key, remains.estimate_s // 2 + 1)
            return
        self._finalize(namespace)

    def _empty(self, namespace: Object) -> Remains:
        """Delete all that can be deleted now; only pods while there are pods."""
        name = namespace["metadata"]["name"]
        deleted_s = parse(namespace["metadata"]["deletionTimestamp"])
        remains = Remains()
        pods = self.client.resource("pods")
        self._clear(pods, name, self._pods_need_s(name, deleted_s), remains)
        if remains.objects or remains.failures:
            return remains
        for resource in self._kinds():
            if resource is not pods:
                self._clear(resource, name, 0, remains)
        return remains

    def _kinds(self) -> Iterator[Resource]:
        """Every namespaced kind once, in the order of discovery."""
        seen: dict[tuple[str, str], None] = {}
        for resource in list(self.api.catalogue):
            kept = self.api.storage_version(resource)
            if kept.namespaced and "delete" in kept.verbs and kept.key not in seen:
                seen[kept.key] = None
                yield kept

    def _pods_need_s(self, name: str, deleted_s: float) -> int:
        """The longest time that a pod of the namespace may take to end, while it is not over."""
        needed = [
            pod["spec"].get("terminationGracePeriodSeconds", 0)
            for pod in self.client.list("pods", name)
            if pod.get("status", {}).get("phase") not in ("Succeeded", "Failed")
        ]
        longest: int = max(needed, default=0)
        return longest if self.api.now_s - deleted_s < longest else 0

    def _clear(self, resource: Resource, name: str, estimate_s: int, remains: Remains) -> None:
        """Delete a namespace's objects of one kind, and note which are still there."""
        options = DeleteOptions(propagation="Background")
        for obj in list(self.api.log.objects(*resource.key, name)):
            try:
                self.api.delete(resource, name, obj["metadata"]["name"], options, self.client.caller)
            except NotFound:
                pass
            except ApiError as refusal:
                remains.failures.append(refusal.message)
                break
        left = self.api.log.objects(*resource.key, name)
        if not left:
            return
        remains.objects[f"{resource.plural}.{resource.group}"] = len(left)
        held = [finalizer for obj in left for finalizer in obj["metadata"].get("finalizers") or ()]
        for finalizer in held:
            remains.finalizers[finalizer] = remains.finalizers.get(finalizer, 0) + 1
        if estimate_s or held:
            remains.estimate_s = max(remains.estimate_s, estimate_s or FINALIZERS_ESTIMATE_S)
        elif not remains.failures:
            place = f"{resource.group}/{resource.version}, Resource={resource.plural}"
            remains.failures.append(f"unexpected items still remain in namespace: {name} for gvr: {place}")

    def _tell(self, namespace: Object, remains: Remains) -> None:
        """Write the conditions, where they changed."""
        current = self.client.refresh(namespace)
        if current is None:
            return
        changed: Object = copy(current)
        status = changed.setdefault("status", {})
        known = {condition["type"]: condition for condition in status.get("conditions") or []}
        troubles = remains.troubles()
        status["conditions"] = [self._condition(*well, known, troubles) for well in WELL]
        if changed == current:
            return
        try:
            self.client.update_status(changed)
        except ApiError:
            # The conditions are for those who look; the end does not wait for them.
            return

    def _condition(
        self,
        kind: str,
        reason: str,
        message: str,
        known: dict[str, Object],
        troubles: dict[str, tuple[str, str]],
    ) -> Object:
        status = "False"
        if kind in troubles:
            status, (reason, message) = "True", troubles[kind]
        before = known.get(kind)
        same = before is not None and before["status"] == status
        return {
            "lastTransitionTime": before["lastTransitionTime"] if before and same else self.api.timestamp(),
            "message": message,
            "reason": reason,
            "status": status,
            "type": kind,
        }

    def _finalize(self, namespace: Object) -> None:
        current = self.client.refresh(namespace)
        if current is None:
            return
        ended: Object = copy(current)
        ended["spec"]["finalizers"] = [name for name in ended["spec"]["finalizers"] if name != FINALIZER]
        self.client.update(ended, "finalize")
