"""PodDisruptionBudgets: how many pods of an application may be disrupted at present.

Evictions read the budget's status. An evicted pod counts as gone for two minutes, until its deletion is seen.
``StaleDisruption`` removes the condition ``DisruptionTarget`` from pods that still run two minutes later. It is part
of the genuine disruption controller, but a controller of its own here, because its keys are pods.
"""

from __future__ import annotations

from typing import Any, Final

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.errors import ApiError, Conflict
from simcloud.kubernetes.api.objects import Object, at, copy
from simcloud.kubernetes.api.selectors import from_label_selector
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.api.times import parse
from simcloud.kubernetes.controller import Controller, NamespacedName, controller, controller_of
from simcloud.kubernetes.controllers.endpoints.members import LabelIndex, labels_of
from simcloud.kubernetes.controllers.pods import is_leaving, is_ready, is_terminal, resolve_int_or_percent
from simcloud.kubernetes.events import Recorder

DELETION_TIMEOUT_S: Final = 120.0
BUDGETS: Final = "poddisruptionbudgets.policy"
_UNMANAGED: Final = (
    "Pods selected by this PodDisruptionBudget (selector: {}) were found to be unmanaged. As a result, the "
    "status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for "
    'these pods please set ".spec.minAvailable" field of the PDB to an integer value.'
)

STALE_S: Final = 120.0
TARGET: Final = "DisruptionTarget"


class Uncountable(Exception):
    """The expected number of pods cannot be determined."""


