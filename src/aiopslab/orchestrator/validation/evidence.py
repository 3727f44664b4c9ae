"""Symptoms of an incident in users' requests, objects, alerts and logs, compared with a world without a fault."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from aiopslab.cloud import IncidentSite, find_changes
from aiopslab.generators import TEAMS
from aiopslab.orchestrator.evaluation.severity import health
from aiopslab.orchestrator.oracles import Finding

WORSE: Final = 0.02
"""Rise in the share of failed requests that counts as a symptom."""
SLOWER: Final = 2.0
SLOWER_BY_S: Final = 0.1
"""A p99 that rises by this factor and by this much counts as a symptom: that of a rare journey varies from window to window."""
WINDOW_S: Final = 30.0
ERROR_WORDS: Final = (
    "error",
    "fail",
    "refused",
    "unable",
    "timeout",
    "timed out",
    "denied",
    "not authorized",
)
SHOWN: Final = 3
OTHERS: Final = tuple(f"({team})" for team in TEAMS)
"""How the names of other teams' objects end: their trouble is no symptom."""


@dataclass(frozen=True)
class Symptoms:
    """The observable state of a system at one time."""

    failed: dict[str, float]
    """Share of recent requests that failed, by journey."""
    p99_s: dict[str, float]
    unhealthy: tuple[str, ...]
    alerts: tuple[str, ...]
    changed: tuple[str, ...]
    """Declared objects that differ from the baseline."""
    error_lines: int
    """Number of recent log lines with words of errors."""


def find_symptoms(environment: IncidentSite) -> Symptoms:
    """Return the observable state now."""
    end = environment.now - environment.timeout_s
    results = environment.users.results
    names = [journey.name for journey in environment.app.journeys]
    seen = {name: results.between(end - WINDOW_S, end, name) for name in names}
    changed = find_changes(environment.baseline.objects, environment.read_declared())
    return Symptoms(
        {name: requests.error_rate for name, requests in seen.items()},
        {name: requests.p99_s for name, requests in seen.items()},
        tuple(name for name in health(environment).unhealthy if not name.endswith(OTHERS)),
        tuple(sorted(_find_firing_alerts(environment))),
        tuple(f"{key.plural}/{key.name}" for key in changed),
        _count_error_lines(environment),
    )


def check_symptoms(after: Symptoms, untouched: Symptoms, breaks: bool) -> Iterator[Finding]:
    """Check that a fault has symptoms, and that a problem without a fault has none."""
    differences = list(_find_differences(after, untouched))
    why = "; ".join(differences[:SHOWN])
    if breaks:
        yield Finding("the incident is visible", bool(differences), why or "it has no symptoms")
    else:
        yield Finding("nothing is wrong", not differences and not after.unhealthy, why)


def check_no_harm(after: Symptoms, untouched: Symptoms) -> Iterator[Finding]:
    """Check that nobody notices what is going to fail: users are served and objects are healthy."""
    harm = [
        phrase
        for phrase in _find_differences(after, untouched)
        if phrase.endswith(("fail", " ms", "unhealthy"))
    ]
    yield Finding("nothing has failed yet", not harm, "; ".join(harm[:SHOWN]))


def _find_differences(after: Symptoms, untouched: Symptoms) -> Iterator[str]:
    """Yield a phrase for each respect in which a system is worse than one without a fault."""
    for name, share in after.failed.items():
        if share > untouched.failed.get(name, 0.0) + WORSE:
            yield f"{share:.0%} of {name} fail"
        elif (before_s := untouched.p99_s.get(name)) is not None and after.p99_s[name] > max(
            SLOWER * before_s, before_s + SLOWER_BY_S
        ):
            yield f"p99 of {name} is {after.p99_s[name] * 1000:.0f} ms"
    yield from (f"{name} is unhealthy" for name in after.unhealthy if name not in untouched.unhealthy)
    yield from (f"{name} fires" for name in after.alerts if name not in untouched.alerts)
    yield from (f"{name} was changed" for name in after.changed if name not in untouched.changed)
    if after.error_lines > 2 * untouched.error_lines + 10:
        yield f"{after.error_lines - untouched.error_lines} more errors in logs"


def _find_firing_alerts(environment: IncidentSite) -> set[str]:
    """Return the names of the alerts that fire, without those of other teams."""
    firing = [dict(alert.labels) for alert in environment.monitoring.rules.alerts if alert.state == "firing"]
    return {labels["alertname"] for labels in firing if labels.get("namespace") not in TEAMS}


def _count_error_lines(environment: IncidentSite) -> int:
    start_ns = round((environment.world.epoch_s + environment.now - WINDOW_S) * 1e9)
    records = environment.world.emitter.logs.records(start_ns)
    return sum(any(word in text.lower() for word in ERROR_WORDS) for _, _, text in records)
