"""The rules of a HorizontalPodAutoscaler, in the form it is stored in, autoscaling/v2, and of a Scale."""

from __future__ import annotations

from collections.abc import Callable

from simcloud.kubernetes.api.field_errors import forbidden, invalid, not_supported, required
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.validation.common import (
    Errors,
    amount,
    check_amount_not_negative,
    check_required,
    items,
    make_errors,
    mapping,
    non_negative,
    number,
    text,
)
from simcloud.kubernetes.api.validation.labels import selector_errors
from simcloud.kubernetes.api.validation.names import dns1123_label, path_segment
from simcloud.kubernetes.api.validation.registry import validates

_SOURCES = {
    "Object": "object",
    "External": "external",
    "Pods": "pods",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}
_SOURCE_TYPES = tuple(sorted(_SOURCES))
_SELECT_POLICIES = ("Disabled", "Max", "Min")
_POLICY_TYPES = ("Percent", "Pods")
_LONGEST_WINDOW_S = 3600
_LONGEST_PERIOD_S = 1800


@validates("autoscaling", "Scale")
def scale(new: Object, old: Object | None) -> Errors:
    """The rules of a Scale, the view of a workload by its number of pods."""
    return non_negative("spec.replicas", number(mapping(new, "spec"), "replicas"))


@validates("autoscaling", "HorizontalPodAutoscaler")
def horizontal_pod_autoscaler(new: Object, old: Object | None) -> Errors:
    """The rules of a HorizontalPodAutoscaler."""
    spec = mapping(new, "spec")
    least, most = spec.get("minReplicas"), number(spec, "maxReplicas")
    errors: Errors = []
    fewest = 0 if at(old, "spec", "minReplicas") == 0 else 1
    if least is not None and least < fewest:
        errors.append(invalid("spec.minReplicas", least, f"must be greater than or equal to {fewest}"))
    if most == 0:
        errors.append(required("spec.maxReplicas", "must be set and greater than 0"))
    elif most < 1:
        errors.append(invalid("spec.maxReplicas", most, "must be greater than 0"))
    if least is not None and most < least:
        errors.append(invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`"))
    target = mapping(spec, "scaleTargetRef")
    kept = old is not None and at(old, "spec", "scaleTargetRef", "apiVersion") == target.get("apiVersion")
    core = text(target, "kind") == "ReplicationController"
    errors += _reference("spec.scaleTargetRef", target, group_needed=not core, any_version=kept)
    errors += _metrics("spec.metrics", items(spec, "metrics"), least)
    for field in ("scaleUp", "scaleDown"):
        rules = mapping(spec, "behavior").get(field)
        if rules is not None:
            errors += _scaling(f"spec.behavior.{field}", rules)
    return errors


def _reference(path: str, reference: Object, group_needed: bool, any_version: bool = False) -> Errors:
    errors = check_required(f"{path}.kind", text(reference, "kind"), path_segment)
    errors += check_required(f"{path}.name", text(reference, "name"), path_segment)
    version = text(reference, "apiVersion")
    if any_version:
        return errors
    if version.count("/") > 1:
        errors.append(invalid(f"{path}.apiVersion", version, f"unexpected GroupVersion string: {version}"))
    elif group_needed and not version.rpartition("/")[0]:
        errors.append(invalid(f"{path}.apiVersion", version, "apiVersion must specify API group"))
    return errors


def _metrics(path: str, metrics: list[Object], least: int | None) -> Errors:
    errors: Errors = []
    for index, metric in enumerate(metrics):
        errors += _metric(f"{path}[{index}]", metric)
    from_outside = any(metric.get("type") in ("Object", "External") for metric in metrics)
    if least == 0 and not from_outside:
        message = "must specify at least one Object or External metric to support scaling to zero replicas"
        errors.append(forbidden(path, message))
    return errors


def _metric(path: str, metric: Object) -> Errors:
    kind = text(metric, "type")
    errors: Errors = [] if kind else [required(f"{path}.type", "must specify a metric source type")]
    if kind not in _SOURCES:
        errors.append(not_supported(f"{path}.type", kind, _SOURCE_TYPES))
    present = [field for field in _SOURCES.values() if metric.get(field) is not None]
    if present:
        errors += _SOURCE_RULES[present[0]](f"{path}.{present[0]}", metric[present[0]])
    expected = _SOURCES.get(kind)
    if expected is not None and expected not in present:
        message = "must populate information for the given metric source"
        errors.append(required(f"{path}.{expected}", message))
    if len(present) != 1:
        errors += [
            forbidden(f"{path}.{field}", "must populate the given metric source only")
            for field in present
            if field != expected
        ]
    return errors


def _object(path: str, source: Object) -> Errors:
    errors = _reference(f"{path}.describedObject", mapping(source, "describedObject"), group_needed=False)
    errors += _check_named_metric(path, source)
    target = mapping(source, "target")
    if target.get("value") is None and target.get("averageValue") is None:
        message = "must set either a target value or averageValue"
        errors.append(required(f"{path}.target.averageValue", message))
    return errors


def _external(path: str, source: Object) -> Errors:
    errors = _check_named_metric(path, source)
    target = mapping(source, "target")
    value, average = target.get("value"), target.get("averageValue")
    if value is None and average is None:
        message = "must set either a target value for metric or a per-pod target"
        errors.append(required(f"{path}.target.averageValue", message))
    if value is not None and average is not None:
        message = "may not set both a target value for metric and a per-pod target"
        errors.append(forbidden(f"{path}.target.value", message))
    return errors


def _pods(path: str, source: Object) -> Errors:
    errors = _check_named_metric(path, source)
    if mapping(source, "target").get("averageValue") is None:
        message = "must specify a positive target averageValue"
        errors.append(required(f"{path}.target.averageValue", message))
    return errors


def _resource(path: str, source: Object) -> Errors:
    errors: Errors = []
    if not text(source, "name"):
        errors.append(required(f"{path}.name", "must specify a resource name"))
    return errors + _check_resource_target(path, source)


def _container_resource(path: str, source: Object) -> Errors:
    errors: Errors = []
    if not text(source, "name"):
        errors.append(required(f"{path}.name", "must specify a resource name"))
    container = text(source, "container")
    if container:
        errors += make_errors(f"{path}.container", container, dns1123_label(container))
    else:
        errors.append(required(f"{path}.container", "must specify a container"))
    return errors + _check_resource_target(path, source)


_SOURCE_RULES: dict[str, Callable[[str, Object], Errors]] = {
    "object": _object,
    "external": _external,
    "pods": _pods,
    "resource": _resource,
    "containerResource": _container_resource,
}


def _check_resource_target(path: str, source: Object) -> Errors:
    target = mapping(source, "target")
    errors = _target(f"{path}.target", target)
    share, value = target.get("averageUtilization"), target.get("averageValue")
    if share is None and value is None:
        message = "must set either a target raw value or a target utilization"
        errors.append(required(f"{path}.target.averageUtilization", message))
    if share is not None and value is not None:
        message = "may not set both a target raw value and a target utilization"
        errors.append(forbidden(f"{path}.target.averageValue", message))
    return errors


def _check_named_metric(path: str, source: Object) -> Errors:
    metric = mapping(source, "metric")
    name = text(metric, "name")
    errors: Errors = []
    if name:
        errors += make_errors(f"{path}.metric.name", name, path_segment(name))
    else:
        errors.append(required(f"{path}.metric.name", "must specify a metric name"))
    errors += selector_errors(f"{path}.metric.selector", metric.get("selector"))
    return errors + _target(f"{path}.target", mapping(source, "target"))


def _target(path: str, target: Object) -> Errors:
    kind = text(target, "type")
    errors: Errors = [] if kind else [required(f"{path}.type", "must specify a metric target type")]
    if kind not in ("Utilization", "Value", "AverageValue"):
        message = "must be either Utilization, Value, or AverageValue"
        errors.append(invalid(f"{path}.type", kind, message))
    for field in ("value", "averageValue"):
        value = target.get(field)
        if value is not None and amount(value) <= 0:
            errors.append(invalid(f"{path}.{field}", value, "must be positive"))
    share = target.get("averageUtilization")
    if share is not None and share < 1:
        errors.append(invalid(f"{path}.averageUtilization", share, "must be greater than 0"))
    return errors


def _scaling(path: str, rules: Object) -> Errors:
    errors: Errors = []
    window, field = rules.get("stabilizationWindowSeconds"), f"{path}.stabilizationWindowSeconds"
    if window is not None and window < 0:
        errors.append(invalid(field, window, "must be greater than or equal to zero"))
    if window is not None and window > _LONGEST_WINDOW_S:
        errors.append(invalid(field, window, f"must be less than or equal to {_LONGEST_WINDOW_S}"))
    select = rules.get("selectPolicy")
    if select is not None and select not in _SELECT_POLICIES:
        errors.append(not_supported(f"{path}.selectPolicy", select, _SELECT_POLICIES))
    policies = items(rules, "policies")
    if not policies:
        errors.append(required(f"{path}.policies", "must specify at least one Policy"))
    for index, policy in enumerate(policies):
        errors += _scaling_policy(f"{path}.policies[{index}]", policy)
    if rules.get("tolerance") is not None:
        errors += check_amount_not_negative(f"{path}.tolerance", rules["tolerance"])
    return errors


def _scaling_policy(path: str, policy: Object) -> Errors:
    kind, period = text(policy, "type"), number(policy, "periodSeconds")
    errors: Errors = [] if kind in _POLICY_TYPES else [not_supported(f"{path}.type", kind, _POLICY_TYPES)]
    for field in ("value", "periodSeconds"):
        if number(policy, field) <= 0:
            errors.append(invalid(f"{path}.{field}", number(policy, field), "must be greater than zero"))
    if period > _LONGEST_PERIOD_S:
        message = f"must be less than or equal to {_LONGEST_PERIOD_S}"
        errors.append(invalid(f"{path}.periodSeconds", period, message))
    return errors