@controller("disruption-controller")
class Disruption(Controller):
    """Keeps the status of all budgets."""

    pods: LabelIndex
    budgets: LabelIndex

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self.recorder = Recorder(self.client, "controllermanager")

    def watch(self) -> None:
        self.pods, self.budgets = LabelIndex(), LabelIndex()
        self.follow(BUDGETS, self._see_budget)
        self.follow("pods", self._see_pod)
        for name in ("deployments.apps", "replicasets.apps", "statefulsets.apps", "replicationcontrollers"):
            self.follow(name, self._see_owner)

    def _see_budget(self, write: Revision) -> None:
        namespace, name = write.key.namespace, write.key.name
        if write.before is not None:
            self.budgets.drop(namespace, _index_labels(write.before), name)
        if write.change != "DELETED":
            self.budgets.put(namespace, _index_labels(write.object), write.object)
        self.enqueue(write)

    def _see_pod(self, write: Revision) -> None:
        self.pods.note(write)
        if write.before is None or write.change == "DELETED" or _shows(write.before) != _shows(write.object):
            for pod in (write.before, write.object):
                self._enqueue_for(pod)

    def _see_owner(self, write: Revision) -> None:
        """Another number of wanted pods changes what a percentage of them is."""
        if write.before is not None and at(write.before, "spec", "replicas") != at(
            write.object, "spec", "replicas"
        ):
            self._enqueue_for(at(write.object, "spec", "template"), write.key.namespace)

    def _enqueue_for(self, pod: Object | None, namespace: str = "") -> None:
        if pod is None:
            return
        namespace = namespace or pod["metadata"]["namespace"]
        labels = (pod.get("metadata") or {}).get("labels") or {}
        for item in (("", ""), *labels.items()):
            for name, budget in self.budgets.get(namespace, *item).items():
                if from_label_selector(at(budget, "spec", "selector")).matches(labels):
                    self.queue.add(NamespacedName(namespace, name))

    def sync(self, key: NamespacedName) -> None:
        budget = self.client.get(BUDGETS, *key)
        if budget is None:
            return
        try:
            self._sync(key, budget)
        except Conflict:
            raise
        except (ApiError, Uncountable) as error:
            self._fail_safe(budget, error.message if isinstance(error, ApiError) else str(error))

    def _sync(self, key: NamespacedName, budget: Object) -> None:
        pods = self._pods(budget)
        if not pods:
            self.recorder.event(budget, "Normal", "NoPods", "No matching pods found")
        try:
            expected, desired = self._count_wanted(budget, pods)
        except Uncountable as error:
            words = f"Failed to calculate the number of expected pods: {error}"
            self.recorder.event(budget, "Warning", "CalculateExpectedPodCountFailed", words)
            raise
        disrupted = self._find_disrupted(key, budget, pods)
        healthy = sum(
            not is_leaving(pod) and pod["metadata"]["name"] not in disrupted and is_ready(pod) for pod in pods
        )
        allowed = max(0, healthy - desired) if expected > 0 else 0
        status: Object = {
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "disruptionsAllowed": allowed,
            "expectedPods": expected,
            "observedGeneration": budget["metadata"].get("generation", 0),
        }
        if disrupted:
            status["disruptedPods"] = disrupted
        reason = "SufficientPods" if allowed else "InsufficientPods"
        status["conditions"] = self._condition(
            budget, status["observedGeneration"], bool(allowed), reason, ""
        )
        if status != budget.get("status"):
            self._write(budget, status)

    def _pods(self, budget: Object) -> list[Object]:
        """All pods that a budget chooses, whatever their state."""
        namespace = budget["metadata"]["namespace"]
        selector = from_label_selector(at(budget, "spec", "selector"))
        (item,) = _index_labels(budget)
        if item != ("", ""):
            candidates = self.pods.get(namespace, *item)
            found = [candidates[name] for name in sorted(candidates)]
        else:
            found = self.client.list("pods", namespace)
        return [pod for pod in found if selector.matches(labels_of(pod))]

    def _count_wanted(self, budget: Object, pods: list[Object]) -> tuple[int, int]:
        """How many pods there should be, and how many must be healthy."""
        spec = budget["spec"]
        if spec.get("maxUnavailable") is not None:
            expected = self._scale(budget, pods)
            return expected, max(
                0, expected - resolve_int_or_percent(spec["maxUnavailable"], expected, round_up=True)
            )
        least = spec.get("minAvailable")
        if isinstance(least, str):
            expected = self._scale(budget, pods)
            return expected, resolve_int_or_percent(least, expected, round_up=True)
        return len(pods), least or 0

    def _scale(self, budget: Object, pods: list[Object]) -> int:
        """The sum of what the pods' controllers want."""
        scales: dict[str, int] = {}
        unmanaged = False
        for pod in pods:
            owner = controller_of(pod)
            if owner is None:
                unmanaged = True
            elif owner["uid"] not in scales:
                uid, count = self._scale_of(pod, owner)
                scales[owner["uid"]] = 0
                scales[uid] = count
        if unmanaged:
            words = _UNMANAGED.format(go_selector(at(budget, "spec", "selector")))
            self.recorder.event(budget, "Warning", "UnmanagedPods", words)
        return sum(scales.values())

    def _scale_of(self, pod: Object, owner: Object) -> tuple[str, int]:
        """The controller that decides on a pod's number, by uid, and that number."""
        namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        resource = self.api.catalogue.of_kind(owner["apiVersion"], owner["kind"])
        if resource is None:
            raise Uncountable(f'found no controllers for pod "{name}"')
        found = self.api.log.get(self.api.key(resource, namespace, owner["name"]))
        if found is None or found["metadata"]["uid"] != owner["uid"]:
            raise Uncountable(f'found no controllers for pod "{name}"')
        above = controller_of(found) if owner["kind"] == "ReplicaSet" else None
        if above is not None and above["kind"] == "Deployment":
            deployment = self.client.get("deployments.apps", namespace, above["name"])
            if deployment is not None and deployment["metadata"]["uid"] == above["uid"]:
                return above["uid"], deployment["spec"].get("replicas", 1)
        if "scale" not in resource.subresources:
            full = f"{resource.plural}.{resource.group}".rstrip(".")
            raise Uncountable(f"{full} does not implement the scale subresource")
        scale = self.api.subresource("get", resource, namespace, owner["name"], "scale")
        return owner["uid"], at(scale, "spec", "replicas", default=0)

    def _find_disrupted(self, key: NamespacedName, budget: Object, pods: list[Object]) -> dict[str, str]:
        """The pods that were evicted and whose deletion is still to be seen."""
        known = at(budget, "status", "disruptedPods", default=None) or {}
        waiting: dict[str, str] = {}
        for pod in pods:
            name = pod["metadata"]["name"]
            if name not in known or is_leaving(pod):
                continue
            left_s = parse(known[name]) + DELETION_TIMEOUT_S - self.api.now_s
            if left_s > 0:
                waiting[name] = known[name]
                self.queue.add_after(key, left_s)
            else:
                namespace = key.namespace
                words = f"Pod was expected by PDB {namespace}/{namespace} to be deleted but it wasn't"
                self.recorder.event(pod, "Warning", "NotDeleted", words)
        return waiting

    def _condition(
        self, budget: Object, generation: int, holds: bool, reason: str, message: str
    ) -> list[Object]:
        status = "True" if holds else "False"
        known = at(budget, "status", "conditions", default=None) or []
        before = next((condition for condition in known if condition["type"] == "DisruptionAllowed"), None)
        same = before is not None and before["status"] == status
        updated = {
            "type": "DisruptionAllowed",
            "status": status,
            "observedGeneration": generation,
            "lastTransitionTime": before["lastTransitionTime"] if before and same else self.api.timestamp(),
            "reason": reason,
            "message": message,
        }
        return [*(condition for condition in known if condition["type"] != "DisruptionAllowed"), updated]

    def _fail_safe(self, budget: Object, message: str) -> None:
        """Allow no disruption when the expected number of pods is unknown."""
        status = copy(budget.get("status") or {})
        status["disruptionsAllowed"] = 0
        generation = status.get("observedGeneration", 0)
        status["conditions"] = self._condition(budget, generation, False, "SyncFailed", message)
        if status != budget.get("status"):
            self._write(budget, status)

    def _write(self, budget: Object, status: Object) -> None:
        changed: Object = copy(budget)
        changed["status"] = status
        self.client.update_status(changed)


