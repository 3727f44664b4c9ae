"""The number of replicas that a metric requires, from the usage and the requests of pods.

Pods that are starting or not ready are ignored where they would distort the result. Pods without metrics are counted
conservatively: as idle when scaling up, as busy when scaling down.
"""

from __future__ import annotations

import re
from math import ceil
from typing import Final

from msgspec import Struct, field

from simcloud.kubernetes.api.aggregation import Provider
from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.computed import METRICS
from simcloud.kubernetes.api.errors import ServiceUnavailable
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.quantity import milli
from simcloud.kubernetes.api.times import parse

TOLERANCE: Final = 0.1
INITIALIZATION_S: Final = 300.0
FIRST_READINESS_S: Final = 30.0
FRESH_S: Final = 1.0
"""So old a reading may be; metrics servers measure every 15 s."""

_SPAN: Final = re.compile(r"([0-9.]+)(h|ms|m|s)")
_UNITS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


class NoReading(Exception):
    """The metric cannot be read, in the genuine controller's words."""


class Tolerance(Struct, frozen=True):
    """How far from its target a metric may be before anything is done."""

    down: float = TOLERANCE
    up: float = TOLERANCE

    def covers(self, ratio: float) -> bool:
        """Whether a ratio of use to target is near enough to 1."""
        return 1.0 - self.down <= ratio <= 1.0 + self.up


class Wanted(Struct, frozen=True):
    """A reading, and how many replicas it asks for."""

    replicas: int
    average_milli: int
    utilization: int | None = None


class _Readings(Struct):
    """What pods use, in thousandths, and when and over which window it was measured."""

    used: dict[str, int] = field(default_factory=dict)
    times: dict[str, tuple[float, float]] = field(default_factory=dict)


class _Groups(Struct):
    """Pods by how far their readings can be trusted."""

    ready: int = 0
    unready: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)


class Calculator:
    """Reads resource metrics of pods of one namespace and turns them into numbers of replicas."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._served: dict[str, tuple[float, dict[str, Object]]] = {}

    def by_utilization(
        self,
        pods: list[Object],
        resource: str,
        container: str,
        target: int,
        current: int,
        tolerance: Tolerance,
    ) -> Wanted:
        """Replicas such that pods use a percentage of what they request."""
        readings, groups = self._read(pods, resource, container)
        requests = {pod["metadata"]["name"]: _request(pod, resource, container) for pod in pods}
        used = _select_readings(readings, groups)
        ratio, utilization, average = _utilization(used, requests, target)
        rebalances = bool(groups.unready) and ratio > 1.0
        if not rebalances and not groups.missing:
            wanted = current if tolerance.covers(ratio) else ceil(ratio * groups.ready)
            return Wanted(wanted, average, utilization)
        if ratio < 1.0:
            busy = max(100, target)
            used |= {name: requests[name] * busy // 100 for name in groups.missing}
        elif ratio > 1.0:
            used |= dict.fromkeys(groups.missing, 0)
        if rebalances:
            used |= dict.fromkeys(groups.unready, 0)
        again, _, _ = _utilization(used, requests, target)
        return Wanted(_careful(ratio, again, len(used), current, tolerance), average, utilization)

    def by_average(
        self,
        pods: list[Object],
        resource: str,
        container: str,
        target: int,
        current: int,
        tolerance: Tolerance,
    ) -> Wanted:
        """Replicas such that pods use an amount each, in thousandths."""
        readings, groups = self._read(pods, resource, container)
        used = _select_readings(readings, groups)
        average = sum(used.values()) // len(used)
        ratio = average / target
        rebalances = bool(groups.unready) and ratio > 1.0
        if not rebalances and not groups.missing:
            wanted = current if tolerance.covers(ratio) else ceil(ratio * groups.ready)
            return Wanted(wanted, average)
        used |= dict.fromkeys(groups.missing, target if ratio < 1.0 else 0)
        if rebalances:
            used |= dict.fromkeys(groups.unready, 0)
        again = sum(used.values()) // len(used) / target
        return Wanted(_careful(ratio, again, len(used), current, tolerance), average)

    def _read(self, pods: list[Object], resource: str, container: str) -> tuple[_Readings, _Groups]:
        provider = self._api.providers.get((METRICS, "pods"))
        prefix = f"unable to get metrics for resource {resource}: "
        if provider is None:
            raise NoReading(
                f"{prefix}unable to fetch metrics from resource metrics API: the server could not find the "
                "requested resource (get pods.metrics.k8s.io)"
            )
        try:
            served = self._metrics(provider, pods[0]["metadata"]["namespace"]) if pods else {}
        except ServiceUnavailable as error:
            message = f"{prefix}unable to fetch metrics from resource metrics API: {error.message}"
            raise NoReading(message) from None
        found = [served[name] for pod in pods if (name := pod["metadata"]["name"]) in served]
        if not found:
            raise NoReading(f"{prefix}no metrics returned from resource metrics API")
        readings = _Readings()
        for metrics in found:
            _note(readings, metrics, resource, container)
        return readings, _group(pods, readings, resource, self._api.now_s)

    def _metrics(self, provider: Provider, namespace: str) -> dict[str, Object]:
        """The metrics of a namespace by pod, asked for once however many autoscalers look in one round."""
        asked_s, found = self._served.get(namespace, (0.0, {}))
        if not found or self._api.now_s - asked_s > FRESH_S:
            found = {metrics["metadata"]["name"]: metrics for metrics in provider(namespace)}
            self._served[namespace] = (self._api.now_s, found)
        return found


def _note(readings: _Readings, metrics: Object, resource: str, container: str) -> None:
    """Take a pod's reading; one with a gap is none."""
    used = 0
    containers = [entry for entry in metrics.get("containers") or () if container in ("", entry["name"])]
    for entry in containers:
        amount = at(entry, "usage", resource)
        if amount is None:
            return
        used += milli(amount)
    if not containers:
        return
    name = metrics["metadata"]["name"]
    readings.used[name] = used
    readings.times[name] = (parse(metrics["timestamp"]), _seconds(metrics.get("window", "0s")))


