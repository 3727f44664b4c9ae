"""The system's severity: one number from 0 (healthy) to 1 (completely down), and its parts.

It is measured at each step of a session and must be cheap, so it uses the users' requests of the last 30 seconds and the
objects in the API, and runs no command; a ``HealthMonitor`` checks objects again only after they were written.

    users    = (share of bad requests among all + the worst journey's share) / 2
               where a slow request counts as half a failed one, and a journey's share is taken of at least 5 requests
    points   = nodes x 4 + workloads x 1 + Services x 1 + pods x 0.5, of those that are not healthy
    objects  = points / (points + 4)
    severity = 1 - (1 - users) x (1 - objects / 2)

The worst journey counts beside all requests, so that a rare journey that fails is not hidden by a frequent one that
works. Objects alone never raise severity above 0.5: unhealthy objects are less severe than what users notice.

A healthy system's severity may be slightly above 0: the objectives allow 1 % of requests to be slow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Final, NamedTuple

from aiopslab.generators.workload import OPEN, Outcome
from simcloud.kubernetes.api import Key, Object, RevisionLog, at, times
from simcloud.kubernetes.controllers import is_active, is_ready

if TYPE_CHECKING:
    from aiopslab.cloud import IncidentSite

WINDOW_S: Final = 30.0
"""Users' requests of this time count."""
SLOW: Final = 0.5
"""Weight of a slow request, relative to a failed one."""
MIN_REQUESTS: Final = 5
POINTS: Final = {"nodes": 4.0, "pods": 0.5}
"""Weights of unhealthy objects; all other kinds weigh 1."""
HALF: Final = 4.0
"""Points at which the objects' part reaches half of its maximum."""
NODES: Final = (("", "nodes"),)
PODS: Final = (("", "pods"),)
WORKLOADS: Final = (("apps", "deployments"), ("apps", "statefulsets"), ("apps", "daemonsets"))
SERVICES: Final = (("", "services"),)
SLICES: Final = (("discovery.k8s.io", "endpointslices"),)
ONGOING: Final = inf
"""The last time of a problem that persists."""
SERVICE_NAME: Final = "kubernetes.io/service-name"


@dataclass(frozen=True)
class Health:
    """Severity, the shares of users' recent requests that failed and that were slow, and the unhealthy objects."""

    severity: float
    failed: float
    slow: float
    unhealthy: tuple[str, ...]
    """For example ``deployments/search``; outside the application's namespace with a suffix, ``(kube-system)``."""


def health(environment: IncidentSite) -> Health:
    """Measure the system's health now."""
    return HealthMonitor(environment).measure()


class HealthMonitor:
    """Measures the health of one system repeatedly."""

    def __init__(self, environment: IncidentSite) -> None:
        self._environment = environment
        self._known: dict[Check, tuple[int, list[tuple[str, float]]]] = {}
        """The newest write to the objects of each check, and what it found then."""

    def measure(self) -> Health:
        """Measure the system's health now."""
        environment = self._environment
        failed, slow, worst = _measure_users(environment)
        now_s = environment.now + environment.world.epoch_s
        unhealthy = tuple(
            sorted(name for name, last_s in self._find_unhealthy() if now_s - last_s < WINDOW_S)
        )
        return Health(
            round(compute_severity((failed + SLOW * slow + worst) / 2, unhealthy), 6),
            round(failed, 6),
            round(slow, 6),
            unhealthy,
        )

    def _find_unhealthy(self) -> Iterator[tuple[str, float]]:
        """Yield unhealthy objects with the last time at which they were unhealthy."""
        log = self._environment.cluster.api.log
        for find, resources in CHECKS.items():
            newest = log.newest(resources)
            known = self._known.get(find)
            if known is None or known[0] != newest:
                known = self._known[find] = newest, list(find(self._environment))
            yield from known[1]


def compute_severity(users: float, unhealthy: tuple[str, ...]) -> float:
    """Combine the users' part and the objects' part into one number."""
    points = sum(POINTS.get(name.partition("/")[0], 1.0) for name in unhealthy)
    return 1 - (1 - min(users, 1.0)) * (1 - points / (points + HALF) / 2)


def is_failed(outcome: Outcome, now: float, timeout_s: float) -> bool:
    """Whether a request failed, or will fail because it has waited longer than the users' timeout."""
    return outcome.error is not None or (outcome.latency_s == OPEN and now - outcome.start > timeout_s)


def is_slow(outcome: Outcome, now: float, limit_s: float) -> bool:
    """Whether a request took, or has taken until now, longer than its journey's objective."""
    return (now - outcome.start if outcome.latency_s == OPEN else outcome.latency_s) > limit_s


def get_latency_limits_s(environment: IncidentSite) -> dict[str, float]:
    """Return the latency objective of each journey."""
    return {objective.journey: objective.p99_s for objective in environment.objectives}


class Tally(NamedTuple):
    """Users' requests by journey: all, the failed ones, and the slow ones that did not fail."""

    seen: Counter[str]
    failed: Counter[str]
    slow: Counter[str]


