"""Is the whole system well again?

After the repair the world runs on for a settling time. Then caches are emptied, so that they hide nothing, and users are
watched for a while. The repair is good when the root cause is gone, users get right answers in time on every journey, all
that ran before the fault runs again, every write that was acknowledged is still there, and nothing was changed that has
nothing to do with the fault. Where starting pods anew is a repair, those that were well must have been left running; and nodes
that were well must have been left on in any case.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from aiopslab.cloud.declared import find_changes, find_differences
from aiopslab.generators.fault.base import Fault
from aiopslab.generators.site import OperationFailed
from aiopslab.orchestrator.oracles.need import beyond_need, resource_of
from aiopslab.orchestrator.oracles.spared import nodes_at_fault, rebooted_needlessly, restarted_needlessly
from aiopslab.orchestrator.oracles.verdict import Finding, Verdict
from simcloud.kubernetes.api.objects import at

if TYPE_CHECKING:
    from aiopslab.cloud.environment import Environment

SETTLE_S: Final = 60.0
BACK_OFF_S: Final = 330.0
"""The longest pause before a container is started again, and some time to start in."""
STEP_S: Final = 15.0
WATCH_S: Final = 60.0
LEAST_REQUESTS: Final = 10
"""So many of a journey's requests must have been seen to say that it works."""
SHOWN: Final = 5


def judge_repair(environment: Environment, faults: Sequence[Fault]) -> Verdict:
    """Judge the system as it stands now, after a repair or after nothing; ``faults`` are those that were injected."""
    _settle(environment, faults)
    environment.empty_caches()
    environment.run_for(1.0)
    begun = environment.now
    environment.run_for(WATCH_S)
    findings = (
        *_causes(environment, faults),
        *_users(environment, begun),
        *_workloads(environment),
        *_writes(environment),
        *_spared(environment, faults),
        *_left_behind(environment, faults),
    )
    return Verdict(findings)


def remains(environment: Environment, fault: Fault) -> bool:
    """Whether a cause is still there. Where nobody can look any more, because the cluster does not answer, it is."""
    try:
        return fault.present(environment)
    except OperationFailed:
        return True


def _settle(environment: Environment, faults: Sequence[Fault]) -> None:
    """Let the repair take effect. A pod that has crashed often pauses for minutes, however good the repair was."""
    environment.run_for(SETTLE_S)
    if any(remains(environment, fault) for fault in faults):
        return
    deadline = environment.now + BACK_OFF_S
    while next(_workloads(environment), None) is not None and environment.now < deadline:
        environment.run_for(STEP_S)


def _causes(environment: Environment, faults: Sequence[Fault]) -> Iterator[Finding]:
    for fault in faults:
        nodes = [f"node {name}" for name in fault.machines_at_fault(environment)]
        told = ", ".join((fault.truth.component, *nodes))
        yield Finding("the root cause is gone", not remains(environment, fault), told)


def _users(environment: Environment, begun: float) -> Iterator[Finding]:
    # Requests that are not answered within their time-out by now will be errors.
    end = environment.now - environment.timeout_s
    for objective in environment.app.objectives:
        seen = environment.users.results.between(begun, end, objective.journey)
        what = f"users of {objective.journey}"
        if seen.requests < LEAST_REQUESTS:
            yield Finding(what, False, f"only {seen.requests} requests in {end - begun:.0f} s")
            continue
        right = 1 - (seen.errors + seen.unfinished) / seen.requests
        well = right >= objective.success and seen.p99_s <= objective.p99_s
        worst = max(seen.kinds, key=lambda kind: seen.kinds[kind], default="")
        told = f"{seen.requests} requests, {right:.1%} right, p99 {seen.p99_s * 1000:.0f} ms"
        yield Finding(what, well, told + (f", {worst}" if worst else ""))


def _workloads(environment: Environment) -> Iterator[Finding]:
    """Everything that ran in the baseline runs as it did."""
    for key, before in environment.baseline.objects.items():
        if key.namespace != environment.namespace or key.plural not in ("deployments", "statefulsets"):
            continue
        wanted = at(before, "spec", "replicas", default=1)
        now = environment.find(resource_of(key), key.name)
        ready = at(now, "status", "readyReplicas", default=0) if now is not None else 0
        if ready < wanted:
            yield Finding(f"{key.name} runs", False, f"{ready} of {wanted} pods are ready")


def _writes(environment: Environment) -> Iterator[Finding]:
    missing = environment.find_missing_writes()
    if missing is None:
        return
    shown = ", ".join(missing[:SHOWN])
    why = f"{len(missing)} are gone, {shown} among them" if missing else ""
    yield Finding("every write that was acknowledged is there", not missing, why)


def _left_behind(environment: Environment, faults: Sequence[Fault]) -> Iterator[Finding]:
    """What is declared differently now than before the faults, or lost at a node, and is no part of a repair."""
    before, now = environment.baseline.objects, environment.read_declared()
    found = find_changes(before, now)
    for key in found:
        if key in before and key in now:
            found[key] += f" ({_some(find_differences(before[key], now[key]))})"
    others = [*beyond_need(found, environment, faults), *_rules_lost(environment, faults)]
    yield Finding("nothing else was changed", not others, _some(others, "; "))


def _some(told: Sequence[str], between: str = ", ") -> str:
    """The first of them, and how many more there are."""
    more = [f"{len(told) - SHOWN} more"] if len(told) > SHOWN else []
    return between.join((*told[:SHOWN], *more))


def _rules_lost(environment: Environment, faults: Sequence[Fault]) -> Iterator[str]:
    """Rules of packet filters that were there before any fault, and are not any more; a node at fault may be booted."""
    now, blamed = environment.read_filters(), nodes_at_fault(environment, faults)
    for name, rules in environment.baseline.filters.items():
        if name in blamed:
            continue
        yield from (f"{name} lost the rule {rule}" for rule in rules if rule not in now.get(name, ()))


def _spared(environment: Environment, faults: Sequence[Fault]) -> Iterator[Finding]:
    if nodes := rebooted_needlessly(environment, faults):
        yield Finding("nodes that were well were left on", False, f"{_some(nodes)} went off")
    if any(fault.restart_repairs for fault in faults):
        names = restarted_needlessly(environment, faults)
        why = f"{len(names)} were started anew, {', '.join(names[:SHOWN])} among them" if names else ""
        yield Finding("what was well was left running", not names, why)