def _seconds(window: str) -> float:
    """The seconds of ``1m30.5s``."""
    return sum(float(number) * _UNITS[unit] for number, unit in _SPAN.findall(window))


def _group(pods: list[Object], readings: _Readings, resource: str, now_s: float) -> _Groups:
    groups = _Groups()
    for pod in pods:
        name, phase = pod["metadata"]["name"], at(pod, "status", "phase")
        if "deletionTimestamp" in pod["metadata"] or phase == "Failed":
            groups.ignored.append(name)
        elif phase == "Pending":
            groups.unready.append(name)
        elif name not in readings.used:
            groups.missing.append(name)
        elif resource == "cpu" and _starting(pod, *readings.times[name], now_s):
            groups.unready.append(name)
        else:
            groups.ready += 1
    return groups


def _starting(pod: Object, measured_s: float, window_s: float, now_s: float) -> bool:
    """Whether a pod's use of CPU says more about its start than about its work."""
    conditions = at(pod, "status", "conditions", default=None) or ()
    ready = next((condition for condition in conditions if condition["type"] == "Ready"), None)
    began = at(pod, "status", "startTime")
    if ready is None or began is None:
        return True
    changed_s = parse(ready["lastTransitionTime"])
    if parse(began) + INITIALIZATION_S > now_s:
        return bool(ready["status"] == "False" or measured_s < changed_s + window_s)
    return bool(ready["status"] == "False" and parse(began) + FIRST_READINESS_S > changed_s)


def _select_readings(readings: _Readings, groups: _Groups) -> dict[str, int]:
    left_out = {*groups.unready, *groups.ignored}
    used = {name: amount for name, amount in readings.used.items() if name not in left_out}
    if not used:
        raise NoReading("did not receive metrics for targeted pods (pods might be unready)")
    return used


def _request(pod: Object, resource: str, container: str) -> int:
    name = pod["metadata"]["name"]
    whole = at(pod, "spec", "resources", "requests", resource)
    if whole is not None and not container:
        return milli(whole)
    sidecars = [
        candidate
        for candidate in pod["spec"].get("initContainers") or ()
        if candidate.get("restartPolicy") == "Always"
    ]
    total = 0
    for candidate in [*pod["spec"]["containers"], *sidecars]:
        if container not in ("", candidate["name"]):
            continue
        request = at(candidate, "resources", "requests", resource)
        if request is None:
            raise NoReading(f"missing request for {resource} in container {candidate['name']} of Pod {name}")
        total += milli(request)
    return total


def _utilization(used: dict[str, int], requests: dict[str, int], target: int) -> tuple[float, int, int]:
    known = [name for name in used if name in requests]
    total, requested = sum(used[name] for name in known), sum(requests[name] for name in known)
    if requested == 0:
        raise NoReading("no metrics returned matched known pods")
    utilization = total * 100 // requested
    return utilization / target, utilization, total // len(known)


def _careful(ratio: float, again: float, count: int, current: int, tolerance: Tolerance) -> int:
    """What a second look asks for, unless it is too little or in the other direction."""
    if tolerance.covers(again) or (ratio < 1.0 < again) or (again < 1.0 < ratio):
        return current
    wanted = ceil(again * count)
    if (again < 1.0 and wanted > current) or (again > 1.0 and wanted < current):
        return current
    return wanted
