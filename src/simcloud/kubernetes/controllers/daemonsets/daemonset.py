"""DaemonSets: a pod on every matching node.

A pod is created for a node by its affinity and bound by the scheduler. A sync sees what it created or deleted only at
the next sync: the status counts the pods at its beginning, and an update waits until all nodes have their pods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.errors import AlreadyExists, ApiError
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.selectors import LabelSelector, from_label_selector
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.controller import Controller, NamespacedName, controller, controller_of
from simcloud.kubernetes.controllers.children import Children
from simcloud.kubernetes.controllers.daemonsets import update
from simcloud.kubernetes.controllers.daemonsets.nodes import Fit, bind, should_run, target_node, tolerations
from simcloud.kubernetes.controllers.daemonsets.update import Changes
from simcloud.kubernetes.controllers.hashing import template_hash
from simcloud.kubernetes.controllers.pods import (
    BURST,
    PodControl,
    from_template,
    is_available,
    is_leaving,
    is_ready,
    is_terminal,
    namespace_is_leaving,
    next_check_s,
    slow_start,
)
from simcloud.kubernetes.controllers.revisions import by_number, draft, renumber, template_patch

REVISION_HASH: Final = "controller-revision-hash"
TEMPLATE_GENERATION: Final = "pod-template-generation"
_GENERATION_NOTE: Final = "deprecated.daemonset.template.generation"
FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 900.0


class FailedPods:
    """How long a node waits before its next failed pod is replaced: ever longer, up to 15 minutes."""

    def __init__(self) -> None:
        self._pauses: dict[tuple[str, int, str], tuple[float, float]] = {}

    def wait_s(self, key: tuple[str, int, str], now_s: float) -> float:
        """How long a replacement must wait; 0 if it may be made, which is then noted."""
        pause_s, at_s = self._pauses.get(key, (0.0, now_s))
        if now_s - at_s < pause_s:
            return pause_s
        if now_s - at_s > 2 * LONGEST_PAUSE_S:
            pause_s = 0.0
        self._pauses[key] = (min(LONGEST_PAUSE_S, 2 * pause_s) or FIRST_PAUSE_S, now_s)
        return 0.0

    def forget(self, uid: str) -> None:
        """A DaemonSet is gone."""
        self._pauses = {key: pause for key, pause in self._pauses.items() if key[0] != uid}


@controller("daemonset-controller")
class DaemonSets(Controller):
    """Keeps the pods of DaemonSets."""

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self.control = PodControl(self.client, self.recorder)
        self.failed = FailedPods()

    def watch(self) -> None:
        self.pods = Children(self.client, "pods")
        self.revisions = Children(self.client, "controllerrevisions.apps")
        self.follow("daemonsets.apps", self._see)
        self.follow("pods", self.enqueue_owner("DaemonSet"))
        self.follow("pods", self._see_orphan)
        self.follow("nodes", self._see_node)

    def sync(self, key: NamespacedName) -> None:
        daemon_set = self.client.get("daemonsets.apps", *key)
        if daemon_set is None or "deletionTimestamp" in daemon_set["metadata"]:
            return
        selector = from_label_selector(daemon_set["spec"]["selector"])
        nodes = {node["metadata"]["name"]: should_run(node, daemon_set) for node in self.client.list("nodes")}
        revision, old_revisions = self._history(daemon_set, selector)
        revision_hash: str = at(
            revision, "metadata", "labels", REVISION_HASH, default=revision["metadata"]["name"]
        )
        pods = self.pods.claim(daemon_set, selector)
        pods_of = _by_node(pods)
        refusal: ApiError | None = None
        try:
            changes = self._missing_and_surplus(daemon_set, nodes, pods_of, revision_hash)
            if not changes and daemon_set["spec"]["updateStrategy"]["type"] == "RollingUpdate":
                changes = self._find_outdated(daemon_set, nodes, pods_of, revision_hash)
            self._carry_out(daemon_set, changes, revision_hash)
            self._forget_revisions(daemon_set, old_revisions, pods)
        except ApiError as error:
            refusal = error
        self._tell(daemon_set, nodes, pods_of, revision_hash)
        if refusal is not None:
            raise refusal
        wait_s = next_check_s(pods, daemon_set["spec"].get("minReadySeconds", 0), self.api.now_s)
        if wait_s is not None:
            self.queue.add_after(key, wait_s)

    # Revisions

    def _history(self, daemon_set: Object, selector: LabelSelector) -> tuple[Object, list[Object]]:
        """The revision of the present template, made or made new again if need be, and the others."""
        known = by_number(self.revisions.claim(daemon_set, selector))
        wanted = template_patch(daemon_set)
        present = [revision for revision in known if revision.get("data") == wanted]
        old = [revision for revision in known if revision.get("data") != wanted]
        number = max((revision.get("revision", 0) for revision in old), default=0) + 1
        if present:
            newest = present[-1]
            return (
                renumber(self.client, newest, number) if newest.get("revision", 0) < number else newest
            ), old
        return self._snapshot(daemon_set, wanted, number), old

    def _snapshot(self, daemon_set: Object, wanted: Object, number: int) -> Object:
        metadata = daemon_set["metadata"]
        collisions = at(daemon_set, "status", "collisionCount")
        suffix = template_hash(daemon_set["spec"]["template"], collisions)
        drafted = draft(daemon_set, number, REVISION_HASH, suffix, metadata.get("annotations"))
        try:
            return self.client.create(drafted)
        except AlreadyExists:
            name = drafted["metadata"]["name"]
            present = self.client.get("controllerrevisions.apps", metadata["namespace"], name)
            if present is not None and present.get("data") == wanted:
                return present
            counted = (collisions or 0) + 1
            self.client.edit(
                daemon_set,
                lambda revision: revision.setdefault("status", {}).update(collisionCount=counted),
                "status",
            )
            raise

    def _forget_revisions(self, daemon_set: Object, old: Sequence[Object], pods: Sequence[Object]) -> None:
        """Delete the oldest revisions that no pod uses, beyond those that an undo may want."""
        surplus = len(old) - daemon_set["spec"].get("revisionHistoryLimit", 10)
        used = {at(pod, "metadata", "labels", REVISION_HASH) for pod in pods}
        unused = [
            revision for revision in old if at(revision, "metadata", "labels", REVISION_HASH) not in used
        ]
        for revision in unused[: max(0, surplus)]:
            self.client.delete(revision)

    # Pods

    def _missing_and_surplus(
        self,
        daemon_set: Object,
        nodes: Mapping[str, Fit],
        pods_of: dict[str, list[Object]],
        revision_hash: str,
    ) -> Changes:
        changes = Changes()
        for name, (wanted, may_stay) in nodes.items():
            pods = pods_of.get(name)
            if wanted and pods is None:
                changes.create.append(name)
            elif may_stay:
                self._prune(daemon_set, name, pods or [], revision_hash, wanted, changes)
            else:
                changes.delete += [pod for pod in pods or () if not is_leaving(pod)]
        changes.delete += [
            pod
            for name, pods in pods_of.items()
            if name not in nodes
            for pod in pods
            if not pod["spec"].get("nodeName") and not is_leaving(pod)
        ]
        return changes

    def _prune(
        self,
        daemon_set: Object,
        node: str,
        pods: Sequence[Object],
        revision_hash: str,
        wanted: bool,
        changes: Changes,
    ) -> None:
        """Leave one pod on a node, or an old and a new one during a surge; what has ended goes."""
        running = []
        for pod in pods:
            if is_leaving(pod):
                continue
            if not is_terminal(pod):
                running.append(pod)
            elif self._may_replace(daemon_set, node, pod):
                changes.delete.append(pod)
        running.sort(key=_sort_key)
        if not update.allows_surge(daemon_set):
            changes.delete += running[1:]
            return
        if not running and wanted:
            changes.create.append(node)
        new = [pod for pod in running if at(pod, "metadata", "labels", REVISION_HASH) == revision_hash]
        old = [pod for pod in running if pod not in new]
        changes.delete += new[1:] + old[1:]
        if new and old and (not is_ready(old[0]) or self._is_available(daemon_set, new[0])):
            changes.delete.append(old[0])

    def _may_replace(self, daemon_set: Object, node: str, pod: Object) -> bool:
        """Whether an ended pod may be replaced now; a node where pods keep failing is given time."""
        metadata, place = daemon_set["metadata"], f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        if pod["status"]["phase"] == "Succeeded":
            message = f"Found succeeded daemon pod {place} on node {node}, will try to delete it"
            self.recorder.event(daemon_set, "Normal", "SucceededDaemonPod", message)
            return True
        key = (metadata["uid"], at(daemon_set, "status", "observedGeneration", default=0), node)
        wait_s = self.failed.wait_s(key, self.api.now_s)
        if wait_s:
            self.queue.add_after(NamespacedName(metadata["namespace"], metadata["name"]), wait_s)
            return False
        message = f"Found failed daemon pod {place} on node {node}, will try to kill it"
        self.recorder.event(daemon_set, "Warning", "FailedDaemonPod", message)
        return True

    def _find_outdated(
        self,
        daemon_set: Object,
        nodes: Mapping[str, Fit],
        pods_of: dict[str, list[Object]],
        revision_hash: str,
    ) -> Changes:
        wanting = {name: wanted for name, (wanted, _) in nodes.items()}
        desired = sum(wanting.values())
        most_surging, most_missing = update.limits(daemon_set, desired)
        places = {name: pods_of.get(name, []) for name, wants in wanting.items() if wants or name in pods_of}

        def is_updated(pod: Object) -> bool:
            return _is_updated(daemon_set, pod, revision_hash)

        def available(pod: Object) -> bool:
            return self._is_available(daemon_set, pod)

        if not most_surging:
            return update.replace_in_place(places, is_updated, available, most_missing)
        return update.surge(
            places, is_updated, available, lambda name: wanting.get(name, False), most_surging, desired
        )

    def _carry_out(self, daemon_set: Object, changes: Changes, revision_hash: str) -> None:
        nodes = changes.create[:BURST]
        refusal: ApiError | None = None
        try:
            slow_start(len(nodes), lambda number: self._create(daemon_set, nodes[number], revision_hash))
        except ApiError as error:
            refusal = None if namespace_is_leaving(error) else error
        for pod in changes.delete[:BURST]:
            try:
                self.control.delete(pod, daemon_set)
            except ApiError as error:
                refusal = refusal or error
        if refusal is not None:
            raise refusal

    def _create(self, daemon_set: Object, node: str, revision_hash: str) -> None:
        pod = from_template(daemon_set["spec"]["template"], daemon_set)
        labels = pod["metadata"].setdefault("labels", {})
        labels[REVISION_HASH] = revision_hash
        generation = _template_generation(daemon_set)
        if generation:
            labels[TEMPLATE_GENERATION] = generation
        pod["spec"]["tolerations"] = tolerations(pod["spec"])
        bind(pod["spec"], node)
        self.control.create(pod, daemon_set)

    def _is_available(self, daemon_set: Object, pod: Object) -> bool:
        return is_available(pod, daemon_set["spec"].get("minReadySeconds", 0), self.api.now_s)

    # The status

    def _tell(
        self,
        daemon_set: Object,
        nodes: Mapping[str, Fit],
        pods_of: dict[str, list[Object]],
        revision_hash: str,
    ) -> None:
        counts = dict.fromkeys(("desired", "current", "misscheduled", "ready", "updated", "available"), 0)
        for name, (wanted, _) in nodes.items():
            pods = pods_of.get(name)
            if not wanted:
                counts["misscheduled"] += 1 if pods else 0
                continue
            counts["desired"] += 1
            if not pods:
                continue
            oldest = min(pods, key=_sort_key)
            counts["current"] += 1
            counts["ready"] += is_ready(oldest)
            counts["available"] += self._is_available(daemon_set, oldest)
            counts["updated"] += _is_updated(daemon_set, oldest, revision_hash)
        always = {
            "currentNumberScheduled": counts["current"],
            "numberMisscheduled": counts["misscheduled"],
            "desiredNumberScheduled": counts["desired"],
            "numberReady": counts["ready"],
        }
        where_any = {
            "observedGeneration": daemon_set["metadata"]["generation"],
            "updatedNumberScheduled": counts["updated"],
            "numberAvailable": counts["available"],
            "numberUnavailable": counts["desired"] - counts["available"],
            "collisionCount": at(daemon_set, "status", "collisionCount"),
        }
        status = {**always, **{key: count for key, count in where_any.items() if count}}
        if daemon_set.get("status") == status or self.client.refresh(daemon_set) is None:
            return
        self.client.edit(daemon_set, lambda current: current.update(status=status), "status")

    # What brings a DaemonSet back

    def _see(self, write: Revision) -> None:
        if write.change == "DELETED":
            self.failed.forget(write.object["metadata"]["uid"])
        self.enqueue(write)

    def _see_node(self, write: Revision) -> None:
        """A node that came, went, or changed in what decides about pods."""
        before = write.before
        if write.change == "MODIFIED" and before is not None and _place(before) == _place(write.object):
            return
        for daemon_set in self.client.list("daemonsets.apps"):
            self.queue.add(
                NamespacedName(daemon_set["metadata"]["namespace"], daemon_set["metadata"]["name"])
            )

    def _see_orphan(self, write: Revision) -> None:
        """A pod that nobody manages may be wanted."""
        labels = write.object["metadata"].get("labels")
        if write.change == "DELETED" or controller_of(write.object) is not None:
            return
        for daemon_set in self.client.list("daemonsets.apps", write.key.namespace):
            if from_label_selector(daemon_set["spec"]["selector"]).matches(labels):
                self.queue.add(NamespacedName(write.key.namespace, daemon_set["metadata"]["name"]))


def _place(node: Object) -> tuple[object, object]:
    return node["metadata"].get("labels"), node.get("spec", {}).get("taints")


def _by_node(pods: Sequence[Object]) -> dict[str, list[Object]]:
    """Pods by the node they are for; what has ended and is being deleted counts no more."""
    found: dict[str, list[Object]] = {}
    for pod in pods:
        node = target_node(pod)
        if node and not (is_leaving(pod) and is_terminal(pod)):
            found.setdefault(node, []).append(pod)
    return found


def _sort_key(pod: Object) -> tuple[bool, str, str]:
    metadata = pod["metadata"]
    return not pod["spec"].get("nodeName"), metadata["creationTimestamp"], metadata["name"]


def _template_generation(daemon_set: Object) -> str:
    generation: str = at(daemon_set, "metadata", "annotations", _GENERATION_NOTE, default="")
    return generation


def _is_updated(daemon_set: Object, pod: Object, revision_hash: str) -> bool:
    labels = pod["metadata"].get("labels") or {}
    if labels.get(REVISION_HASH) == revision_hash:
        return True
    generation = _template_generation(daemon_set)
    return bool(generation) and labels.get(TEMPLATE_GENERATION) == generation