def tally_requests(environment: IncidentSite, start_s: float, end_s: float) -> Tally:
    """Count the requests that began in that span of simulated time, by outcome."""
    now, limits = environment.now, get_latency_limits_s(environment)
    tally = Tally(Counter(), Counter(), Counter())
    for outcome in environment.users.results.outcomes(start_s, end_s):
        tally.seen[outcome.journey] += 1
        if is_failed(outcome, now, environment.timeout_s):
            tally.failed[outcome.journey] += 1
        elif is_slow(outcome, now, limits.get(outcome.journey, environment.timeout_s)):
            tally.slow[outcome.journey] += 1
    return tally


def _measure_users(environment: IncidentSite) -> tuple[float, float, float]:
    """Return the shares of failed and of slow requests, and the worst journey's share of both."""
    seen, failed, slow = tally_requests(environment, environment.now - WINDOW_S, environment.now)
    total = seen.total()
    if not total:
        return 0.0, 0.0, 0.0
    worst = max((failed[name] + SLOW * slow[name]) / max(seen[name], MIN_REQUESTS) for name in seen)
    return failed.total() / total, slow.total() / total, worst


def _find_bad_nodes(environment: IncidentSite) -> Iterator[tuple[str, float]]:
    for node in environment.cluster.api.log.objects("", "nodes"):
        if not is_ready(node):
            yield f"nodes/{node['metadata']['name']}", ONGOING


def _find_bad_pods(environment: IncidentSite) -> Iterator[tuple[str, float]]:
    for pod in environment.cluster.api.log.objects("", "pods"):
        if is_active(pod):
            name = _format_name("pods", pod, environment.namespace)
            yield name, _get_last_crash_s(pod) if is_ready(pod) else ONGOING


def _find_incomplete_workloads(environment: IncidentSite) -> Iterator[tuple[str, float]]:
    for group, plural in WORKLOADS:
        for workload in environment.cluster.api.log.objects(group, plural):
            if _lacks_pods(workload):
                yield _format_name(plural, workload, environment.namespace), ONGOING


def _find_unserved_services(environment: IncidentSite) -> Iterator[tuple[str, float]]:
    """Yield Services without ready endpoints."""
    log = environment.cluster.api.log
    served = _find_served(log)
    for service in log.objects("", "services"):
        if _selects_pods(service) and _get_key(service) not in served:
            yield _format_name("services", service, environment.namespace), ONGOING


def _get_last_crash_s(pod: Object) -> float:
    """Return the last time a container ended that restarts repeatedly; minus infinity if none does."""
    last_s = -inf
    for status in pod["status"].get("containerStatuses") or ():
        ended = at(status, "lastState", "terminated", "finishedAt")
        if ended and status.get("restartCount", 0) > 1:
            last_s = max(last_s, times.parse(ended))
    return last_s


def _lacks_pods(workload: Object) -> bool:
    status = workload.get("status") or {}
    if "desiredNumberScheduled" in status:
        return bool(status.get("numberReady", 0) < status["desiredNumberScheduled"])
    return bool(status.get("readyReplicas", 0) < at(workload, "spec", "replicas", default=1))


def _find_served(log: RevisionLog) -> set[tuple[str, str]]:
    """Return the Services with ready endpoints, by namespace and name."""
    return {
        (slice_["metadata"]["namespace"], at(slice_, "metadata", "labels", SERVICE_NAME, default=""))
        for slice_ in log.objects("discovery.k8s.io", "endpointslices")
        if any(
            at(endpoint, "conditions", "ready", default=True) for endpoint in slice_.get("endpoints") or ()
        )
    }


def _selects_pods(service: Object) -> bool:
    return bool(service["spec"].get("selector")) and service["spec"].get("type") != "ExternalName"


def _find_gone(environment: IncidentSite) -> Iterator[tuple[str, float]]:
    """Yield workloads and Services of the baseline that were deleted or scaled to zero."""
    try:
        baseline = environment.baseline.objects
    except LookupError:
        return
    log = environment.cluster.api.log
    concerned = {*WORKLOADS, *SERVICES}
    for key, before in baseline.items():
        if key[:2] in concerned:
            now = log.get(key)
            if now is None or (_is_scaled_up(before, key) and not _is_scaled_up(now, key)):
                yield _format_name(key.plural, before, environment.namespace), ONGOING


def _is_scaled_up(obj: Object, key: Key) -> bool:
    return key.plural not in ("deployments", "statefulsets") or bool(at(obj, "spec", "replicas", default=1))


def _get_key(obj: Object) -> tuple[str, str]:
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def _format_name(plural: str, obj: Object, own: str) -> str:
    namespace, name = _get_key(obj)
    return f"{plural}/{name}" if namespace in ("", own) else f"{plural}/{name} ({namespace})"


Check = Callable[["IncidentSite"], Iterator[tuple[str, float]]]
CHECKS: Final[dict[Check, tuple[tuple[str, str], ...]]] = {
    _find_bad_nodes: NODES,
    _find_bad_pods: PODS,
    _find_incomplete_workloads: WORKLOADS,
    _find_unserved_services: SERVICES + SLICES,
    _find_gone: WORKLOADS + SERVICES,
}
"""What finds unhealthy objects, and the resources that it depends on."""
