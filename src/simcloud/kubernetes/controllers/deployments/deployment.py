"""Deployments: a ReplicaSet for each template, and rollouts from the old ones to the new one.

A sync does one step, as in the genuine controller: it creates the new ReplicaSet, or scales it up, or scales old ones
down, and updates the status; the change triggers the next sync. The last write of a sync that has already updated the
Deployment is refused as a conflict, and the sync is retried; the genuine controller relies on this as well.
"""

from __future__ import annotations

from collections.abc import Sequence

from simcloud.kubernetes.api.errors import AlreadyExists, ApiError, NotFound
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.selectors import from_label_selector
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.controller import (
    Controller,
    NamespacedName,
    controller,
    controller_of,
    owner_reference,
)
from simcloud.kubernetes.controllers.children import Children
from simcloud.kubernetes.controllers.deployments import scaling
from simcloud.kubernetes.controllers.deployments.sets import (
    DESIRED_REPLICAS,
    REVISION,
    active,
    by_age,
    empty_set,
    is_rolling,
    max_unavailable,
    new_and_old,
    new_size,
    next_revision,
    note_revision,
    note_sizes,
    notes,
    number,
    replicas,
    status_count,
    total_replicas,
    total_status_count,
)
from simcloud.kubernetes.controllers.deployments.status import (
    PAUSED,
    TIMED_OUT,
    calculate,
    condition,
    deadline_in_s,
    get_condition,
    has_deadline,
    is_complete,
    judge_progress,
    set_condition,
    take_failure,
)
from simcloud.kubernetes.controllers.hashing import same_template
from simcloud.kubernetes.controllers.pods import is_terminal, namespace_is_leaving


