"""Judges whether the whole system is healthy again after a repair.

The world runs until the repair has taken effect. Then caches are emptied, so that they hide nothing, and users' requests
are observed; if they fail, they are observed once more after the full settling time. The repair passes when the root
cause is gone, every user journey meets its objective, everything that ran before the fault runs again, every acknowledged
write is still stored, and nothing unrelated to the fault was changed. Where restarting pods is a repair, healthy pods must
have been left running; healthy nodes must never have been turned off.

While the root cause remains no repair passes, so users and their writes are not observed then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aiopslab.cloud import find_changes, find_differences
from aiopslab.generators import OperationFailed
from aiopslab.generators.fault import Fault
from aiopslab.orchestrator.oracles.side_effects import (
    find_faulty_nodes,
    find_unneeded_changes,
    find_unneeded_reboots,
    find_unneeded_restarts,
    format_resource,
)
from simcloud.kubernetes.api import Key, Object, at

if TYPE_CHECKING:
    from aiopslab.cloud import Environment

SETTLE_S: Final = 60.0
"""Time in which a repair may take effect."""
BACK_OFF_S: Final = 330.0
"""The longest back-off before a container restarts, and some time to start in."""
STEP_S: Final = 15.0
WATCH_S: Final = 60.0
MIN_REQUESTS: Final = 10
"""Requests of a journey needed to judge it."""
SHOWN: Final = 5


@dataclass(frozen=True)
class Finding:
    """One check: whether it passed, and why."""

    what: str
    well: bool
    why: str = ""

    def __str__(self) -> str:
        return f"{'ok ' if self.well else 'NOT'} {self.what}" + (f": {self.why}" if self.why else "")


@dataclass(frozen=True)
class Verdict:
    """All findings; any that failed fails the repair."""

    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return all(finding.well for finding in self.findings)

    def __str__(self) -> str:
        return "\n".join(map(str, self.findings))


def judge_repair(environment: Environment, faults: Sequence[Fault]) -> Verdict:
    """Judge the state of the system; ``faults`` are those that were injected."""
    began_s = environment.now
    if any(_remains_certainly(environment, fault) for fault in faults) or not _settle(environment, faults):
        return Verdict(
            (
                *_check_causes(environment, faults),
                Finding("users and their writes", False, "not observed, because the root cause remains"),
                *_check_workloads(environment),
                *_check_restarts(environment, faults),
                *_check_changes(environment, faults),
            )
        )
    findings = _observe(environment, faults)
    if environment.now < began_s + SETTLE_S + WATCH_S and not all(finding.well for finding in findings):
        _wait_for_workloads(environment)
        findings = _observe(environment, faults)
    return Verdict(
        (
            *findings,
            *_check_writes(environment),
            *_check_restarts(environment, faults),
            *_check_changes(environment, faults),
        )
    )


def _observe(environment: Environment, faults: Sequence[Fault]) -> tuple[Finding, ...]:
    """Empty the caches, observe the users, and return the findings that more time may change."""
    environment.empty_caches()
    environment.run_for(1.0)
    began_s = environment.now
    environment.run_for(WATCH_S)
    return (
        *_check_causes(environment, faults),
        *_check_users(environment, began_s),
        *_check_workloads(environment),
    )


def is_present(environment: Environment, fault: Fault) -> bool:
    """Whether a fault is still present. True if the cluster does not answer, so that it cannot be checked."""
    try:
        return fault.present(environment)
    except OperationFailed:
        return True


def _remains_certainly(environment: Environment, fault: Fault) -> bool:
    """Whether a fault is present and will stay: its cause is declared, and no program of the agent is left to change that."""
    if not fault.declared or not is_present(environment, fault):
        return False
    pods = environment.cluster.api.log.objects("", "pods")
    return not any(_is_task(pod) and at(pod, "status", "phase") in ("Pending", "Running") for pod in pods)


def _is_task(pod: Object) -> bool:
    """Whether a pod was started by hand or by a Job, to do something once."""
    owner: str | None = at(pod, "metadata", "ownerReferences", 0, "kind", default=None)
    return owner in (None, "Job")


def _settle(environment: Environment, faults: Sequence[Fault]) -> bool:
    """Let the repair take effect; return whether all causes are gone."""
    began_s = environment.now
    while True:
        environment.run_for(STEP_S)
        passed_s = environment.now - began_s
        if any(is_present(environment, fault) for fault in faults):
            if passed_s >= SETTLE_S + WATCH_S:
                return False
        elif passed_s >= SETTLE_S or _is_rolled_out(environment):
            break
    _wait_for_workloads(environment)
    return True


def _wait_for_workloads(environment: Environment) -> None:
    """Wait for pods that are not ready. One that has crashed often restarts after minutes, however good the repair was."""
    deadline = environment.now + BACK_OFF_S
    while next(_check_workloads(environment), None) is not None and environment.now < deadline:
        environment.run_for(STEP_S)


def _is_rolled_out(environment: Environment) -> bool:
    """Whether every workload of the baseline has its pods, all ready and none from before the last change."""
    for key, wanted in _list_workloads(environment):
        now = environment.find(format_resource(key), key.name)
        if now is None or at(now, "status", "observedGeneration") != at(now, "metadata", "generation"):
            return False
        counts = ("replicas", "updatedReplicas", "readyReplicas")
        replicas, updated, ready = (at(now, "status", name, default=0) for name in counts)
        if ready < wanted or updated < replicas:
            return False
    return True


def _check_causes(environment: Environment, faults: Sequence[Fault]) -> Iterator[Finding]:
    for fault in faults:
        nodes = [f"node {name}" for name in fault.machines_at_fault(environment)]
        components = ", ".join((fault.truth.component, *nodes))
        yield Finding("the root cause is gone", not is_present(environment, fault), components)


def _check_users(environment: Environment, began_s: float) -> Iterator[Finding]:
    # Later requests may still be unanswered without having timed out.
    end_s = environment.now - environment.timeout_s
    for objective in environment.app.objectives:
        seen = environment.users.results.between(began_s, end_s, objective.journey)
        what = f"users of {objective.journey}"
        if seen.requests < MIN_REQUESTS:
            yield Finding(what, False, f"only {seen.requests} requests in {end_s - began_s:.0f} s")
            continue
        right = 1 - (seen.errors + seen.unfinished) / seen.requests
        well = right >= objective.success and seen.p99_s <= objective.p99_s
        worst = max(seen.kinds, key=lambda kind: seen.kinds[kind], default="")
        figures = f"{seen.requests} requests, {right:.1%} right, p99 {seen.p99_s * 1000:.0f} ms"
        yield Finding(what, well, figures + (f", {worst}" if worst else ""))


def _check_workloads(environment: Environment) -> Iterator[Finding]:
    """Yield a finding for each workload of the baseline that lacks ready pods."""
    for key, wanted in _list_workloads(environment):
        now = environment.find(format_resource(key), key.name)
        ready = at(now, "status", "readyReplicas", default=0) if now is not None else 0
        if ready < wanted:
            yield Finding(f"{key.name} runs", False, f"{ready} of {wanted} pods are ready")


def _list_workloads(environment: Environment) -> Iterator[tuple[Key, int]]:
    """Yield the workloads of the baseline with their numbers of pods."""
    for key, before in environment.baseline.objects.items():
        if key.namespace == environment.namespace and key.plural in ("deployments", "statefulsets"):
            yield key, at(before, "spec", "replicas", default=1)


def _check_writes(environment: Environment) -> Iterator[Finding]:
    missing = environment.find_missing_writes()
    if missing is None:
        return
    why = f"{len(missing)} are lost, for example {', '.join(missing[:SHOWN])}" if missing else ""
    yield Finding("every acknowledged write is stored", not missing, why)


def _check_changes(environment: Environment, faults: Sequence[Fault]) -> Iterator[Finding]:
    """Find objects changed and packet filter rules lost since before the faults that a repair does not need."""
    before, now = environment.baseline.objects, environment.read_declared()
    changed = find_changes(before, now)
    for key in changed:
        if key in before and key in now:
            changed[key] += f" ({_join_some(find_differences(before[key], now[key]))})"
    others = [
        *find_unneeded_changes(changed, environment, faults),
        *_find_lost_rules(environment, faults),
    ]
    yield Finding("nothing else was changed", not others, _join_some(others, "; "))


def _join_some(phrases: Sequence[str], separator: str = ", ") -> str:
    """Join the first phrases and the number of those left out."""
    more = [f"{len(phrases) - SHOWN} more"] if len(phrases) > SHOWN else []
    return separator.join((*phrases[:SHOWN], *more))


def _find_lost_rules(environment: Environment, faults: Sequence[Fault]) -> Iterator[str]:
    """Yield the packet filter rules of the baseline that are lost; a faulty node may be rebooted, which loses its rules."""
    now, faulty = environment.read_filters(), find_faulty_nodes(environment, faults)
    for name, rules in environment.baseline.filters.items():
        if name in faulty:
            continue
        yield from (f"{name} lost the rule {rule}" for rule in rules if rule not in now.get(name, ()))


def _check_restarts(environment: Environment, faults: Sequence[Fault]) -> Iterator[Finding]:
    if nodes := find_unneeded_reboots(environment, faults):
        yield Finding("healthy nodes stayed on", False, f"{_join_some(nodes)} went off")
    if any(fault.restart_repairs for fault in faults):
        names = find_unneeded_restarts(environment, faults)
        why = f"{len(names)} were restarted, for example {', '.join(names[:SHOWN])}" if names else ""
        yield Finding("healthy pods were left running", not names, why)
