"""Scaling behavior: stabilization windows, policies, and the limits of the spec."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Final

from msgspec import Struct, field

from simcloud.kubernetes.api.objects import Object

DOWN_WINDOW_S: Final = 300.0
"""How long a smaller wish must last, unless the autoscaler says otherwise."""

_LOWER: Final = (
    "recent recommendations were lower than current one, applying the lowest recent recommendation"
)
_HIGHER: Final = (
    "recent recommendations were higher than current one, applying the highest recent recommendation"
)
READY: Final = ("ReadyForNewScale", "recommended size matches current size")
_WITHIN: Final = ("DesiredWithinRange", "the desired count is within the acceptable range")
_TOO_MANY: Final = ("TooManyReplicas", "the desired replica count is more than the maximum replica count")
_TOO_FEW: Final = ("TooFewReplicas", "the desired replica count is less than the minimum replica count")
_UP_LIMIT: Final = (
    "ScaleUpLimit",
    "the desired replica count is increasing faster than the maximum scale rate",
)
_DOWN_LIMIT: Final = (
    "ScaleDownLimit",
    "the desired replica count is decreasing faster than the maximum scale rate",
)


class History(Struct):
    """What was recommended and done for one autoscaler, each with its time."""

    recommended: list[tuple[float, int]] = field(default_factory=list)
    ups: list[tuple[float, int]] = field(default_factory=list)
    downs: list[tuple[float, int]] = field(default_factory=list)

    def record_scaling(self, now_s: float, before: int, after: int, spec: Object) -> None:
        """Remember a change for as long as a policy may ask for it."""
        behavior = spec.get("behavior")
        if behavior is None:
            return
        events = self.ups if after > before else self.downs
        rules = behavior["scaleUp" if after > before else "scaleDown"]
        longest_s = max((policy["periodSeconds"] for policy in rules.get("policies") or ()), default=0)
        events[:] = [event for event in events if event[0] >= now_s - longest_s]
        events.append((now_s, abs(after - before)))


class Normalized(Struct, frozen=True):
    """How many replicas there shall be, and what to say of it: about ability and about limits."""

    replicas: int
    able: tuple[str, str]
    limited: bool
    limit: tuple[str, str]


def normalize(spec: Object, history: History, current: int, desired: int, now_s: float) -> Normalized:
    """Bring what the metrics ask for within what the autoscaler allows just now."""
    behavior = spec.get("behavior")
    if behavior is None:
        stable, able = _stable_by_default(history, desired, now_s)
        bounded, limit = _limit_by_default(spec, current, stable)
    else:
        stable, able = _stable(behavior, history, current, desired, now_s)
        bounded, limit = _limit(spec, behavior, history, current, stable, now_s)
    return Normalized(bounded, able, bounded != stable, limit)


def _stable_by_default(history: History, desired: int, now_s: float) -> tuple[int, tuple[str, str]]:
    history.recommended[:] = [
        recommendation for recommendation in history.recommended if recommendation[0] >= now_s - DOWN_WINDOW_S
    ]
    highest = max((count for _, count in history.recommended), default=desired)
    history.recommended.append((now_s, desired))
    if highest > desired:
        return highest, ("ScaleDownStabilized", _HIGHER)
    return desired, READY


def _stable(
    behavior: Object, history: History, current: int, desired: int, now_s: float
) -> tuple[int, tuple[str, str]]:
    up_s = behavior["scaleUp"].get("stabilizationWindowSeconds") or 0
    down_s = behavior["scaleDown"].get("stabilizationWindowSeconds")
    down_s = DOWN_WINDOW_S if down_s is None else down_s
    least = min([desired, *(count for at_s, count in history.recommended if at_s > now_s - up_s)])
    most = max([desired, *(count for at_s, count in history.recommended if at_s > now_s - down_s)])
    keep_s = max(up_s, down_s)
    history.recommended[:] = [
        recommendation for recommendation in history.recommended if recommendation[0] >= now_s - keep_s
    ]
    history.recommended.append((now_s, desired))
    stable = min(max(current, least), most)
    if stable == desired:
        return stable, READY
    return stable, ("ScaleUpStabilized", _LOWER) if desired >= current else ("ScaleDownStabilized", _HIGHER)


def _limit_by_default(spec: Object, current: int, desired: int) -> tuple[int, tuple[str, str]]:
    fastest = max(2 * current, 4)
    most, reason = (fastest, _UP_LIMIT) if spec["maxReplicas"] > fastest else (spec["maxReplicas"], _TOO_MANY)
    least = spec.get("minReplicas", 1)
    if desired < least:
        return least, _TOO_FEW
    if desired > most:
        return most, reason
    return desired, _WITHIN


def _limit(
    spec: Object, behavior: Object, history: History, current: int, desired: int, now_s: float
) -> tuple[int, tuple[str, str]]:
    if desired > current:
        fastest = max(current, _up_limit(behavior["scaleUp"], history, current, now_s))
        most, reason = (
            (fastest, _UP_LIMIT) if spec["maxReplicas"] > fastest else (spec["maxReplicas"], _TOO_MANY)
        )
        if desired > most:
            return most, reason
    elif desired < current:
        slowest = min(current, _down_limit(behavior["scaleDown"], history, current, now_s))
        least = spec.get("minReplicas", 1)
        least, reason = (slowest, _DOWN_LIMIT) if least < slowest else (least, _TOO_FEW)
        if desired < least:
            return least, reason
    return desired, _WITHIN


def _up_limit(rules: Object, history: History, current: int, now_s: float) -> int:
    if rules.get("selectPolicy") == "Disabled":
        return current
    limits = []
    for policy in rules.get("policies") or ():
        start = _at_start(history, current, policy["periodSeconds"], now_s)
        value = policy["value"]
        limits.append(start + value if policy["type"] == "Pods" else ceil(start * (100 + value) / 100))
    choose: Callable[[list[int]], int] = min if rules.get("selectPolicy") == "Min" else max
    return choose(limits)


def _down_limit(rules: Object, history: History, current: int, now_s: float) -> int:
    if rules.get("selectPolicy") == "Disabled":
        return current
    limits = []
    for policy in rules.get("policies") or ():
        start = _at_start(history, current, policy["periodSeconds"], now_s)
        value = policy["value"]
        limits.append(start - value if policy["type"] == "Pods" else start * (100 - value) // 100)
    choose: Callable[[list[int]], int] = max if rules.get("selectPolicy") == "Min" else min
    return choose(limits)


def _at_start(history: History, current: int, period_s: int, now_s: float) -> int:
    """How many replicas there were when a policy's period began."""
    since_s = now_s - period_s
    added = sum(count for at_s, count in history.ups if at_s > since_s)
    removed = sum(count for at_s, count in history.downs if at_s > since_s)
    return current - added + removed
