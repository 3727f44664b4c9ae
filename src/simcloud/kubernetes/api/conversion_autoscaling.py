"""Conversion of HorizontalPodAutoscalers between version 1, which has one metric, and version 2, which has many.

Version 1 keeps what it has no fields for in annotations: metrics and conditions in the format of the older alpha
versions, behaviour with the names of the server's internal Go fields.
"""

from __future__ import annotations

from typing import Any

import msgspec

from simcloud.kubernetes.api import quantity
from simcloud.kubernetes.api.defaults.autoscaling import cpu_metric
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.schema import Schema, schema_of

_PREFIX = "autoscaling.alpha.kubernetes.io/"
_METRICS = _PREFIX + "metrics"
_CURRENT_METRICS = _PREFIX + "current-metrics"
_CONDITIONS = _PREFIX + "conditions"
_BEHAVIOR = _PREFIX + "behavior"

_COMMON_STATUS = ("observedGeneration", "lastScaleTime", "currentReplicas", "desiredReplicas")
_RULES = ("stabilizationWindowSeconds", "selectPolicy", "policies", "tolerance")
_POLICY = ("type", "value", "periodSeconds")

_CONDITION = ("type", "status", "lastTransitionTime", "reason", "message")
_REFERENCE = ("kind", "name", "apiVersion")
_ALWAYS_PRINTED = (
    ("object", "targetValue"),
    ("object", "currentValue"),
    ("pods", "targetAverageValue"),
    ("pods", "currentAverageValue"),
    ("resource", "currentAverageValue"),
    ("containerResource", "currentAverageValue"),
)

_Paths = dict[str, tuple[str, ...]]
_SOURCES: dict[str, _Paths] = {
    # For each kind of metric: a field of the old form, and where it stands in the new one.
    "object": {
        "target": ("describedObject",),
        "metricName": ("metric", "name"),
        "targetValue": ("target", "value"),
        "selector": ("metric", "selector"),
        "averageValue": ("target", "averageValue"),
    },
    "pods": {
        "metricName": ("metric", "name"),
        "targetAverageValue": ("target", "averageValue"),
        "selector": ("metric", "selector"),
    },
    "resource": {
        "name": ("name",),
        "targetAverageUtilization": ("target", "averageUtilization"),
        "targetAverageValue": ("target", "averageValue"),
    },
    "containerResource": {
        "name": ("name",),
        "targetAverageUtilization": ("target", "averageUtilization"),
        "targetAverageValue": ("target", "averageValue"),
        "container": ("container",),
    },
    "external": {
        "metricName": ("metric", "name"),
        "metricSelector": ("metric", "selector"),
        "targetValue": ("target", "value"),
        "targetAverageValue": ("target", "averageValue"),
    },
}


def to_v1(autoscaler: Object) -> Object:
    """From version 2, with what does not fit in annotations."""
    spec, status = autoscaler.get("spec", {}), autoscaler.get("status", {})
    metrics = spec.get("metrics") or []
    kept = ("scaleTargetRef", "minReplicas", "maxReplicas")
    converted: Object = copy(autoscaler)
    converted["spec"] = copy({field: spec[field] for field in kept if field in spec})
    converted["status"] = _status_to_v1(status)
    cpu: Object = next((metric for metric in metrics if _is_cpu(metric)), {})
    percent = _percent(cpu, "target")
    if percent is not None:
        converted["spec"]["targetCPUUtilizationPercentage"] = percent
    _annotate(
        converted,
        {
            _METRICS: [
                _old_metric(metric, "target") for metric in metrics if _percent(metric, "target") is None
            ],
            _CURRENT_METRICS: [
                _old_metric(metric, "current") for metric in status.get("currentMetrics") or ()
            ],
            _CONDITIONS: [_order(condition, _CONDITION) for condition in status.get("conditions") or ()],
            _BEHAVIOR: _old_behavior(spec["behavior"]) if "behavior" in spec else {},
        },
    )
    return converted


