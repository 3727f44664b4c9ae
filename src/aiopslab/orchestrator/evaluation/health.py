"""How bad is it at this moment? One number from 0 (all is well) to 1 (nothing works), and what it is made of.

It is asked at each step of a session and must cost next to nothing, so it looks at the users' last half minute and at
what the API holds now, and runs no command; and a ``Watch`` does not look again at what nobody has written since.

    users    = (share of bad requests among all + the worst journey's share) / 2
               where a slow request counts as half a failed one, and a journey's share is taken of at least 5 requests
    points   = nodes x 4 + workloads x 1 + Services x 1 + pods x 0.5, of those that are not healthy
    objects  = points / (points + 4)
    severity = 1 - (1 - users) x (1 - objects / 2)

The worst journey counts beside all requests, so that a rare journey that is dead cannot hide behind a frequent one
that works. Objects alone never make it more than a half: what nobody notices is less bad than what users feel.

What is not promised: that a healthy system has a severity of exactly 0. One request in a hundred may be slow by the
objectives' own words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Final, NamedTuple

from aiopslab.generators.workload.outcomes import OPEN, Outcome
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.store import Key, RevisionLog
from simcloud.kubernetes.api.times import parse
from simcloud.kubernetes.controllers.pods import is_active, is_ready

if TYPE_CHECKING:
    from aiopslab.cloud.environment import Environment

WINDOW_S: Final = 30.0
"""So far back users are asked how they fare."""
SLOW: Final = 0.5
"""What a slow request is worth, compared with a failed one."""
LEAST_REQUESTS: Final = 5
POINTS: Final = {"nodes": 4.0, "pods": 0.5}
"""What an unhealthy object weighs; all others weigh 1."""
HALF: Final = 4.0
"""So many points make objects half as bad as they can be."""
WORKLOADS: Final = ("deployments", "statefulsets", "daemonsets")
LOOKED_AT: Final = (
    ("", "nodes"), ("", "pods"), ("", "services"), ("discovery.k8s.io", "endpointslices"),
    *(("apps", plural) for plural in WORKLOADS),
)  # fmt: skip
STILL: Final = inf
"""When something was last seen that goes on."""
SERVICE_NAME: Final = "kubernetes.io/service-name"


@dataclass(frozen=True)
class Health:
    """How bad it is, the shares of users' requests of late that failed and that were slow, and what is not well."""

    severity: float
    failed: float
    slow: float
    unhealthy: tuple[str, ...]
    """As in ``deployments/search``; what lies outside the application's namespace says so: ``(kube-system)``."""


def health(environment: Environment) -> Health:
    """How bad it is now."""
    return Watch(environment).now()


class Watch:
    """For whoever asks about one system again and again."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._newest = -1
        self._unhealthy: list[tuple[str, float]] = []

    def now(self) -> Health:
        """How bad it is now."""
        environment = self._environment
        failed, slow, worst = _users(environment)
        if (newest := environment.cluster.api.log.newest(LOOKED_AT)) != self._newest:
            self._newest, self._unhealthy = newest, list(_unhealthy(environment))
        now_s = environment.now + environment.world.epoch_s
        unhealthy = tuple(sorted(called for called, last_s in self._unhealthy if now_s - last_s < WINDOW_S))
        return Health(
            round(severity((failed + SLOW * slow + worst) / 2, unhealthy), 6),
            round(failed, 6),
            round(slow, 6),
            unhealthy,
        )


def severity(users: float, unhealthy: tuple[str, ...]) -> float:
    """Both parts as one number."""
    points = sum(POINTS.get(one.partition("/")[0], 1.0) for one in unhealthy)
    return 1 - (1 - min(users, 1.0)) * (1 - points / (points + HALF) / 2)


def is_failed(outcome: Outcome, now: float, timeout_s: float) -> bool:
    """Whether a request failed, or will: nothing that has waited longer than users do gets an answer any more."""
    return outcome.error is not None or (outcome.latency_s == OPEN and now - outcome.start > timeout_s)


def is_slow(outcome: Outcome, now: float, limit_s: float) -> bool:
    """Whether a request took, or has taken until now, longer than its journey's users were promised."""
    return (now - outcome.start if outcome.latency_s == OPEN else outcome.latency_s) > limit_s


def limits_s(environment: Environment) -> dict[str, float]:
    """What users of each journey were promised."""
    return {objective.journey: objective.p99_s for objective in environment.app.objectives}


