"""The footprint of a session in the world: objects written, unneeded changes, and the error budget that users lost.

The API's own log holds the author and time of every write, so that the agent's work need not be monitored.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from aiopslab.cloud import find_changes
from aiopslab.generators.fault import Fault
from aiopslab.orchestrator.evaluation.severity import tally_requests
from aiopslab.orchestrator.oracles.side_effects import (
    describe_state_changes,
    find_unneeded_changes,
    find_unneeded_state_changes,
)
from aiopslab.orchestrator.session import Session
from simcloud.kubernetes.api import Key

if TYPE_CHECKING:
    from aiopslab.cloud import IncidentSite

MONTH_S: Final = 30 * 86_400.0
SLOW_BUDGET: Final = 0.01
"""Objectives set the 99th percentile, so 1 % of requests may be slow."""
MIN_BUDGET: Final = 1e-4
"""Avoids division by zero for an objective that allows no failure."""
_CLUSTER_USERS: Final = (
    "system:serviceaccount:kube-system:",
    "system:node:",
    "system:kube-",
    "system:apiserver",
)
_CLUSTER_KINDS: Final = frozenset({
    "clusterroles", "configmaps", "namespaces", "nodes", "persistentvolumeclaims", "persistentvolumes",
    "serviceaccounts",
})  # fmt: skip
"""Kinds that the cluster itself writes. A change of another kind under a cluster account was made by impersonating it."""
_AUTOSCALER: Final = "system:serviceaccount:kube-system:horizontal-pod-autoscaler"


@dataclass(frozen=True)
class Footprint:
    """The writes of a session, from the API's log."""

    touched: frozenset[Key]
    """Objects written in the session, other than by the cluster itself."""
    acting: frozenset[int]
    """Numbers of the steps during or after which these writes happened."""


def find_footprint(environment: IncidentSite, session: Session) -> Footprint:
    """Return the writes in the session's time, from the log."""
    starts = [session.began_s + step.at_s for step in session.steps]
    touched: set[Key] = set()
    acting: set[int] = set()
    for write in environment.cluster.api.log.history(since_s=session.began_s):
        if write.time_s > session.ended_s or write.key.plural == "events":
            continue
        if not write.by.startswith(_CLUSTER_USERS):
            touched.add(write.key)
            index = bisect_right(starts, write.time_s) - 1
            if index >= 0:
                acting.add(session.steps[index].number)
        elif write.key.plural not in _CLUSTER_KINDS and write.by != _AUTOSCALER:
            touched.add(write.key)
    return Footprint(frozenset(touched), frozenset(acting))


def find_changes_beyond_need(
    environment: IncidentSite, session: Session, footprint: Footprint, faults: Iterable[Fault]
) -> list[str]:
    """Describe the session's changes that are neither part of a repair nor a return to the baseline.

    Changes and additions by the cluster itself do not count. Its removals do: it removes objects with their namespace or
    their owner, which the agent must have deleted.
    """
    now = environment.read_declared()
    changed = {
        key
        for key, what in find_changes(session.declared, now).items()
        if key in footprint.touched or what == "removed"
    }
    faults = tuple(faults)
    unneeded = sorted(find_unneeded_changes(environment.wanted, now, environment, faults, changed))
    if own_state := describe_state_changes(session.state, environment.read_state()):
        unneeded += [
            change for change in find_unneeded_state_changes(environment, faults) if change in own_state
        ]
    return unneeded


def compute_error_budget(environment: IncidentSite, began_s: float, ended_s: float) -> dict[str, Any]:
    """Return users' failed and slow requests in the session, and the error budget that they burnt.

    A journey's budget is what its objective allows in 30 days: a share ``1 - success`` of failed requests, and 1 % slower
    than ``p99_s``. A burn rate of 1 uses it up in exactly 30 days; ``burnt`` is the share of the budget that the
    session used, for the journey with the highest share.
    """
    seen, failed, slow = tally_requests(environment, began_s, ended_s)
    rates: dict[str, float] = {}
    for objective in environment.objectives:
        journey = objective.journey
        if seen[journey]:
            failed_rate = failed[journey] / seen[journey] / max(1 - objective.success, MIN_BUDGET)
            rates[journey] = failed_rate + slow[journey] / seen[journey] / SLOW_BUDGET
    worst = max(rates.values(), default=0.0)
    return {
        "requests": seen.total(),
        "failed": failed.total(),
        "slow": slow.total(),
        "burn_rate": round(worst, 3),
        "burnt": round(worst * (ended_s - began_s) / MONTH_S, 6),
        "burn_rate_by_journey": {name: round(rate, 3) for name, rate in rates.items()},
    }