def go_selector(selector: Object | None) -> str:
    """A label selector as Go prints it in messages."""
    if selector is None:
        return "nil"
    labels = "".join(f"{key}: {value}," for key, value in sorted((selector.get("matchLabels") or {}).items()))
    expressions = "".join(
        "LabelSelectorRequirement{"
        f"Key:{expression['key']},Operator:{expression['operator']},Values:[{' '.join(expression.get('values') or ())}],}},"
        for expression in selector.get("matchExpressions") or ()
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )


def _index_labels(budget: Object) -> list[tuple[str, str]]:
    """The label under which a budget is found; one without any is looked at for every pod."""
    labels = at(budget, "spec", "selector", "matchLabels", default=None) or {}
    return sorted(labels.items())[:1] or [("", "")]


def _shows(pod: Object) -> tuple[Any, ...]:
    owners = pod["metadata"].get("ownerReferences")
    return (is_ready(pod), is_leaving(pod), labels_of(pod), owners)


@controller("stale-disruption-controller")
class StaleDisruption(Controller):
    """Takes back the condition DisruptionTarget of pods that nobody deletes."""

    def watch(self) -> None:
        self.follow("pods", self._see)

    def _see(self, write: Revision) -> None:
        if write.change != "DELETED" and _target(write.object) is not None:
            self.enqueue(write)

    def sync(self, key: NamespacedName) -> None:
        pod = self.client.get("pods", *key)
        target = _target(pod) if pod is not None else None
        if pod is None or target is None:
            return
        left_s = parse(target["lastTransitionTime"]) + STALE_S - self.api.now_s
        if left_s > 0:
            self.queue.add_after(key, left_s)
            return
        cleared = {"type": TARGET, "status": "False", "lastTransitionTime": self.api.timestamp()}
        changed: Object = copy(pod)
        conditions = changed["status"]["conditions"]
        changed["status"]["conditions"] = [
            cleared if condition["type"] == TARGET else condition for condition in conditions
        ]
        self.client.update_status(changed)


def _target(pod: Object) -> Object | None:
    """The condition of a pod that is to go and does not; the kubelet's own never grows stale."""
    if is_leaving(pod) or is_terminal(pod):
        return None
    for condition in pod["status"].get("conditions") or ():
        if (
            condition["type"] == TARGET
            and condition["status"] == "True"
            and condition.get("reason") != "TerminationByKubelet"
        ):
            found: Object = condition
            return found
    return None
