"""Shared functions of controllers about pods: which ones count, how they are created, and which is deleted first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cmp_to_key
from math import log2
from typing import Any, Final

from simcloud.kubernetes.api.errors import ApiError, NotFound
from simcloud.kubernetes.api.objects import Object, at, copy
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.api.times import parse
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.controller import owner_reference
from simcloud.kubernetes.events import Recorder

BURST: Final = 500
"""Maximum number of pods created or deleted in one sync."""
MADE_PER_S: Final = 20.0
"""Creation rate while no node takes the new pods: the default rate limit of a controller's client."""
PAUSE_S: Final = 1.0
"""Pause before the controller looks again for missing pods."""

DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
_PHASES: Final = {"Pending": 0, "Unknown": 1, "Running": 2}


def is_terminal(pod: Object) -> bool:
    """Whether it has ended."""
    return pod["status"].get("phase") in ("Succeeded", "Failed")


def is_leaving(pod: Object) -> bool:
    """Whether it is to be deleted."""
    return "deletionTimestamp" in pod["metadata"]


def is_active(pod: Object) -> bool:
    """Whether it counts as one of its controller's pods."""
    return not is_terminal(pod) and not is_leaving(pod)


def is_terminating(pod: Object) -> bool:
    """Whether it is on its way out and has not ended yet."""
    return not is_terminal(pod) and is_leaving(pod)


def ready_since(pod: Object) -> float | None:
    """Since when a pod is ready, in seconds since 1970; None if it is not."""
    for condition in pod["status"].get("conditions") or ():
        if condition.get("type") == "Ready":
            if condition.get("status") != "True":
                return None
            since = condition.get("lastTransitionTime")
            return parse(since) if since else 0.0
    return None


def is_ready(pod: Object) -> bool:
    """Whether it may be sent requests."""
    return ready_since(pod) is not None


def available_in(pod: Object, min_ready_s: int, now_s: float) -> float | None:
    """After how many seconds a pod has been ready for long enough: 0 if it has, None if it is not ready."""
    since = ready_since(pod)
    if since is None:
        return None
    return max(since + min_ready_s - now_s, 0.0) if min_ready_s else 0.0


def is_available(pod: Object, min_ready_s: int, now_s: float) -> bool:
    """Whether it has been ready for long enough."""
    return available_in(pod, min_ready_s, now_s) == 0.0


def next_check_s(pods: Sequence[Object], min_ready_s: int, now_s: float) -> float | None:
    """In how many seconds the next of some ready pods becomes available; None if nothing is to come."""
    waits = (available_in(pod, min_ready_s, now_s) for pod in pods)
    return min((wait for wait in waits if wait), default=None)


def from_template(template: Object, owner: Object) -> Object:
    """A pod for an owner, still without a name."""
    wanted = template.get("metadata") or {}
    metadata: Object = {
        key: copy(wanted[key]) for key in ("labels", "annotations", "finalizers") if wanted.get(key)
    }
    metadata["namespace"] = owner["metadata"]["namespace"]
    metadata["generateName"] = f"{owner['metadata']['name']}-"
    metadata["ownerReferences"] = [owner_reference(owner)]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": copy(template["spec"])}


def namespace_is_leaving(error: ApiError) -> bool:
    """Whether a write was refused because its namespace is being deleted."""
    causes = (error.details or {}).get("causes") or ()
    return any(cause.get("reason") == "NamespaceTerminating" for cause in causes)


class PodControl:
    """Makes and deletes pods for an owner, and tells of it in the owner's events."""

    def __init__(self, client: ComponentClient, recorder: Recorder) -> None:
        self._client = client
        self._recorder = recorder

    def create(self, pod: Object, owner: Object) -> Object:
        """Make a pod."""
        try:
            made = self._client.create(pod)
        except ApiError as error:
            if not namespace_is_leaving(error):
                self._recorder.event(owner, "Warning", "FailedCreate", f"Error creating: {error.message}")
            raise
        self._recorder.event(owner, "Normal", "SuccessfulCreate", f"Created pod: {made['metadata']['name']}")
        return made

    def delete(self, pod: Object, owner: Object) -> None:
        """Delete a pod, if it is still there."""
        try:
            if not self._client.delete(pod):
                return
        except NotFound:
            return
        except ApiError as error:
            self._recorder.event(owner, "Warning", "FailedDelete", f"Error deleting: {error.message}")
            raise
        self._recorder.event(owner, "Normal", "SuccessfulDelete", f"Deleted pod: {pod['metadata']['name']}")