def to_v2(autoscaler: Object) -> Object:
    """From version 1, with what its annotations say. An annotation that cannot be read says nothing."""
    converted: Object = copy(autoscaler)
    said = _take_annotations(converted)
    spec, status = converted.setdefault("spec", {}), converted.setdefault("status", {})
    metrics = (
        _convert_to_type(
            "spec", "metrics", [_new_metric(metric, "target") for metric in _objects(said[_METRICS])]
        )
        or []
    )
    percent = spec.pop("targetCPUUtilizationPercentage", None)
    if percent is not None:
        metrics.insert(0, cpu_metric(percent))
    spec["metrics"] = metrics or [cpu_metric()]
    behavior = _convert_to_type("spec", "behavior", _new_behavior(said[_BEHAVIOR]))
    if behavior:
        spec["behavior"] = behavior
    _status_to_v2(status, said)
    return converted


def _status_to_v2(status: Object, said: dict[str, Any]) -> None:
    percent = status.pop("currentCPUUtilizationPercentage", None)
    measured = [_new_metric(metric, "current") for metric in _objects(said[_CURRENT_METRICS])]
    if percent is not None and not measured:
        current = {"averageUtilization": percent}
        measured = [{"type": "Resource", "resource": {"name": "cpu", "current": current}}]
    status["currentMetrics"] = _convert_to_type("status", "currentMetrics", measured) or None
    conditions = _convert_to_type("status", "conditions", _objects(said[_CONDITIONS]))
    if conditions:
        status["conditions"] = conditions
    if status.get("currentReplicas") == 0:
        del status["currentReplicas"]


def _status_to_v1(status: Object) -> Object:
    converted: Object = {"currentReplicas": 0, "desiredReplicas": 0}
    converted.update(copy({field: status[field] for field in _COMMON_STATUS if field in status}))
    for metric in status.get("currentMetrics") or ():
        percent = _percent(metric, "current")
        if percent is not None:
            converted["currentCPUUtilizationPercentage"] = percent
    return converted


def _is_cpu(metric: Object) -> bool:
    return metric.get("type") == "Resource" and metric.get("resource", {}).get("name") == "cpu"


def _percent(metric: Object, side: str) -> int | None:
    """The use of CPU that a metric is about: the only thing version 1 has a field for."""
    if not _is_cpu(metric):
        return None
    percent: int | None = metric["resource"].get(side, {}).get("averageUtilization")
    return percent


def _old_metric(metric: Object, side: str) -> Object:
    """A metric in the older words: ``targetValue`` for ``target.value``; ``side`` is target or current."""
    old: Object = {"type": metric.get("type", "")}
    for kind, paths in _SOURCES.items():
        if kind in metric:
            found = [(field, _at(metric[kind], path)) for field, path in _rename_side(paths, side).items()]
            old[kind] = {
                field: "0" if value is None else value
                for field, value in found
                if value is not None or (kind, field) in _ALWAYS_PRINTED
            }
            if kind == "object":
                old[kind]["target"] = _order(old[kind].get("target", {}), _REFERENCE)
    return old


def _new_metric(old: Object, side: str) -> Object:
    metric: Object = {"type": old.get("type", "")}
    for kind, paths in _SOURCES.items():
        if isinstance(old.get(kind), dict):
            metric[kind] = {}
            for field, path in _rename_side(paths, side).items():
                if old[kind].get(field) is not None:
                    _set(metric[kind], path, old[kind][field])
            if side == "target":
                target = metric[kind].setdefault("target", {})
                if "averageValue" in target and target.get("value") == "0":
                    del target["value"]
                target["type"] = _target_type(target)
    return metric


def _rename_side(paths: _Paths, side: str) -> _Paths:
    """The paths for what is wanted or for what was measured, whose fields are named alike."""
    if side == "target":
        return paths
    return {
        field if path == ("describedObject",) else field.replace("target", side, 1): tuple(
            side if step == "target" else step for step in path
        )
        for field, path in paths.items()
    }


def _target_type(target: Object) -> str:
    if "averageUtilization" in target:
        return "Utilization"
    return "AverageValue" if "averageValue" in target else "Value"


