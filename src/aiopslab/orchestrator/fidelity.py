"""How alike two clouds are: the same problem is posed on both, and what an agent would see is compared.

On each cloud the fault is injected, time passes, the system is observed and judged, the reference repair is typed at the agent's
terminal, and the system is judged again. Names of pods, times, numbers and colours are left out of the comparison. A set that is
empty on both clouds agrees.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from aiopslab.orchestrator.actions.folded_lines import mask_varying
from aiopslab.orchestrator.evaluation.severity import health, tally_requests
from aiopslab.orchestrator.preparation import deploy, deploy_on_cluster, open_problem, stage
from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.orchestrator.tasks import Task
from aiopslab.orchestrator.validation.evidence import ERROR_WORDS
from aiopslab.orchestrator.validation.repairs import CannotBeTyped, judge, type_reference_repair
from aiopslab.utils import ProgressCallback, ignore_progress
from simcloud.kubernetes.api import at
from simcloud.telemetry.traces import TraceView

if TYPE_CHECKING:
    from aiopslab.cloud import IncidentSite
    from aiopslab.cloud.kubernetes import KubernetesOptions

NOTICED: Final = 0.02
"""Share of failed requests from which a journey counts as failing."""
LINE_CHARS: Final = 160
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
_POD: Final = re.compile(r"-[a-z0-9]{5,10}-[a-z0-9]{5}$")


@dataclass
class Profile:
    """What was seen of one problem on one cloud."""

    seen: dict[str, frozenset[str]] = field(default_factory=dict)
    """The sets that are compared, by aspect."""
    took_s: dict[str, float] = field(default_factory=dict)
    """How long each part took, in the cloud's own time."""


@dataclass(frozen=True)
class Comparison:
    """One aspect of one problem: how much both clouds have in common, and what only one of them has."""

    problem: str
    aspect: str
    agreement: float
    embedded_only: tuple[str, ...]
    cluster_only: tuple[str, ...]


def compare_problem(
    problems: ProblemRegistry,
    problem_id: str,
    options: KubernetesOptions,
    seed: int = 0,
    tell: ProgressCallback = ignore_progress,
) -> tuple[list[Comparison], Mapping[str, tuple[float, float]]]:
    """Pose a problem on both clouds; return the comparisons, and the times of each part on both.

    Raises ``NotAvailable``, ``NoAccess`` and ``ClusterFailed``.
    """
    task = problems.get_problem_instance(problem_id, seed)
    site = deploy_on_cluster(task, task.seed, options, tell)
    try:
        there = _observe(task, site, tell)
    finally:
        site.close()
    task = problems.get_problem_instance(problem_id, seed)
    here = _observe(task, deploy(task, task.seed, tell), tell)
    compared = [_compare(problem_id, aspect, here.seen[aspect], there.seen[aspect]) for aspect in here.seen]
    return compared, {part: (here.took_s[part], there.took_s[part]) for part in here.took_s}


def compute_agreement(comparisons: Sequence[Comparison]) -> float:
    """Return the mean agreement of all aspects."""
    return sum(each.agreement for each in comparisons) / len(comparisons) if comparisons else 1.0


def _compare(problem: str, aspect: str, here: frozenset[str], there: frozenset[str]) -> Comparison:
    union = here | there
    agreement = len(here & there) / len(union) if union else 1.0
    return Comparison(problem, aspect, agreement, tuple(sorted(here - there)), tuple(sorted(there - here)))


def _observe(task: Task, site: IncidentSite, tell: ProgressCallback) -> Profile:
    profile = Profile({}, {"deployment": site.baseline.start})
    began_s = site.now
    stage(task, site, tell)
    injected_s = site.injected_s if site.injected_s is not None else began_s
    profile.took_s["injection"] = injected_s - began_s
    profile.seen |= {name: frozenset(found) for name, found in _look(site, injected_s)}
    began_s = site.now
    verdicts = {f"doing nothing: {judge(task).passed}"}
    profile.took_s["judging the incident"] = site.now - began_s
    began_s = site.now
    try:
        type_reference_repair(open_problem(task))
        profile.took_s["repair"] = site.now - began_s
        began_s = site.now
        outcome = judge(task)
        verdicts.add(f"reference repair: {outcome.why or outcome.passed}")
    except CannotBeTyped as error:
        verdicts.add(f"reference repair: {error}")
    profile.took_s["judging the repair"] = site.now - began_s
    profile.seen["verdicts"] = frozenset(verdicts)
    return profile


def _look(site: IncidentSite, since_s: float) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield each aspect with what an agent would see of it."""
    log, namespace = site.cluster.api.log, site.namespace
    yield "failing journeys", _find_failing(site, since_s)
    yield "unhealthy objects", (_drop_suffix(name) for name in health(site).unhealthy)
    yield (
        "states of pods",
        (
            f"{_drop_suffix(pod['metadata']['name'])}: {_get_state(pod)}"
            for pod in log.objects("", "pods", namespace)
        ),
    )
    yield (
        "warnings",
        (
            f"{event['reason']} {event['involvedObject']['kind']} {_drop_suffix(event['involvedObject']['name'])}"
            for event in log.objects("", "events", namespace)
            if event.get("type") == "Warning"
        ),
    )
    yield (
        "alerts",
        (
            labels["alertname"]
            for alert in site.monitoring.rules.alerts
            if (labels := dict(alert.labels)).get("namespace") in (None, namespace)
        ),
    )
    yield "error lines", _find_error_lines(site, since_s)
    yield "spans", _find_spans(site, since_s)


def _find_failing(site: IncidentSite, since_s: float) -> Iterator[str]:
    seen, failed, _ = tally_requests(site, since_s, site.now - site.timeout_s)
    return (name for name in seen if failed[name] > NOTICED * seen[name])


def _find_error_lines(site: IncidentSite, since_s: float) -> Iterator[str]:
    start_ns = round((site.world.epoch_s + since_s) * 1e9)
    for _, labels, text in site.monitoring.logs.records(start_ns):
        named = dict(labels)
        if named.get("namespace") == site.namespace and any(word in text.lower() for word in ERROR_WORDS):
            plain = _COLOUR.sub("", text)
            yield f"{named.get('container', '')}: {mask_varying(plain)[:LINE_CHARS]}"


def _find_spans(site: IncidentSite, since_s: float) -> Iterator[str]:
    site.refresh()
    start_us = round((site.world.epoch_s + since_s) * 1e6)
    for span in TraceView(site.world.emitter.traces).spans_between(start_us, site.monitoring.now_us()):
        group = span.shape.group
        yield f"{group.service}: {group.operation}{' (failed)' if span.shape.failed else ''}"


def _get_state(pod: Mapping[str, Any]) -> str:
    for status in at(pod, "status", "containerStatuses", default=[]):
        reason: str = at(status, "state", "waiting", "reason", default="")
        if reason:
            return reason
    return (
        "ready"
        if all(s.get("ready") for s in at(pod, "status", "containerStatuses", default=[]))
        else "not ready"
    )


def _drop_suffix(name: str) -> str:
    """Return the name of an object without the random part of a pod's name."""
    return _POD.sub("", name)