class Pace:
    """Limits how many pods a controller may create now, so that a million replicas do not come within one second.

    A pod that finds its node makes room for the next, so that large clusters fill as fast as they can. Genuine controllers
    have no such rule; operators of large clusters raise the clients' rate limits instead.
    """

    def __init__(self) -> None:
        self._left = float(BURST)
        self._counted_at_s = 0.0

    def take(self, wanted: int, now_s: float) -> int:
        """Return how many of the wanted pods may be created."""
        self._left = min(BURST, self._left + (now_s - self._counted_at_s) * MADE_PER_S)
        self._counted_at_s = now_s
        taken = min(wanted, int(self._left))
        self._left -= taken
        return taken

    def see(self, write: Revision) -> None:
        """A handler: a pod was written."""
        before = write.before
        if before is not None and not before["spec"].get("nodeName") and write.object["spec"].get("nodeName"):
            self._left = min(BURST, self._left + 1)


def slow_start(count: int, make: Callable[[int], object]) -> None:
    """Make things in batches of 1, 2, 4, …; a batch in which one is refused is the last.

    So a namespace without quota is asked a few times, not hundreds of times. The first refusal is raised.
    """
    done, batch = 0, min(count, 1)
    while batch:
        refusal: ApiError | None = None
        for number in range(done, done + batch):
            try:
                make(number)
            except ApiError as error:
                refusal = refusal or error
        if refusal is not None:
            raise refusal
        done += batch
        batch = min(2 * batch, count - done)


def first_to_go(pods: Sequence[Object], related: Sequence[Object], now_s: float) -> list[Object]:
    """Pods in the order in which a controller gives them up.

    Not scheduled before scheduled, pending before running, not ready before ready, cheap before dear,
    on a node with many related pods before alone, ready for a shorter time (in powers of two) before
    longer, restarted often before seldom, young before old.
    """
    crowd: dict[str, int] = {}
    for pod in related:
        if is_active(pod):
            node = pod["spec"].get("nodeName", "")
            crowd[node] = crowd.get(node, 0) + 1
    seen = [_Seen(pod, crowd.get(pod["spec"].get("nodeName", ""), 0), now_s) for pod in pods]
    return [ranked.pod for ranked in sorted(seen, key=cmp_to_key(_compare))]


class _Seen:
    """What decides about a pod's turn."""

    __slots__ = ("created", "pod", "ready_age", "uid", "values")

    def __init__(self, pod: Object, crowd: int, now_s: float) -> None:
        self.pod = pod
        self.uid: str = pod["metadata"]["uid"]
        since = ready_since(pod)
        restarts = max(
            (container.get("restartCount", 0) for container in pod["status"].get("containerStatuses") or ()),
            default=0,
        )
        self.ready_age = None if since is None else (since, _magnitude(now_s - since))
        born = parse(pod["metadata"]["creationTimestamp"])
        self.created = (born, _magnitude(now_s - born))
        self.values = (
            1 if pod["spec"].get("nodeName") else 0,
            _PHASES.get(pod["status"].get("phase", ""), 0),
            0 if since is None else 1,
            _deletion_cost(pod),
            -crowd,
            -restarts,
        )


def _magnitude(age_s: float) -> int:
    return int(log2(age_s * 1e9)) if age_s > 0 else -1


def _deletion_cost(pod: Object) -> int:
    text = at(pod, "metadata", "annotations", DELETION_COST, default="0")
    try:
        return int(text)
    except ValueError:
        return 0


def _compare(one: _Seen, other: _Seen) -> int:
    for index in range(5):
        if one.values[index] != other.values[index]:
            return -1 if one.values[index] < other.values[index] else 1
    if one.ready_age and other.ready_age and one.ready_age[0] != other.ready_age[0]:
        return _younger_first(one, other, one.ready_age[1], other.ready_age[1])
    if one.values[5] != other.values[5]:
        return -1 if one.values[5] < other.values[5] else 1
    if one.created[0] != other.created[0]:
        return _younger_first(one, other, one.created[1], other.created[1])
    return 0


def _younger_first(one: _Seen, other: _Seen, age: int, other_age: int) -> int:
    """By the magnitude of their ages; among equals the uid decides, so that no age is preferred."""
    if age != other_age:
        return -1 if age < other_age else 1
    return -1 if one.uid < other.uid else 1


def resolve_int_or_percent(value: Any, total: int, round_up: bool) -> int:
    """How many of a total are meant; what is not given is none."""
    if value is None:
        return 0
    if isinstance(value, int):
        return value
    parts = int(value.rstrip("%")) * total
    return -(-parts // 100) if round_up else parts // 100
