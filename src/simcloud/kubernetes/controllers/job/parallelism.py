"""The number of a job's pods: up to its parallelism at once, no more than it needs, each index once."""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.api.errors import ApiError, NotFound
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.times import parse
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.controllers.job.backoff import Backoff, end_time_s
from simcloud.kubernetes.controllers.job.indexes import INDEX, index_of
from simcloud.kubernetes.controllers.job.policies import judge
from simcloud.kubernetes.controllers.job.snapshot import (
    FAILURES,
    IGNORED_FAILURES,
    TRACKING,
    JobSnapshot,
    failures_of,
    is_tracked,
)
from simcloud.kubernetes.controllers.pods import (
    BURST,
    PAUSE_S,
    Pace,
    PodControl,
    from_template,
    is_ready,
    is_terminating,
    namespace_is_leaving,
    ready_since,
    slow_start,
)

INDEX_VARIABLE: Final = "JOB_COMPLETION_INDEX"
LONGEST_PREFIX: Final = 58
_PHASES: Final = {"Pending": 0, "Unknown": 1, "Running": 2}


class PodScaler:
    """Makes and deletes the pods of jobs."""

    def __init__(self, client: ComponentClient, control: PodControl) -> None:
        self._client = client
        self._control = control
        self.pace = Pace()

    def adjust(self, snapshot: JobSnapshot) -> float | None:
        """Delete or create pods until the wanted number is active.

        The snapshot's counts follow. Returns after how many seconds to come again, if there is something
        to wait for. ApiError: a pod was refused.
        """
        surplus = snapshot.active if snapshot.suspended else self._surplus(snapshot)
        if surplus:
            self._dismiss(snapshot, surplus)
            return None
        terminating = snapshot.terminating_count if snapshot.replaces_failed_only else 0
        missing = _count_wanted(snapshot) - terminating - snapshot.active_count
        if snapshot.suspended or missing <= 0:
            return None
        wait_s, indexes = self._openings(snapshot, min(missing, BURST))
        if wait_s:
            return wait_s
        count = self.pace.take(len(indexes), self._client.api.now_s)
        self._hire(snapshot, indexes[:count])
        return PAUSE_S if count < len(indexes) else None

    def end(self, snapshot: JobSnapshot) -> None:
        """Delete the pods of a job that is over; they keep their finalizer until they are counted."""
        refusal: ApiError | None = None
        for pod in snapshot.active:
            try:
                self._control.delete(pod, snapshot.job)
            except ApiError as error:
                refusal = error
                continue
            self._note_dismissed(snapshot, pod)
        if refusal is not None:
            raise refusal

    def untrack(self, pod: Object) -> None:
        """Take the tracking finalizer off a pod, if it is still there and has it."""
        try:
            if is_tracked(pod):
                self._client.patch(pod, {"metadata": {"$deleteFromPrimitiveList/finalizers": [TRACKING]}})
        except NotFound:
            return

    def _surplus(self, snapshot: JobSnapshot) -> list[Object]:
        rest = list(snapshot.active)
        surplus: list[Object] = []
        if snapshot.indexed:
            surplus, rest = _double(snapshot)
        too_many = len(snapshot.active) - _count_wanted(snapshot) - len(surplus)
        if too_many > 0:
            surplus += sorted(rest, key=_turn)[:too_many]
        return surplus[:BURST]

    def _dismiss(self, snapshot: JobSnapshot, pods: list[Object]) -> None:
        for pod in pods:
            self.untrack(pod)
            self._control.delete(pod, snapshot.job)
            self._note_dismissed(snapshot, pod)

    def _note_dismissed(self, snapshot: JobSnapshot, pod: Object) -> None:
        snapshot.active_count -= 1
        snapshot.terminating_count += 1
        snapshot.ready_count -= 1 if is_ready(pod) else 0

    def _openings(self, snapshot: JobSnapshot, missing: int) -> tuple[float, list[int | None]]:
        """How long to wait, or else the indexes of the pods to make."""
        now_s = self._client.api.now_s
        if snapshot.per_index is None:
            wait_s = snapshot.backoff.remaining_s(now_s)
            if wait_s:
                return wait_s, []
        if not snapshot.indexed:
            return 0.0, [None] * missing
        indexes = _free_indexes(snapshot, missing)
        if snapshot.per_index is None:
            return 0.0, [*indexes]
        waits = {index: _index_wait_s(snapshot.awaiting.get(index), now_s) for index in indexes}
        ready: list[int | None] = [index for index in indexes if not waits[index]]
        return (0.0 if ready else min(waits.values(), default=0.0)), ready

    def _hire(self, snapshot: JobSnapshot, indexes: list[int | None]) -> None:
        template = _template(snapshot)

        def make(number: int) -> None:
            pod = from_template(template, snapshot.job)
            index = indexes[number]
            if index is not None:
                _give_index(pod, index, snapshot)
            try:
                self._control.create(pod, snapshot.job)
            except ApiError as error:
                if not namespace_is_leaving(error):
                    raise
                return
            snapshot.active_count += 1

        slow_start(len(indexes), make)


