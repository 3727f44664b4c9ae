"""The ReplicaSets of a Deployment: which one is new, their size limits and their annotations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from simcloud.kubernetes.api.objects import LAST_APPLIED, Object, copy
from simcloud.kubernetes.controllers.hashing import POD_TEMPLATE_HASH, same_template, template_hash, with_hash
from simcloud.kubernetes.controllers.pods import resolve_int_or_percent

REVISION: Final = "deployment.kubernetes.io/revision"
REVISION_HISTORY: Final = "deployment.kubernetes.io/revision-history"
DESIRED_REPLICAS: Final = "deployment.kubernetes.io/desired-replicas"
MAX_REPLICAS: Final = "deployment.kubernetes.io/max-replicas"
LONGEST_HISTORY: Final = 2000
"""Letters of old revision numbers that a ReplicaSet remembers."""

_NOT_COPIED: Final = (
    LAST_APPLIED,
    REVISION,
    REVISION_HISTORY,
    DESIRED_REPLICAS,
    MAX_REPLICAS,
    "deprecated.deployment.rollback.to",
)


def replicas(obj: Object) -> int:
    """How many pods are wanted."""
    count: int = obj["spec"].get("replicas", 1)
    return count


def status_count(replica_set: Object, field: str) -> int:
    """A count in a ReplicaSet's status."""
    count: int = replica_set.get("status", {}).get(field, 0)
    return count


def total_replicas(sets: Iterable[Object]) -> int:
    """How many pods some ReplicaSets want together."""
    return sum(map(replicas, sets))


def total_status_count(sets: Iterable[Object], field: str) -> int:
    """What the statuses of some ReplicaSets add up to."""
    return sum(status_count(replica_set, field) for replica_set in sets)


def active(sets: Iterable[Object]) -> list[Object]:
    """Those that want pods."""
    return [replica_set for replica_set in sets if replicas(replica_set) > 0]


def by_age(sets: Iterable[Object]) -> list[Object]:
    """The oldest first."""
    return sorted(
        sets,
        key=lambda replica_set: (
            replica_set["metadata"]["creationTimestamp"],
            replica_set["metadata"]["name"],
        ),
    )


def new_and_old(deployment: Object, sets: Sequence[Object]) -> tuple[Object | None, list[Object]]:
    """The ReplicaSet of the present template, if it is there, and all others."""
    template = deployment["spec"]["template"]
    new = next(
        (
            replica_set
            for replica_set in by_age(sets)
            if same_template(replica_set["spec"]["template"], template)
        ),
        None,
    )
    return new, [
        replica_set
        for replica_set in sets
        if new is None or replica_set["metadata"]["uid"] != new["metadata"]["uid"]
    ]


def is_rolling(deployment: Object) -> bool:
    """Whether new pods replace old ones step by step."""
    return bool(deployment["spec"]["strategy"]["type"] == "RollingUpdate")


def fenceposts(deployment: Object) -> tuple[int, int]:
    """How many pods may be too many, and how many may be missing. One of them is never zero."""
    rolling = deployment["spec"]["strategy"].get("rollingUpdate") or {}
    total = replicas(deployment)
    surge = resolve_int_or_percent(rolling.get("maxSurge"), total, round_up=True)
    missing = resolve_int_or_percent(rolling.get("maxUnavailable"), total, round_up=False)
    return surge, missing if surge or missing else 1


def max_surge(deployment: Object) -> int:
    """How many pods there may be beyond the wanted ones."""
    return fenceposts(deployment)[0] if is_rolling(deployment) else 0


def max_unavailable(deployment: Object) -> int:
    """How many of the wanted pods may be unavailable."""
    total = replicas(deployment)
    if not is_rolling(deployment) or total == 0:
        return 0
    return min(fenceposts(deployment)[1], total)


def new_size(deployment: Object, sets: Sequence[Object], new: Object) -> int:
    """How large the new ReplicaSet may be now."""
    wanted = replicas(deployment)
    if not is_rolling(deployment):
        return wanted
    room = wanted + max_surge(deployment) - total_replicas(sets)
    return replicas(new) + max(0, min(room, wanted - replicas(new)))


def notes(obj: Object) -> Object:
    """An object's annotations, to be read."""
    found: Object = obj["metadata"].get("annotations") or {}
    return found


def number(obj: Object, annotation: str) -> int | None:
    """The number that an annotation tells, if it tells one."""
    text = notes(obj).get(annotation, "")
    return int(text) if text.isascii() and text.isdigit() else None


def next_revision(old: Iterable[Object]) -> int:
    """One more than the newest of the old."""
    return max((number(replica_set, REVISION) or 0 for replica_set in old), default=0) + 1


def note_sizes(replica_set: Object, deployment: Object) -> bool:
    """Write into a ReplicaSet what its Deployment wants in all; True if that is news."""
    wanted = replicas(deployment)
    return _note(
        replica_set,
        {DESIRED_REPLICAS: str(wanted), MAX_REPLICAS: str(wanted + max_surge(deployment))},
    )


def note_revision(replica_set: Object, deployment: Object, revision: int) -> bool:
    """Give a ReplicaSet the Deployment's annotations and a revision, if that is higher; True if that is news."""
    copied = {key: text for key, text in notes(deployment).items() if key not in _NOT_COPIED}
    changed = _note(replica_set, copied)
    before = notes(replica_set).get(REVISION)
    if (number(replica_set, REVISION) or 0) >= revision:
        return changed
    news = {REVISION: str(revision)}
    if before is not None:
        news[REVISION_HISTORY] = _add_to_history(notes(replica_set).get(REVISION_HISTORY, ""), before)
    return _note(replica_set, news) or changed


def empty_set(deployment: Object) -> Object:
    """The ReplicaSet for a Deployment's present template, of no pods yet and nobody's."""
    spec, metadata = deployment["spec"], deployment["metadata"]
    suffix = template_hash(spec["template"], deployment.get("status", {}).get("collisionCount"))
    template = with_hash(spec["template"], suffix)
    selector: Object = copy(spec["selector"])
    selector["matchLabels"] = {**(selector.get("matchLabels") or {}), POD_TEMPLATE_HASH: suffix}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{metadata['name']}-{suffix}",
            "namespace": metadata["namespace"],
            "labels": dict(template["metadata"]["labels"]),
        },
        "spec": {"replicas": 0, "selector": selector, "template": template},
    }


def _add_to_history(history: str, revision: str) -> str:
    """A history with one more revision; the oldest go when it becomes too long."""
    revisions = [*(history.split(",") if history else []), revision]
    while len(",".join(revisions)) > LONGEST_HISTORY and len(revisions) > 1:
        revisions.pop(0)
    return ",".join(revisions)


def _note(obj: Object, wanted: Object) -> bool:
    noted = obj["metadata"].setdefault("annotations", {})
    news = {key: text for key, text in wanted.items() if noted.get(key) != text}
    noted.update(news)
    return bool(news)
