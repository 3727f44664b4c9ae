"""What a session left in the world: who wrote what, what is declared differently without need, what users lost.

The API's own log says who wrote what and when, so nothing has to be watched while an agent works.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from aiopslab.cloud.declared import find_changes
from aiopslab.generators.fault.base import Fault
from aiopslab.orchestrator.evaluation.health import tally
from aiopslab.orchestrator.oracles.need import beyond_need
from aiopslab.orchestrator.session import Session
from simcloud.kubernetes.api.store import Key

if TYPE_CHECKING:
    from aiopslab.cloud.environment import Environment

MONTH_S: Final = 30 * 86_400.0
SLOW_BUDGET: Final = 0.01
"""Objectives are about the 99th percentile: one request in a hundred may be slow."""
LEAST_BUDGET: Final = 1e-4
"""An objective that allows no failure at all still has a budget to divide by."""
_OWN: Final = ("system:serviceaccount:kube-system:", "system:node:", "system:kube-", "system:apiserver")
_OWN_KINDS: Final = frozenset(
    {
        "clusterroles",
        "configmaps",
        "namespaces",
        "nodes",
        "persistentvolumeclaims",
        "persistentvolumes",
        "serviceaccounts",
    }
)
"""What the cluster itself declares now and then. Whoever changes anything else under its name has borrowed it."""
_AUTOSCALER: Final = "system:serviceaccount:kube-system:horizontal-pod-autoscaler"


@dataclass(frozen=True)
class Footprint:
    """What the API's log tells of a session."""

    touched: frozenset[Key]
    """What was written in it, other than by the cluster itself."""
    acting: frozenset[int]
    """The numbers of the steps in which, or before the next of which, that happened."""


def footprint(environment: Environment, session: Session) -> Footprint:
    """Read what the log has of the session's time."""
    begins = [session.began_s + step.at_s for step in session.steps]
    touched: set[Key] = set()
    acting: set[int] = set()
    for write in environment.cluster.api.log.history(since_s=session.began_s):
        if write.time_s > session.ended_s or write.key.plural == "events":
            continue
        if not write.by.startswith(_OWN):
            touched.add(write.key)
            place = bisect_right(begins, write.time_s) - 1
            if place >= 0:
                acting.add(session.steps[place].number)
        elif write.key.plural not in _OWN_KINDS and write.by != _AUTOSCALER:
            touched.add(write.key)
    return Footprint(frozenset(touched), frozenset(acting))


def changes_beyond_need(
    environment: Environment, session: Session, left: Footprint, faults: Iterable[Fault]
) -> list[str]:
    """What is declared otherwise now than when the session began, and is neither part of a repair nor as it once was.

    What the cluster itself changed or added in the meantime is nobody's fault; what it removed (with a namespace, or with
    an owner) somebody had it remove.
    """
    now = environment.read_declared()
    astray = find_changes(environment.baseline.objects, now)
    found = {
        key: what
        for key, what in sorted(find_changes(session.declared, now).items())
        if key in astray and (key in left.touched or what == "removed")
    }
    return beyond_need(found, environment, faults)


def error_budget(environment: Environment, began_s: float, ended_s: float) -> dict[str, Any]:
    """What the session's time cost users, against what they were promised.

    A journey's budget is what its objective allows in 30 days: failed requests up to ``1 - success``, and one in a
    hundred slower than ``p99_s``. A burn rate of 1 uses it up in exactly 30 days; ``burnt`` is the share of it that the
    session used, of the journey that used most.
    """
    seen, failed, slow = tally(environment, began_s, ended_s)
    rates = {
        one.journey: failed[one.journey] / seen[one.journey] / max(1 - one.success, LEAST_BUDGET)
        + slow[one.journey] / seen[one.journey] / SLOW_BUDGET
        for one in environment.app.objectives
        if seen[one.journey]
    }
    worst = max(rates.values(), default=0.0)
    return {
        "requests": seen.total(),
        "failed": failed.total(),
        "slow": slow.total(),
        "burn_rate": round(worst, 3),
        "burnt": round(worst * (ended_s - began_s) / MONTH_S, 6),
        "burn_rate_by_journey": {name: round(rate, 3) for name, rate in rates.items()},
    }
