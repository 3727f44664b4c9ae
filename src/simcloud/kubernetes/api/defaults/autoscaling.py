"""Defaults of autoscalers."""

from __future__ import annotations

from typing import Any

from simcloud.kubernetes.api.defaults.registry import defaults, fill, part
from simcloud.kubernetes.api.objects import Object, copy

_SCALE_UP: dict[str, Any] = {
    "stabilizationWindowSeconds": 0,
    "selectPolicy": "Max",
    "policies": [
        {"type": "Pods", "value": 4, "periodSeconds": 15},
        {"type": "Percent", "value": 100, "periodSeconds": 15},
    ],
}
_SCALE_DOWN: dict[str, Any] = {
    "selectPolicy": "Max",
    "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
}


def cpu_metric(percent: int = 80) -> Object:
    """The metric an autoscaler follows if it names none."""
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


@defaults("autoscaling", "HorizontalPodAutoscaler")
def default_autoscaler(autoscaler: Object) -> None:
    """At least one replica; version 1 knows no more than that."""
    spec = part(autoscaler, "spec")
    fill(spec, minReplicas=1)
    if autoscaler.get("apiVersion") == "autoscaling/v1":
        return
    if not spec.get("metrics"):
        spec["metrics"] = [cpu_metric()]
    behavior = spec.get("behavior")
    if behavior is not None:
        fill(part(behavior, "scaleUp"), **copy(_SCALE_UP))
        fill(part(behavior, "scaleDown"), **copy(_SCALE_DOWN))