@controller("deployment-controller")
class Deployments(Controller):
    """Rolls Deployments out."""

    def watch(self) -> None:
        self.sets = Children(self.client, "replicasets.apps")
        self.pods = Children(self.client, "pods")
        self.follow("deployments.apps", self.enqueue)
        self.follow("replicasets.apps", self.enqueue_owner("Deployment"))
        self.follow("replicasets.apps", self._see_orphan)
        self.follow("pods", self._see_pod)

    def sync(self, key: NamespacedName) -> None:
        stored = self.client.get("deployments.apps", *key)
        if stored is None:
            return
        deployment: Object = dict(stored)  # status and metadata are replaced; all else is only read
        if "status" in stored:
            deployment["status"] = dict(stored["status"])
        sets = self.sets.claim(stored, from_label_selector(stored["spec"]["selector"]))
        if "deletionTimestamp" in deployment["metadata"]:
            new, _ = new_and_old(deployment, sets)
            self._write_status(deployment, calculate(deployment, sets, new, self.api.now_s))
            return
        self._note_pause(deployment)
        if deployment["spec"].get("paused") or self._is_rescaled(deployment, sets):
            self._scale(deployment, sets)
        elif is_rolling(deployment):
            self._roll(deployment, sets)
        else:
            self._recreate(deployment, sets)

    # Rolling out

    def _roll(self, deployment: Object, sets: Sequence[Object]) -> None:
        new, old = self._new_and_old(deployment, sets, create=True)
        if new is None:
            return
        everybody = [*old, new]
        if not self._grow(deployment, everybody, new) and not self._shrink_old(
            deployment, everybody, old, new
        ):
            self._clean_up_if_complete(deployment, old)
        self._tell(deployment, new, old)

    def _recreate(self, deployment: Object, sets: Sequence[Object]) -> None:
        new, old = self._new_and_old(deployment, sets, create=False)
        stopped = [self._resize(deployment, replica_set, 0) for replica_set in active(old)]
        if not any(stopped) and not self._has_old_pods(new, old):
            if new is None:
                new, old = self._new_and_old(deployment, sets, create=True)
                if new is None:
                    return
            self._resize(deployment, new, replicas(deployment))
            self._clean_up_if_complete(deployment, old)
        self._tell(deployment, new, old)

    def _has_old_pods(self, new: Object | None, old: Sequence[Object]) -> bool:
        """Whether pods of an old template are still there, were they only ending."""
        if total_status_count(old, "replicas") > 0:
            return True
        return any(not is_terminal(pod) for replica_set in old for pod in self.pods.of(replica_set))

    def _grow(self, deployment: Object, everybody: Sequence[Object], new: Object) -> bool:
        if replicas(new) > replicas(deployment):
            return self._resize(deployment, new, replicas(deployment))
        return self._resize(deployment, new, new_size(deployment, everybody, new))

    def _shrink_old(
        self, deployment: Object, everybody: Sequence[Object], old: Sequence[Object], new: Object
    ) -> bool:
        """Take away old pods as far as enough remain available, the unhealthy ones first."""
        if total_replicas(old) == 0:
            return False
        least = replicas(deployment) - max_unavailable(deployment)
        new_unavailable = replicas(new) - status_count(new, "availableReplicas")
        allowed = total_replicas(everybody) - least - new_unavailable
        if allowed <= 0:
            return False
        sizes = {replica_set["metadata"]["uid"]: replicas(replica_set) for replica_set in old}
        shrunk = 0
        for replica_set in by_age(old):
            unhealthy = replicas(replica_set) - status_count(replica_set, "availableReplicas")
            if shrunk < allowed and unhealthy > 0 and replicas(replica_set) > 0:
                count = min(allowed - shrunk, unhealthy, replicas(replica_set))
                self._resize(deployment, replica_set, replicas(replica_set) - count)
                sizes[replica_set["metadata"]["uid"]] -= count
                shrunk += count
        surplus = total_status_count(everybody, "availableReplicas") - least
        for replica_set in by_age(old):
            size = sizes[replica_set["metadata"]["uid"]]
            count = min(surplus, size)
            if count > 0:
                self._resize(deployment, self.client.refresh(replica_set) or replica_set, size - count)
                surplus -= count
                shrunk += count
        return shrunk > 0

    def _clean_up_if_complete(self, deployment: Object, old: Sequence[Object]) -> None:
        if is_complete(deployment, deployment.get("status", {})):
            self._clean_up(deployment, old)

    def _clean_up(self, deployment: Object, old: Sequence[Object]) -> None:
        """Delete the oldest revisions beyond those that an undo may want."""
        limit = deployment["spec"].get("revisionHistoryLimit", 2**31 - 1)
        kept = [replica_set for replica_set in old if "deletionTimestamp" not in replica_set["metadata"]]
        surplus = len(kept) - limit
        if surplus <= 0:
            return
        for replica_set in sorted(by_age(kept), key=lambda item: number(item, REVISION) or 0)[:surplus]:
            seen = status_count(replica_set, "observedGeneration") >= replica_set["metadata"]["generation"]
            if seen and not replicas(replica_set) and not status_count(replica_set, "replicas"):
                self.client.delete(replica_set)

    # Scaling

    def _is_rescaled(self, deployment: Object, sets: Sequence[Object]) -> bool:
        """Whether a ReplicaSet was sized for another number of replicas than is wanted now."""
        new, old = self._new_and_old(deployment, sets, create=False)
        everybody = [*old, new] if new is not None else old
        noted = (number(replica_set, DESIRED_REPLICAS) for replica_set in active(everybody))
        return any(size is not None and size != replicas(deployment) for size in noted)

    def _scale(self, deployment: Object, sets: Sequence[Object]) -> None:
        new, old = self._new_and_old(deployment, sets, create=False)
        only = scaling.only_candidate(new, old)
        if only is not None:
            self._resize(deployment, only, replicas(deployment))
        elif scaling.is_saturated(deployment, new):
            for replica_set in active(old):
                self._resize(deployment, replica_set, 0)
        elif is_rolling(deployment):
            everybody = [*old, new] if new is not None else old
            for replica_set, size in scaling.proportional(deployment, everybody):
                self._resize(deployment, replica_set, size, even_if_equal=True)
        if deployment["spec"].get("paused"):
            self._clean_up(deployment, old)
        everybody = self._present([*old, new] if new is not None else old)
        self._write_status(deployment, calculate(deployment, everybody, new, self.api.now_s))

    def _resize(
        self, deployment: Object, replica_set: Object, size: int, even_if_equal: bool = False
    ) -> bool:
        """Scale a ReplicaSet and say so; True if its size changed."""
        before = replicas(replica_set)
        if before == size and not even_if_equal:
            return False
        changed: Object = copy(replica_set)
        if not note_sizes(changed, deployment) and before == size:
            return False
        changed["spec"]["replicas"] = size
        self.client.update(changed)
        if before != size:
            name, way = replica_set["metadata"]["name"], "up" if size > before else "down"
            self._say_scaled(deployment, f"Scaled {way} replica set {name} from {before} to {size}")
        return before != size

    def _say_scaled(self, deployment: Object, message: str) -> None:
        self.recorder.event(deployment, "Normal", "ScalingReplicaSet", message)

    # The new ReplicaSet

    def _new_and_old(
        self, deployment: Object, sets: Sequence[Object], create: bool
    ) -> tuple[Object | None, list[Object]]:
        """The ReplicaSet of the present template, with its revision in order, and the others."""
        new, old = new_and_old(deployment, self._present(sets))
        revision = next_revision(old)
        if new is not None:
            return self._reuse(deployment, new, revision), old
        return (self._create(deployment, old, revision) if create else None), old

    def _present(self, sets: Sequence[Object]) -> list[Object]:
        """ReplicaSets as they are now."""
        return [now for replica_set in sets if (now := self.client.refresh(replica_set)) is not None]

    def _reuse(self, deployment: Object, new: Object, revision: int) -> Object:
        """A ReplicaSet that is new again, or still: it takes the newest revision."""
        changed: Object = {**new, "metadata": {**new["metadata"], "annotations": {**notes(new)}}}
        min_ready_s = deployment["spec"].get("minReadySeconds", 0)
        news = note_revision(changed, deployment, revision)
        if news or changed["spec"].get("minReadySeconds", 0) != min_ready_s:
            changed = copy(changed)
            changed["spec"]["minReadySeconds"] = min_ready_s
            return self.client.update(changed)
        revised = self._set_revision(deployment, notes(new)[REVISION])
        status = deployment.setdefault("status", {})
        if has_deadline(deployment) and get_condition(status, "Progressing") is None:
            message = f'Found new replica set "{new["metadata"]["name"]}"'
            found = condition("Progressing", "True", "FoundNewReplicaSet", message, self.api.now_s)
            set_condition(status, found)
            revised = True
        if revised:
            self.client.update_status(deployment)
        return new

    def _create(self, deployment: Object, old: Sequence[Object], revision: int) -> Object | None:
        """A new ReplicaSet for the present template."""
        wanted = self._draft(deployment, old, revision)
        status = deployment.setdefault("status", {})
        name = wanted["metadata"]["name"]
        try:
            made = self.client.create(wanted)
        except AlreadyExists:
            present = self.client.get("replicasets.apps", deployment["metadata"]["namespace"], name)
            if present is None or not self._is_own(deployment, present):
                status["collisionCount"] = status.get("collisionCount", 0) + 1
                self.client.update_status(deployment)
                raise
            self._set_revision(deployment, str(revision))
            self.client.update_status(deployment)
            return present
        except ApiError as error:
            if not namespace_is_leaving(error):
                self._tell_refused(deployment, f'Failed to create new replica set "{name}": {error.message}')
            raise
        if replicas(made):
            self._say_scaled(deployment, f"Scaled up replica set {name} from 0 to {replicas(made)}")
        revised = self._set_revision(deployment, str(revision))
        if has_deadline(deployment):
            message = f'Created new replica set "{name}"'
            created = condition("Progressing", "True", "NewReplicaSetCreated", message, self.api.now_s)
            set_condition(status, created)
            revised = True
        if revised:
            self.client.update_status(deployment)
        return made

    def _draft(self, deployment: Object, old: Sequence[Object], revision: int) -> Object:
        spec = deployment["spec"]
        drafted = empty_set(deployment)
        drafted["metadata"]["ownerReferences"] = [owner_reference(deployment)]
        if spec.get("minReadySeconds"):
            drafted["spec"]["minReadySeconds"] = spec["minReadySeconds"]
        drafted["spec"]["replicas"] = new_size(deployment, [*old, drafted], drafted)
        note_revision(drafted, deployment, revision)
        note_sizes(drafted, deployment)
        return drafted

    def _is_own(self, deployment: Object, present: Object) -> bool:
        owner = controller_of(present)
        mine = owner is not None and owner["uid"] == deployment["metadata"]["uid"]
        return mine and same_template(present["spec"]["template"], deployment["spec"]["template"])

    def _set_revision(self, deployment: Object, revision: str) -> bool:
        if notes(deployment).get(REVISION) == revision:
            return False
        annotations = {**notes(deployment), REVISION: revision}
        deployment["metadata"] = {**deployment["metadata"], "annotations": annotations}
        return True

    # The status

    def _note_pause(self, deployment: Object) -> None:
        """A pause stops the clock of the deadline, and its end starts it anew."""
        if not has_deadline(deployment):
            return
        status = deployment.setdefault("status", {})
        current = get_condition(status, "Progressing")
        reason = current.get("reason", "") if current is not None else ""
        paused = bool(deployment["spec"].get("paused"))
        if reason == TIMED_OUT or paused == (reason == PAUSED):
            return
        news = (PAUSED, "Deployment is paused") if paused else ("DeploymentResumed", "Deployment is resumed")
        set_condition(status, condition("Progressing", "Unknown", *news, self.api.now_s))
        self.client.update_status(deployment)

    def _tell_refused(self, deployment: Object, message: str) -> None:
        if has_deadline(deployment):
            refused = condition("Progressing", "False", "ReplicaSetCreateError", message, self.api.now_s)
            set_condition(deployment.setdefault("status", {}), refused)
            self.client.update_status(deployment)
        self.recorder.event(deployment, "Warning", "ReplicaSetCreateError", message)

    def _tell(self, deployment: Object, new: Object | None, old: Sequence[Object]) -> None:
        """Write how the rollout goes; look again when it could be stuck."""
        now_s = self.api.now_s
        everybody = self._present([*old, new] if new is not None else old)
        status = calculate(deployment, everybody, new, now_s)
        judge_progress(deployment, status, new, now_s)
        take_failure(status, everybody, new, now_s)
        if self._write_status(deployment, status):
            return
        wait_s = deadline_in_s(deployment, status, now_s)
        if wait_s is not None:
            metadata = deployment["metadata"]
            # Times are stored in whole seconds, so the genuine controller looks a second later.
            self.queue.add_after(
                NamespacedName(metadata["namespace"], metadata["name"]), max(wait_s, 0) + 1.0
            )

    def _write_status(self, deployment: Object, status: Object) -> bool:
        if deployment.get("status") == status:
            return False
        deployment["status"] = status
        try:
            self.client.update_status(deployment)
        except NotFound:
            return False
        return True

    # What brings a Deployment back

    def _see_orphan(self, write: Revision) -> None:
        """A ReplicaSet that nobody manages may be wanted."""
        labels = write.object["metadata"].get("labels")
        if write.change == "DELETED" or controller_of(write.object) is not None:
            return
        for deployment in self.client.list("deployments.apps", write.key.namespace):
            if from_label_selector(deployment["spec"]["selector"]).matches(labels):
                self.queue.add(NamespacedName(write.key.namespace, deployment["metadata"]["name"]))

    def _see_pod(self, write: Revision) -> None:
        """Where pods are recreated, the new ones wait for the last old one to be gone."""
        if write.change != "DELETED":
            return
        owner = controller_of(write.object)
        if owner is None or owner["kind"] != "ReplicaSet":
            return
        replica_set = self.client.get("replicasets.apps", write.key.namespace, owner["name"])
        parent = controller_of(replica_set) if replica_set is not None else None
        if parent is None or parent["kind"] != "Deployment":
            return
        deployment = self.client.get("deployments.apps", write.key.namespace, parent["name"])
        if deployment is not None and not is_rolling(deployment):
            self.queue.add(NamespacedName(write.key.namespace, parent["name"]))
