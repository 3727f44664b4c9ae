"""Proportional scaling: distributes a new number of replicas over the ReplicaSets of a rollout in progress.

Each ReplicaSet gets a share in proportion to its size; the remainder of rounding goes to the largest.
"""

from __future__ import annotations

from collections.abc import Sequence

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.controllers.deployments.sets import (
    DESIRED_REPLICAS,
    MAX_REPLICAS,
    active,
    by_age,
    max_surge,
    number,
    replicas,
    status_count,
    total_replicas,
)


def only_candidate(new: Object | None, old: Sequence[Object]) -> Object | None:
    """The one ReplicaSet that has pods; if none has, the new one or else the latest."""
    everybody = [*reversed(by_age(old)), *([new] if new is not None else [])]
    running = active(everybody)
    if not running:
        return new if new is not None or not everybody else everybody[0]
    return running[0] if len(running) == 1 else None


def is_saturated(deployment: Object, new: Object | None) -> bool:
    """Whether the new ReplicaSet has all the pods, and all of them available."""
    if new is None:
        return False
    wanted = replicas(deployment)
    return wanted == replicas(new) == number(new, DESIRED_REPLICAS) == status_count(new, "availableReplicas")


def proportional(deployment: Object, sets: Sequence[Object]) -> list[tuple[Object, int]]:
    """The sizes that ReplicaSets shall have, in the order in which they are to be scaled."""
    wanted = replicas(deployment)
    allowed = wanted + max_surge(deployment) if wanted else 0
    running = active(sets)
    missing = allowed - total_replicas(running)
    ordered = by_age(running)
    if missing > 0:
        ordered.reverse()
    ordered.sort(key=replicas, reverse=True)
    sizes, added = [], 0
    for replica_set in ordered:
        part = _part(replica_set, deployment, missing, added)
        added += part
        sizes.append((replica_set, replicas(replica_set) + part))
    if sizes and missing:
        largest, size = sizes[0]
        sizes[0] = (largest, max(0, size + missing - added))
    return sizes


def _part(replica_set: Object, deployment: Object, missing: int, added: int) -> int:
    left = missing - added
    if not missing or not left:
        return 0
    fraction = _fraction(replica_set, deployment)
    return min(fraction, left) if missing > 0 else max(fraction, left)


def _fraction(replica_set: Object, deployment: Object) -> int:
    size = replicas(replica_set)
    if replicas(deployment) == 0:
        return -size
    before = number(replica_set, MAX_REPLICAS) or deployment.get("status", {}).get("replicas", 0)
    if not before:
        return 0
    now = replicas(deployment) + max_surge(deployment)
    return int(size * now / before + 0.5) - size