def _old_behavior(behavior: Object) -> Object:
    """Behaviour under the names of Go's fields, every one of them printed."""
    return {
        _go(side): None
        if side not in behavior
        else {_go(field): _old_rule(behavior[side].get(field)) for field in _RULES}
        for side in ("scaleUp", "scaleDown")
    }


def _old_rule(value: Any) -> Any:
    if isinstance(value, list):
        return [{_go(field): policy.get(field) for field in _POLICY} for policy in value]
    return value


def _new_behavior(old: Any) -> Object:
    if not isinstance(old, dict):
        return {}
    behavior: Object = {}
    for side in ("scaleUp", "scaleDown"):
        rules = _lookup(old, side)
        if isinstance(rules, dict):
            behavior[side] = {
                field: [{name: _lookup(policy, name) for name in _POLICY} for policy in _objects(value)]
                if field == "policies"
                else value
                for field in _RULES
                if (value := _lookup(rules, field)) is not None
            }
    return behavior


def _go(field: str) -> str:
    return field[0].upper() + field[1:]


def _lookup(old: Object, field: str) -> Any:
    """Go reads names in any case."""
    return next((value for name, value in old.items() if name.lower() == field.lower()), None)


def _annotate(autoscaler: Object, said: dict[str, Any]) -> None:
    metadata = autoscaler.setdefault("metadata", {})
    annotations = {name: text for name, text in metadata.pop("annotations", {}).items() if name not in said}
    annotations.update({name: _go_json(value) for name, value in said.items() if value})
    if annotations:
        metadata["annotations"] = annotations


def _go_json(value: Any) -> str:
    """JSON as Go writes it: three letters that HTML minds are escaped."""
    text = msgspec.json.encode(value).decode()
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _take_annotations(autoscaler: Object) -> dict[str, Any]:
    """Remove what the annotations say from them, and read it."""
    metadata = autoscaler.setdefault("metadata", {})
    annotations = metadata.get("annotations", {})
    said: dict[str, Any] = {}
    for name in (_METRICS, _CURRENT_METRICS, _CONDITIONS, _BEHAVIOR):
        try:
            said[name] = msgspec.json.decode(annotations.pop(name, "null"))
        except (msgspec.DecodeError, RecursionError):
            said[name] = None
    if not annotations:
        metadata.pop("annotations", None)
    return said


def _convert_to_type(part: str, field: str, value: Any) -> Any:
    """A value that fits its field in version 2; None if it does not. What the field does not know is dropped."""
    schema = schema_of("autoscaling", "v2", "HorizontalPodAutoscaler")
    if schema is None:
        return None
    try:
        return _fitting(schema.fields[part].fields[field], value)
    except ValueError:
        return None


def _fitting(schema: Schema, value: Any) -> Any:
    if schema.shape == "object" and isinstance(value, dict):
        known = {key: item for key, item in value.items() if key in schema.fields and item is not None}
        return {key: _fitting(schema.fields[key], item) for key, item in known.items()}
    if schema.shape == "map" and isinstance(value, dict):
        return {key: _fitting(schema.items, item) for key, item in value.items()}
    if schema.shape == "list" and isinstance(value, list):
        return [_fitting(schema.items, item) for item in value]
    if schema.shape == "quantity" and isinstance(value, str | int | float) and not isinstance(value, bool):
        return quantity.canonical(value)
    if schema.shape == "integer" and isinstance(value, int) and not isinstance(value, bool):
        if not -(2**31) <= value < 2**31:
            raise ValueError(value)
        return value
    if schema.shape in ("string", "time") and isinstance(value, str):
        return value
    raise ValueError(value)


def _objects(value: Any) -> list[Object]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _order(value: Object, fields: tuple[str, ...]) -> Object:
    return {field: value[field] for field in fields if field in value}


def _at(value: Object, path: tuple[str, ...]) -> Any:
    found: Any = value
    for step in path:
        found = found.get(step) if isinstance(found, dict) else None
    return found


def _set(target: Object, path: tuple[str, ...], value: Any) -> None:
    for step in path[:-1]:
        target = target.setdefault(step, {})
    target[path[-1]] = value
