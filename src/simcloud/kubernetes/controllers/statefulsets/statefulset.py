"""StatefulSets: pods with stable names, created and deleted in order.

With the policy ``OrderedReady`` a sync does one step and waits until the pod is ready or gone; with ``Parallel`` it
handles all pods at once. Updates go from the highest ordinal down to the partition. The status describes the pods at
the beginning of a sync.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.errors import AlreadyExists, ApiError, NotFound
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.selectors import LabelSelector, from_label_selector
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.controller import Controller, NamespacedName, controller, controller_of
from simcloud.kubernetes.controllers.children import Children
from simcloud.kubernetes.controllers.hashing import revision_hash
from simcloud.kubernetes.controllers.pods import (
    BURST,
    PAUSE_S,
    Pace,
    is_leaving,
    is_terminal,
    next_check_s,
    resolve_int_or_percent,
    slow_start,
)
from simcloud.kubernetes.controllers.revisions import by_number, draft, renumber, template_of, template_patch
from simcloud.kubernetes.controllers.statefulsets.claims import Claims
from simcloud.kubernetes.controllers.statefulsets.identity import (
    draft_pod,
    first_ordinal,
    identity_labels,
    is_created,
    is_member,
    is_running_and_available,
    is_running_and_ready,
    is_unavailable,
    ordinal_of,
    revision_of,
)

HASH_LABEL: Final = "controller.kubernetes.io/hash"
STALE_CLAIM_S: Final = 1.0
"""A pod whose claim is still going is looked at again after this time."""


class Plan(Struct):
    """A set, its two revisions, and its pods by what is to become of them."""

    stateful_set: Object
    current: Object
    update: Object
    collisions: int
    replicas: list[Object]
    """One for each ordinal, stored or drafted."""
    condemned: list[Object]
    """Beyond the ordinals, the highest first."""

    @property
    def ordered(self) -> bool:
        """Whether one pod waits for another."""
        return bool(self.stateful_set["spec"].get("podManagementPolicy") != "Parallel")

    @property
    def min_ready_s(self) -> int:
        """How long a pod must have been ready."""
        seconds: int = self.stateful_set["spec"].get("minReadySeconds", 0)
        return seconds


@controller("statefulset-controller")
class StatefulSets(Controller):
    """Keeps the pods of StatefulSets."""

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self.claims = Claims(self.client, self.recorder)
        self._pace = Pace()

    def watch(self) -> None:
        self.pods = Children(self.client, "pods")
        self.revisions = Children(self.client, "controllerrevisions.apps")
        self.follow("statefulsets.apps", self.enqueue)
        self.follow("pods", self.enqueue_owner("StatefulSet"))
        self.follow("pods", self._see_orphan)
        self.follow("pods", self._pace.see)

    def sync(self, key: NamespacedName) -> None:
        stateful_set = self.client.get("statefulsets.apps", *key)
        if stateful_set is None:
            return
        selector = from_label_selector(stateful_set["spec"]["selector"])
        pods = self.pods.claim(stateful_set, selector, member=lambda pod: is_member(stateful_set, pod))
        plan = self._plan(stateful_set, selector, pods)
        status = self._count(plan, pods)
        refusal: ApiError | None = None
        if "deletionTimestamp" not in stateful_set["metadata"]:
            try:
                self._bring_in_order(plan, status)
            except ApiError as error:
                refusal = error
        self._tell(plan, status)
        self._forget_revisions(plan, pods)
        if refusal is not None:
            raise refusal
        wait_s = next_check_s(pods, plan.min_ready_s, self.api.now_s)
        if wait_s is not None:
            self.queue.add_after(key, wait_s)

    # Revisions

    def _plan(self, stateful_set: Object, selector: LabelSelector, pods: Sequence[Object]) -> Plan:
        known = by_number(self.revisions.claim(stateful_set, selector))
        update, collisions = self._update_revision(stateful_set, known)
        named = at(stateful_set, "status", "currentRevision")
        current = next(
            (
                revision
                for revision in known
                if revision["metadata"]["name"] == named and template_of(revision)
            ),
            update,
        )
        first, count = first_ordinal(stateful_set), stateful_set["spec"]["replicas"]
        by_ordinal = {ordinal_of(pod): pod for pod in pods}
        replicas = [
            by_ordinal.get(ordinal) or _draft(stateful_set, current, update, ordinal)
            for ordinal in range(first, first + min(count, len(pods) + BURST))  # the rest can wait
        ]
        condemned = [pod for pod in pods if not first <= ordinal_of(pod) < first + count]
        condemned.sort(key=ordinal_of, reverse=True)
        return Plan(stateful_set, current, update, collisions, replicas, condemned)

    def _update_revision(self, stateful_set: Object, known: Sequence[Object]) -> tuple[Object, int]:
        """The revision of the present template: the newest, or an old one made new again, or a new one."""
        collisions: int = at(stateful_set, "status", "collisionCount", default=0)
        number = known[-1].get("revision", 0) + 1 if known else 1
        wanted = template_patch(stateful_set)
        equal = [revision for revision in known if revision.get("data") == wanted]
        if equal:
            newest = equal[-1] is known[-1]
            return (equal[-1] if newest else renumber(self.client, equal[-1], number)), collisions
        while True:
            drafted = draft(stateful_set, number, HASH_LABEL, revision_hash(wanted, collisions))
            try:
                return self.client.create(drafted), collisions
            except AlreadyExists:
                metadata = drafted["metadata"]
                present = self.client.get("controllerrevisions.apps", metadata["namespace"], metadata["name"])
                if present is not None and present.get("data") == wanted:
                    return present, collisions
                collisions += 1

    def _forget_revisions(self, plan: Plan, pods: Sequence[Object]) -> None:
        """Delete the oldest revisions that no pod uses, beyond those that an undo may want."""
        used = {plan.current["metadata"]["name"], plan.update["metadata"]["name"], *map(revision_of, pods)}
        unused = [
            revision
            for revision in by_number(self.revisions.of(plan.stateful_set))
            if revision["metadata"]["name"] not in used
        ]
        surplus = len(unused) - plan.stateful_set["spec"].get("revisionHistoryLimit", 10)
        for revision in unused[: max(0, surplus)]:
            self.client.delete(revision)

    # Pods

    def _bring_in_order(self, plan: Plan, status: Object) -> None:
        if self._each(plan, plan.replicas, self._settle):
            return
        for pod in plan.condemned:
            self.claims.apply_policy(plan.stateful_set, pod)
        if self._each(plan, plan.condemned, self._condemn):
            return
        if plan.stateful_set["spec"]["updateStrategy"]["type"] != "OnDelete":
            self._update(plan, status)

    def _each(self, plan: Plan, pods: Sequence[Object], act: Callable[[Plan, Object], bool]) -> bool:
        """Act on pods in turn until one wants to be waited for; unordered sets wait for none."""
        if plan.ordered:
            return any(act(plan, pod) for pod in pods)
        now = self._for_now(plan, pods)
        slow_start(len(now), lambda number: act(plan, now[number]))
        return False

    def _for_now(self, plan: Plan, pods: Sequence[Object]) -> list[Object]:
        """Those that are there, and as many of the others as may be made at present."""
        missing = sum(not is_created(pod) for pod in pods)
        left = self._pace.take(missing, self.api.now_s)
        if left < missing:
            metadata = plan.stateful_set["metadata"]
            self.queue.add_after(NamespacedName(metadata["namespace"], metadata["name"]), PAUSE_S)
        now = []
        for pod in pods:
            if not is_created(pod):
                left -= 1
                if left < 0:
                    continue
            now.append(pod)
        return now

    def _settle(self, plan: Plan, pod: Object) -> bool:
        """See that a pod is there and is what it should be. True if the next one must wait."""
        if not is_created(pod):
            if self.claims.is_stale(plan.stateful_set, pod):
                metadata = plan.stateful_set["metadata"]
                self.queue.add_after(NamespacedName(metadata["namespace"], metadata["name"]), STALE_CLAIM_S)
            else:
                self._create(plan, pod)
            return True
        if is_terminal(pod):
            if not is_leaving(pod):
                self._delete(plan, pod)
            return True
        if pod["status"].get("phase") == "Pending":
            self.claims.ensure(plan.stateful_set, pod)
        if plan.ordered and is_unavailable(pod, plan.min_ready_s, self.api.now_s):
            return True
        self._keep_identity(plan, pod)
        return False

    def _condemn(self, plan: Plan, pod: Object) -> bool:
        """Take a surplus pod away. True if the next one must wait."""
        if is_leaving(pod):
            return True
        healthy = is_running_and_available(pod, plan.min_ready_s, self.api.now_s)
        if plan.ordered and not healthy and pod is not self._first_unavailable(plan):
            return True
        self._delete(plan, pod)
        return True

    def _first_unavailable(self, plan: Plan) -> Object | None:
        now_s = self.api.now_s
        everybody = (*plan.replicas, *reversed(plan.condemned))
        return next((pod for pod in everybody if is_unavailable(pod, plan.min_ready_s, now_s)), None)

    def _update(self, plan: Plan, status: Object) -> None:
        """Take pods of another revision away, from the last to the partition."""
        rolling = plan.stateful_set["spec"]["updateStrategy"].get("rollingUpdate") or {}
        targets = list(reversed(plan.replicas[rolling.get("partition", 0) :]))
        now_s = self.api.now_s
        if "maxUnavailable" not in rolling:
            for pod in targets:
                if self._is_outdated(plan, pod):
                    self._replace(plan, pod, status)
                    return
                if is_unavailable(pod, plan.min_ready_s, now_s):
                    return
            return
        most = resolve_int_or_percent(rolling["maxUnavailable"], len(plan.replicas), round_up=True)
        missing = sum(is_unavailable(pod, plan.min_ready_s, now_s) for pod in plan.replicas)
        outdated = [pod for pod in targets if self._is_outdated(plan, pod)]
        for pod in outdated[: max(0, max(1, most) - missing)]:
            self._replace(plan, pod, status)

    def _is_outdated(self, plan: Plan, pod: Object) -> bool:
        return revision_of(pod) != plan.update["metadata"]["name"] and not is_leaving(pod)

    def _replace(self, plan: Plan, pod: Object, status: Object) -> None:
        """Take a pod away; the next sync makes its successor."""
        self._delete(plan, pod)
        status["currentReplicas"] -= 1

    def _create(self, plan: Plan, pod: Object) -> None:
        try:
            self.claims.ensure(plan.stateful_set, pod)
            self.client.create(pod)
        except AlreadyExists:
            raise
        except ApiError as error:
            self._say(plan, "Create", pod, error)
            raise
        self._say(plan, "Create", pod)

    def _delete(self, plan: Plan, pod: Object) -> None:
        try:
            self.client.delete(pod)
        except NotFound:
            return
        except ApiError as error:
            self._say(plan, "Delete", pod, error)
            raise
        self._say(plan, "Delete", pod)

    def _keep_identity(self, plan: Plan, pod: Object) -> None:
        """Give a pod the labels back that say which one it is."""
        labels = pod["metadata"].get("labels") or {}
        wanted = identity_labels(pod["metadata"]["name"], ordinal_of(pod))
        self.claims.apply_policy(plan.stateful_set, pod)
        if wanted.items() <= labels.items():
            return
        self.client.edit(pod, lambda current: current["metadata"].update(labels={**labels, **wanted}))
        self._say(plan, "Update", pod)

    def _say(self, plan: Plan, verb: str, pod: Object, error: ApiError | None = None) -> None:
        owner = plan.stateful_set
        subject = f"{verb} Pod {pod['metadata']['name']} in StatefulSet {owner['metadata']['name']}"
        if error is None:
            self.recorder.event(owner, "Normal", f"Successful{verb}", f"{subject} successful")
        else:
            message = f"{subject} failed error: {error.message}"
            self.recorder.event(owner, "Warning", f"Failed{verb}", message)

    # The status

    def _count(self, plan: Plan, pods: Sequence[Object]) -> Object:
        now_s, min_ready_s = self.api.now_s, plan.min_ready_s
        current, update = plan.current["metadata"]["name"], plan.update["metadata"]["name"]
        staying = [revision_of(pod) for pod in pods if not is_leaving(pod)]
        return {
            "observedGeneration": plan.stateful_set["metadata"]["generation"],
            "replicas": len(pods),
            "readyReplicas": sum(map(is_running_and_ready, pods)),
            "currentReplicas": staying.count(current),
            "updatedReplicas": staying.count(update),
            "currentRevision": current,
            "updateRevision": update,
            "collisionCount": plan.collisions,
            "availableReplicas": sum(1 for pod in pods if is_running_and_available(pod, min_ready_s, now_s)),
        }

    def _tell(self, plan: Plan, status: Object) -> None:
        wanted = plan.stateful_set["spec"]["replicas"]
        complete = all(status[key] == wanted for key in ("updatedReplicas", "readyReplicas", "replicas"))
        if complete and plan.stateful_set["spec"]["updateStrategy"]["type"] == "RollingUpdate":
            status["currentReplicas"] = status["updatedReplicas"]
            status["currentRevision"] = status["updateRevision"]
        always = ("replicas", "availableReplicas", "collisionCount")
        reported = {key: value for key, value in status.items() if value or key in always}
        if plan.stateful_set.get("status") == reported or self.client.refresh(plan.stateful_set) is None:
            return
        self.client.edit(plan.stateful_set, lambda current: current.update(status=reported), "status")

    def _see_orphan(self, write: Revision) -> None:
        """A pod that nobody manages may be wanted by the set that its name tells."""
        if write.change == "DELETED" or controller_of(write.object) is not None:
            return
        parent, _, _ = write.key.name.rpartition("-")
        if parent and self.client.get("statefulsets.apps", write.key.namespace, parent) is not None:
            self.queue.add(NamespacedName(write.key.namespace, parent))


def _draft(stateful_set: Object, current: Object, update: Object, ordinal: int) -> Object:
    """The pod that is missing: of the current revision below the partition, of the new one above."""
    strategy = stateful_set["spec"]["updateStrategy"]
    partition = at(strategy, "rollingUpdate", "partition", default=0)
    rolling = strategy["type"] == "RollingUpdate"
    revision = current if rolling and ordinal < first_ordinal(stateful_set) + partition else update
    return draft_pod(stateful_set, template_of(revision), revision["metadata"]["name"], ordinal)
