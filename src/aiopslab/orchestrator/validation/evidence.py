"""What shows of an incident: what users, objects, alerts and logs say, compared with a world in which nothing was done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from aiopslab.cloud.declared import find_changes
from aiopslab.cloud.environment import Environment
from aiopslab.orchestrator.evaluation.health import health
from aiopslab.orchestrator.oracles import Finding

WORSE: Final = 0.02
"""So much more of a journey's requests must fail to say that its users are worse off."""
SLOWER: Final = 2.0
WINDOW_S: Final = 30.0
LOUD: Final = ("error", "fail", "refused", "unable", "timeout", "timed out", "denied", "not authorized")
SHOWN: Final = 3


@dataclass(frozen=True)
class Signs:
    """What can be seen of a system at one moment."""

    failed: dict[str, float]
    """Of each journey, the share of its requests that failed lately."""
    p99_s: dict[str, float]
    unhealthy: tuple[str, ...]
    alerts: tuple[str, ...]
    changed: tuple[str, ...]
    """Objects that are declared otherwise than before."""
    loud: int
    """Lines of logs that complain."""


def signs(environment: Environment) -> Signs:
    """What can be seen now."""
    end = environment.now - environment.timeout_s
    results = environment.users.results
    seen = {one.name: results.between(end - WINDOW_S, end, one.name) for one in environment.app.journeys}
    changed = find_changes(environment.baseline.objects, environment.read_declared())
    return Signs(
        {name: one.error_rate for name, one in seen.items()},
        {name: one.p99_s for name, one in seen.items()},
        health(environment).unhealthy,
        tuple(sorted({labels["alertname"] for labels in _firing(environment)})),
        tuple(f"{key.plural}/{key.name}" for key in changed),
        _loud(environment),
    )


def shows(after: Signs, untouched: Signs, breaks: bool) -> Iterator[Finding]:
    """A fault can be noticed; where nothing is wrong, nothing can."""
    found = list(_differences(after, untouched))
    told = "; ".join(found[:SHOWN])
    if breaks:
        yield Finding("the incident shows", bool(found), told or "nothing differs from a world without it")
    else:
        yield Finding("nothing is wrong", not found and not after.unhealthy, told)


def _differences(after: Signs, untouched: Signs) -> Iterator[str]:
    """In what a system is worse off than one in which nothing was done, a phrase for each."""
    for name, share in after.failed.items():
        if share > untouched.failed.get(name, 0.0) + WORSE:
            yield f"{share:.0%} of {name} fail"
        elif after.p99_s[name] > SLOWER * untouched.p99_s.get(name, after.p99_s[name]):
            yield f"p99 of {name} is {after.p99_s[name] * 1000:.0f} ms"
    yield from (f"{name} is not well" for name in after.unhealthy if name not in untouched.unhealthy)
    yield from (f"{name} fires" for name in after.alerts if name not in untouched.alerts)
    yield from (f"{name} was changed" for name in after.changed if name not in untouched.changed)
    if after.loud > 2 * untouched.loud + 10:
        yield f"{after.loud - untouched.loud} more complaints in logs"


def _firing(environment: Environment) -> list[dict[str, str]]:
    return [dict(alert.labels) for alert in environment.monitoring.rules.alerts if alert.state == "firing"]


def _loud(environment: Environment) -> int:
    start_ns = round((environment.world.epoch_s + environment.now - WINDOW_S) * 1e9)
    records = environment.world.emitter.logs.records(start_ns)
    return sum(any(word in text.lower() for word in LOUD) for _, _, text in records)
