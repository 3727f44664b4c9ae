"""Rolling updates of DaemonSets: which pods are replaced next.

Without surge an old pod is deleted and the next sync creates a new one; with surge a new pod is created first, and
the old one is deleted when the new one is available.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, field

from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.controllers.pods import is_leaving, resolve_int_or_percent


class Changes(Struct):
    """Nodes that shall get a pod, and pods that shall go."""

    create: list[str] = field(default_factory=list)
    delete: list[Object] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.create or self.delete)


def limits(daemon_set: Object, desired: int) -> tuple[int, int]:
    """How many pods may be too many, and how many may be missing. One of them is never zero."""
    rolling = at(daemon_set, "spec", "updateStrategy", "rollingUpdate", default={})
    surge = resolve_int_or_percent(rolling.get("maxSurge"), desired, round_up=True)
    missing = resolve_int_or_percent(rolling.get("maxUnavailable", 1), desired, round_up=True)
    return surge, missing if surge or missing else 1


def allows_surge(daemon_set: Object) -> bool:
    """Whether two pods may share a node during an update."""
    strategy = daemon_set["spec"]["updateStrategy"]
    if strategy["type"] != "RollingUpdate":
        return False
    return resolve_int_or_percent(at(strategy, "rollingUpdate", "maxSurge"), 100, round_up=True) > 0


def new_and_old_pod(
    pods: Sequence[Object], is_updated: Callable[[Object], bool]
) -> tuple[Object | None, Object | None] | None:
    """The new and the old pod of a node; None if there are several of a kind, which others sort out."""
    staying = [pod for pod in pods if not is_leaving(pod)]
    new = [pod for pod in staying if is_updated(pod)]
    old = [pod for pod in staying if not is_updated(pod)]
    if len(new) > 1 or len(old) > 1:
        return None
    return (new[0] if new else None), (old[0] if old else None)


def replace_in_place(
    pods_of: Mapping[str, Sequence[Object]],
    is_updated: Callable[[Object], bool],
    is_available: Callable[[Object], bool],
    most: int,
) -> Changes:
    """Take old pods away, those that serve nobody first, as long as no more than ``most`` are missing."""
    missing = 0
    useless: list[Object] = []
    candidates: list[Object] = []
    for pods in pods_of.values():
        found = new_and_old_pod(pods, is_updated)
        if found is None or (found[0] is None) == (found[1] is None):
            missing += 1
            continue
        new, old = found
        if old is None:
            missing += 0 if new is not None and is_available(new) else 1
        elif not is_available(old):
            useless.append(old)
            missing += 1
        else:
            candidates.append(old)
    return Changes(delete=useless + candidates[: max(0, most - missing)])


def surge(
    pods_of: Mapping[str, Sequence[Object]],
    is_updated: Callable[[Object], bool],
    is_available: Callable[[Object], bool],
    should_run: Callable[[str], bool],
    most: int,
    desired: int,
) -> Changes:
    """Make new pods beside old ones, no more than ``most`` at a time, and end the old ones they replace."""
    changes = Changes()
    surging = available = 0
    candidates: list[str] = []
    misplaced: list[Object] = []
    for node, pods in pods_of.items():
        found = new_and_old_pod(pods, is_updated)
        if found is None:
            surging += 1
            continue
        new, old = found
        serving = old if old is not None else new
        available += 1 if serving is not None and is_available(serving) else 0
        if old is None:
            continue
        if new is not None:
            if is_available(new):
                changes.delete.append(old)
            else:
                surging += 1
        elif not should_run(node):
            (misplaced if is_available(old) else changes.delete).append(old)
        elif is_available(old):
            candidates.append(node)
        else:
            changes.create.append(node)
    changes.delete += misplaced[: max(0, available - desired)]
    changes.create += candidates[: max(0, most - surging)]
    return changes