def _count_wanted(snapshot: JobSnapshot) -> int:
    """How many pods should be active."""
    parallelism: int = snapshot.spec["parallelism"]
    if snapshot.completions is None:
        return snapshot.active_count if snapshot.succeeded > 0 else parallelism
    return max(0, min(parallelism, snapshot.completions - snapshot.succeeded))


def _double(snapshot: JobSnapshot) -> tuple[list[Object], list[Object]]:
    """Active pods of an index that is none or that another pod has, and the others."""
    by_index: dict[int, list[Object]] = {}
    surplus, kept = [], []
    for pod in snapshot.active:
        index = index_of(pod)
        if index is None or index >= (snapshot.completions or 0):
            surplus.append(pod)
        else:
            by_index.setdefault(index, []).append(pod)
    for index in sorted(by_index):
        *more, last = sorted(by_index[index], key=_turn)
        surplus += more
        kept.append(last)
    return surplus, kept


def _turn(pod: Object) -> tuple[float, ...]:
    """The earlier in its life a pod is, the earlier it goes."""
    status = pod.get("status", {})
    restarts = max(
        (container.get("restartCount", 0) for container in status.get("containerStatuses") or ()), default=0
    )
    since = ready_since(pod)
    return (
        1 if pod["spec"].get("nodeName") else 0,
        _PHASES.get(status.get("phase", ""), 0),
        0 if since is None else 1,
        -(since or 0.0),
        -restarts,
        -parse(pod["metadata"]["creationTimestamp"]),
    )


def _free_indexes(snapshot: JobSnapshot, count: int) -> list[int]:
    busy = list(snapshot.active)
    if snapshot.replaces_failed_only:
        busy += [pod for pod in snapshot.pods if is_terminating(pod)]
    taken = snapshot.succeeded_indexes.union(snapshot.failed_indexes)
    taken = taken.plus(index for pod in busy if (index := index_of(pod)) is not None)
    return taken.free(count, snapshot.completions or 0)


def _index_wait_s(failed: Object | None, now_s: float) -> float:
    if failed is None:
        return 0.0
    return Backoff(sum(failures_of(failed)) + 1, end_time_s(failed)).remaining_s(now_s)


def _template(snapshot: JobSnapshot) -> Object:
    template: Object = copy(snapshot.spec["template"])
    metadata = template.setdefault("metadata", {})
    finalizers = metadata.setdefault("finalizers", [])
    if TRACKING not in finalizers:
        finalizers.append(TRACKING)
    if snapshot.indexed:
        field = {"fieldRef": {"fieldPath": f"metadata.labels['{INDEX}']"}}
        spec = template["spec"]
        for container in [*(spec.get("initContainers") or ()), *spec["containers"]]:
            variables = container.setdefault("env", [])
            if all(variable["name"] != INDEX_VARIABLE for variable in variables):
                variables.append({"name": INDEX_VARIABLE, "valueFrom": copy(field)})
    return template


def _give_index(pod: Object, index: int, snapshot: JobSnapshot) -> None:
    metadata, name = pod["metadata"], snapshot.job["metadata"]["name"]
    annotations = metadata.setdefault("annotations", {})
    annotations[INDEX] = metadata.setdefault("labels", {})[INDEX] = str(index)
    pod["spec"]["hostname"] = f"{name}-{index}"
    ending = f"-{index}-"
    metadata["generateName"] = name[: LONGEST_PREFIX - len(ending)] + ending
    if snapshot.per_index is None:
        return
    counted, ignored = 0, 0
    replaced = snapshot.awaiting.get(index)
    if replaced is not None:
        counted, ignored = failures_of(replaced)
        if judge(snapshot.failure_policy, replaced).counts:
            counted += 1
        else:
            ignored += 1
    annotations[FAILURES] = str(counted)
    if ignored:
        annotations[IGNORED_FAILURES] = str(ignored)
