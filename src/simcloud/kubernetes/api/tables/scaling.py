"""Tables of autoscalers, disruption budgets and Scale objects."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.tables.cells import Cells, age, amount, count, items, name, part, shorten, text
from simcloud.kubernetes.api.tables.registry import AGE, NAME, Column, integer, table

_SPEC = "autoscaling.v2.HorizontalPodAutoscalerSpec"
_UNKNOWN = "<unknown>"
_SOURCES = {
    "External": "external",
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}


@table(
    "autoscaling",
    "HorizontalPodAutoscaler",
    NAME,
    Column("Reference", of=f"{_SPEC}.scaleTargetRef"),
    Column("Targets", of=f"{_SPEC}.metrics"),
    Column("MinPods", of=f"{_SPEC}.minReplicas"),
    Column("MaxPods", of=f"{_SPEC}.maxReplicas"),
    Column("Replicas", of="autoscaling.v2.HorizontalPodAutoscalerStatus.currentReplicas"),
    AGE,
)
def horizontal_pod_autoscaler(obj: Object, now_s: float) -> Cells:
    """An autoscaler's row."""
    spec, status = part(obj, "spec"), part(obj, "status")
    target = part(spec, "scaleTargetRef")
    least = spec.get("minReplicas")
    return [
        name(obj),
        f"{text(target, 'kind')}/{text(target, 'name')}",
        _targets(*_metrics(spec, status)),
        "<unset>" if least is None else str(least),
        count(spec, "maxReplicas"),
        count(status, "currentReplicas"),
        age(obj, now_s),
    ]


def _metrics(spec: Object, status: Object) -> tuple[list[Object], list[Object]]:
    """The metrics wanted and found, whether the object is in the form of version 1 or 2."""
    wanted = spec.get("targetCPUUtilizationPercentage")
    if wanted is None:
        return items(spec, "metrics"), items(status, "currentMetrics")
    found = status.get("currentCPUUtilizationPercentage")
    asked = {"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": wanted}}}
    current = {"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": found}}}
    return [asked], [current]


def _targets(wanted: list[Object], found: list[Object]) -> str:
    if not wanted:
        return "<none>"
    targets = [
        _target(metric, found[index] if index < len(found) else {}) for index, metric in enumerate(wanted)
    ]
    return shorten(targets, 2, ", ")


def _target(metric: Object, status: Object) -> str:
    kind = text(metric, "type")
    if kind not in _SOURCES:
        return "<unknown type>"
    source = part(metric, _SOURCES[kind])
    known = isinstance(status.get(_SOURCES[kind]), dict)
    target, current = part(source, "target"), part(status, _SOURCES[kind], "current")
    average = target.get("averageValue")
    if kind in ("Resource", "ContainerResource"):
        if average is not None:
            shown = _quantity(current.get("averageValue")) if known else _UNKNOWN
            return f"{text(source, 'name')}: {shown}/{amount(average)}"
        used = _percent(current.get("averageUtilization"), _UNKNOWN)
        return f"{text(source, 'name')}: {used}/{_percent(target.get('averageUtilization'), '<auto>')}"
    if kind == "Pods":
        shown = _quantity(current.get("averageValue")) if known else _UNKNOWN
        return f"{shown}/{_quantity(average)}"
    if average is not None:
        value = current.get("averageValue")
        return f"{_UNKNOWN if value is None else amount(value)}/{amount(average)} (avg)"
    return f"{_quantity(current.get('value')) if known else _UNKNOWN}/{_quantity(target.get('value'))}"


def _quantity(value: str | None) -> str:
    """A quantity that may be missing, which Go prints as a missing pointer."""
    return "<nil>" if value is None else amount(value)


def _percent(value: int | None, missing: str) -> str:
    return missing if value is None else f"{value}%"


@table(
    "autoscaling",
    "Scale",
    Column("Name", of=NAME.of),
    integer("Desired", of="autoscaling.v1.ScaleSpec.replicas"),
    integer("Available", of="autoscaling.v1.ScaleStatus.replicas"),
    AGE,
)
def scale(obj: Object, now_s: float) -> Cells:
    """A scale's row."""
    wanted, found = count(part(obj, "spec"), "replicas"), count(part(obj, "status"), "replicas")
    return [name(obj), wanted, found, age(obj, now_s)]


@table(
    "policy",
    "PodDisruptionBudget",
    NAME,
    Column("Min Available", "The minimum number of pods that must be available."),
    Column("Max Unavailable", "The maximum number of pods that may be unavailable."),
    integer("Allowed Disruptions", "Calculated number of pods that may be disrupted at this time."),
    AGE,
)
def pod_disruption_budget(obj: Object, now_s: float) -> Cells:
    """A disruption budget's row."""
    spec = part(obj, "spec")
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    return [
        name(obj),
        "N/A" if least is None else str(least),
        "N/A" if most is None else str(most),
        count(part(obj, "status"), "disruptionsAllowed"),
        age(obj, now_s),
    ]
