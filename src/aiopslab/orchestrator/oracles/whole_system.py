"""Judges whether the whole system is healthy again after a repair.

The world runs until the repair has taken effect. Then caches are emptied, so that they hide nothing, and users' requests
are observed; if they fail, they are observed once more when all pods have been ready for as long as clients may take to connect again.
The repair passes when the root cause is gone, every user journey meets its objective, everything that ran before the fault runs
again, every acknowledged write is still stored, and nothing unrelated to the fault was changed. Where restarting pods is a
repair, healthy pods must have been left running; healthy nodes must never have been turned off. Where the fault may return, it
must stay away for another quarter of an hour, which passes in a copy of the world without users.

Users are observed until each journey has enough requests and all met their objectives; the rest of the minute is
needed only if some did not. While the root cause remains no repair passes, so users and their writes are not observed
then; and where nothing is under way that might remove it, the verdict comes at once, or after half a minute if the API would not show it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aiopslab.generators import OperationFailed
from aiopslab.generators.fault import Fault
from aiopslab.orchestrator.oracles.permanence import check_permanence
from aiopslab.orchestrator.oracles.side_effects import (
    find_concerned_changes,
    find_concerned_state_changes,
    find_unneeded_changes,
    find_unneeded_reboots,
    find_unneeded_restarts,
    find_unneeded_state_changes,
    join_some,
)
from aiopslab.orchestrator.oracles.workloads import can_become_ready, find_unready, is_at_rest, is_rolled_out

if TYPE_CHECKING:
    from aiopslab.cloud import IncidentSite

SETTLE_S: Final = 60.0
"""Time in which a repair may take effect."""
RECONNECT_S: Final = 120.0
"""The longest time that a client waits before it connects again, by default in gRPC."""
BACK_OFF_S: Final = 330.0
"""The longest back-off before a container restarts, and some time to start in."""
QUIET_S: Final = 30.0
"""A cause that is present after a time in which nothing happened stays."""
STEP_S: Final = 5.0
WATCH_S: Final = 60.0
"""The longest observation of users."""
MIN_REQUESTS: Final = 10
"""Requests of a journey needed to judge it."""


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


def judge_repair(environment: IncidentSite, faults: Sequence[Fault]) -> Verdict:
    """Judge the state of the system; ``faults`` are those that were injected."""
    began_s = environment.now
    if not _settle(environment, faults):
        return Verdict(
            (
                *_check_causes(environment, faults),
                Finding("users and their writes", False, "not observed, because the root cause remains"),
                *_check_workloads(environment),
                *_check_side_effects(environment, faults),
            )
        )
    settles_s = (began_s if find_unready(environment) else environment.now) + RECONNECT_S
    findings = _observe(environment, faults)
    if environment.now < settles_s + WATCH_S and not all(finding.well for finding in findings):
        environment.run_for(max(settles_s - environment.now, 0.0))
        _wait_for_workloads(environment)
        findings = _observe(environment, faults)
    findings = (*findings, *_check_writes(environment), *_check_side_effects(environment, faults))
    if all(finding.well for finding in findings) and any(fault.may_return for fault in faults):
        why = check_permanence(environment, faults)
        findings = (*findings, Finding("the repair lasts", not why, why))
    return Verdict(findings)


def is_present(environment: IncidentSite, fault: Fault) -> bool:
    """Whether a fault is still present. True if the cluster does not answer, so that it cannot be checked."""
    try:
        return fault.present(environment)
    except OperationFailed:
        return True


def _settle(environment: IncidentSite, faults: Sequence[Fault]) -> bool:
    """Let the repair take effect; return whether all causes are gone."""
    began_s = environment.now
    while present := [fault for fault in faults if is_present(environment, fault)]:
        waited_s = environment.now - began_s
        if waited_s >= SETTLE_S + WATCH_S or any(
            # What happens on nodes and in stores is not seen in the API, so it gets the time too.
            (fault.declared or waited_s >= QUIET_S)
            and is_at_rest(environment, 0.0 if fault.declared else QUIET_S)
            for fault in present
        ):
            return False
        environment.run_for(STEP_S)
    while True:
        environment.run_for(STEP_S)
        if environment.now - began_s >= SETTLE_S or is_rolled_out(environment):
            break
    _wait_for_workloads(environment)
    return True


def _wait_for_workloads(environment: IncidentSite) -> None:
    """Wait for pods that are not ready. One that has crashed often restarts after minutes, however good the repair was."""
    deadline = environment.now + BACK_OFF_S
    while can_become_ready(environment) and environment.now < deadline:
        environment.run_for(STEP_S)


def _observe(environment: IncidentSite, faults: Sequence[Fault]) -> tuple[Finding, ...]:
    """Empty the caches, observe the users, and return the findings that more time may change."""
    environment.empty_caches()
    environment.run_for(1.0)
    began_s = environment.now
    users: list[Finding] = []
    while environment.now < began_s + WATCH_S:
        environment.run_for(STEP_S)
        users = list(_check_users(environment, began_s))
        if all(finding.well for finding in users):
            break
    return *_check_causes(environment, faults), *users, *_check_workloads(environment)


def _check_causes(environment: IncidentSite, faults: Sequence[Fault]) -> Iterator[Finding]:
    for fault in faults:
        nodes = [f"node {name}" for name in fault.machines_at_fault(environment)]
        components = ", ".join((fault.truth.component, *nodes))
        why = _find_cause(environment, fault)
        yield Finding("the root cause is gone", not why, f"{components}: {why}" if why else components)


def _find_cause(environment: IncidentSite, fault: Fault) -> str:
    """Return why a cause is thought to be present; empty if it is gone."""
    try:
        if not fault.present(environment):
            return ""
    except OperationFailed as error:
        return f"this cannot be checked, because the system does not answer ({error})"
    seen = [
        *find_concerned_changes(environment.wanted, environment.read_declared(), environment, fault),
        *find_concerned_state_changes(environment, fault),
    ]
    return "what caused the incident is still there" + (f" ({join_some(seen, '; ')})" if seen else "")


def _check_users(environment: IncidentSite, began_s: float) -> Iterator[Finding]:
    # Later requests may still be unanswered without having timed out.
    end_s = environment.now - environment.timeout_s
    for objective in environment.objectives:
        seen = environment.users.results.between(began_s, end_s, objective.journey)
        what = f"users of {objective.journey}"
        if seen.requests < MIN_REQUESTS:
            yield Finding(
                what,
                False,
                f"only {seen.requests} requests in {max(end_s - began_s, 0.0):.0f} s, {MIN_REQUESTS} are needed to judge",
            )
            continue
        right = 1 - (seen.errors + seen.unfinished) / seen.requests
        is_right, is_fast = right >= objective.success, seen.p99_s <= objective.p99_s
        why = f"{seen.requests} requests, {right:.1%} right, p99 {seen.p99_s * 1000:.0f} ms"
        if seen.kinds:
            why += f", most errors are {max(seen.kinds, key=lambda kind: seen.kinds[kind])}"
        if not is_right:
            why += f"; at least {objective.success:.1%} must be right"
        if not is_fast:
            why += f"; p99 must be at most {objective.p99_s * 1000:.0f} ms"
        yield Finding(what, is_right and is_fast, why)


def _check_workloads(environment: IncidentSite) -> Iterator[Finding]:
    """Yield a finding for each workload of the baseline that lacks ready pods."""
    for name, why in find_unready(environment).items():
        yield Finding(f"{name} runs", False, why)


def _check_writes(environment: IncidentSite) -> Iterator[Finding]:
    what = "every acknowledged write is stored"
    try:
        missing = environment.find_missing_writes()
    except OperationFailed:
        count = environment.count_promised().total()
        store = environment.app.audited
        yield Finding(what, False, f"{count} writes cannot be read, because {store} does not answer")
        return
    if missing is not None:
        why = f"{len(missing)} writes are gone, for example {join_some(missing)}" if missing else ""
        yield Finding(what, not missing, why)


def _check_side_effects(environment: IncidentSite, faults: Sequence[Fault]) -> Iterator[Finding]:
    if nodes := find_unneeded_reboots(environment, faults):
        yield Finding("healthy nodes stayed on", False, f"{join_some(nodes)} went off")
    if any(fault.restart_repairs for fault in faults):
        names = find_unneeded_restarts(environment, faults)
        why = f"{len(names)} were restarted, for example {join_some(names)}" if names else ""
        yield Finding("healthy pods were left running", not names, why)
    now = environment.read_declared()
    others = [
        *find_unneeded_changes(environment.wanted, now, environment, faults),
        *find_unneeded_state_changes(environment, faults),
    ]
    yield Finding("nothing else was changed", not others, join_some(others, "; "))