class Tally(NamedTuple):
    """Users' requests by journey: all, those that failed, and of the others the slow ones."""

    seen: Counter[str]
    failed: Counter[str]
    slow: Counter[str]


def tally(environment: Environment, start_s: float, end_s: float) -> Tally:
    """How the requests fared that began in that span of virtual time."""
    now, limits = environment.now, limits_s(environment)
    counted = Tally(Counter(), Counter(), Counter())
    for outcome in environment.users.results.outcomes(start_s, end_s):
        counted.seen[outcome.journey] += 1
        if is_failed(outcome, now, environment.timeout_s):
            counted.failed[outcome.journey] += 1
        elif is_slow(outcome, now, limits.get(outcome.journey, environment.timeout_s)):
            counted.slow[outcome.journey] += 1
    return counted


def _users(environment: Environment) -> tuple[float, float, float]:
    """The shares of failed and of slow requests, and the worst journey's share of bad ones."""
    seen, failed, slow = tally(environment, environment.now - WINDOW_S, environment.now)
    total = seen.total()
    if not total:
        return 0.0, 0.0, 0.0
    worst = max((failed[name] + SLOW * slow[name]) / max(seen[name], LEAST_REQUESTS) for name in seen)
    return failed.total() / total, slow.total() / total, worst


def _unhealthy(environment: Environment) -> Iterator[tuple[str, float]]:
    """What is not well as far as objects tell, and when that was last so."""
    own = environment.namespace
    for pod in environment.cluster.api.log.objects("", "pods"):
        if is_active(pod):
            yield _called("pods", pod, own), _last_crash_s(pod) if is_ready(pod) else STILL
    yield from ((called, STILL) for called in _failing(environment))
    yield from ((called, STILL) for called in _gone(environment))


def _failing(environment: Environment) -> Iterator[str]:
    """Nodes that are not ready, workloads that lack pods, Services that nobody answers for."""
    log, own = environment.cluster.api.log, environment.namespace
    yield from (
        f"nodes/{node['metadata']['name']}" for node in log.objects("", "nodes") if not is_ready(node)
    )
    for plural in WORKLOADS:
        for workload in log.objects("apps", plural):
            if _lacking(workload):
                yield _called(plural, workload, own)
    served = _served(log)
    for service in log.objects("", "services"):
        if _is_for_pods(service) and _place(service) not in served:
            yield _called("services", service, own)


def _last_crash_s(pod: Object) -> float:
    """When one of its containers last ended that has ended again and again; long ago, if none has."""
    last_s = -inf
    for status in pod["status"].get("containerStatuses") or ():
        ended = at(status, "lastState", "terminated", "finishedAt")
        if ended and status.get("restartCount", 0) > 1:
            last_s = max(last_s, parse(ended))
    return last_s


def _lacking(workload: Object) -> bool:
    status = workload.get("status") or {}
    if "desiredNumberScheduled" in status:
        return bool(status.get("numberReady", 0) < status["desiredNumberScheduled"])
    return bool(status.get("readyReplicas", 0) < at(workload, "spec", "replicas", default=1))


def _served(log: RevisionLog) -> set[tuple[str, str]]:
    """The Services that somebody answers for."""
    return {
        (slice_["metadata"]["namespace"], at(slice_, "metadata", "labels", SERVICE_NAME, default=""))
        for slice_ in log.objects("discovery.k8s.io", "endpointslices")
        if any(at(one, "conditions", "ready", default=True) for one in slice_.get("endpoints") or ())
    }


def _is_for_pods(service: Object) -> bool:
    return bool(service["spec"].get("selector")) and service["spec"].get("type") != "ExternalName"


def _gone(environment: Environment) -> Iterator[str]:
    """What ran or was served when all was well, and is not there any more or is not wanted any more."""
    try:
        before_all = environment.baseline.objects
    except LookupError:
        return
    log, own = environment.cluster.api.log, environment.namespace
    for key, before in before_all.items():
        if key.plural in WORKLOADS or key.plural == "services":
            now = log.get(key)
            if now is None or (_wanted(before, key) and not _wanted(now, key)):
                yield _called(key.plural, before, own)


def _wanted(obj: Object, key: Key) -> bool:
    return key.plural not in ("deployments", "statefulsets") or bool(at(obj, "spec", "replicas", default=1))


def _place(obj: Object) -> tuple[str, str]:
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def _called(plural: str, obj: Object, own: str) -> str:
    namespace, name = _place(obj)
    return f"{plural}/{name}" if namespace in ("", own) else f"{plural}/{name} ({namespace})"
