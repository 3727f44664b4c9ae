"""The rules of a PodDisruptionBudget. An Eviction has none beyond those of its metadata."""

from __future__ import annotations

from simcloud.kubernetes.api.field_errors import invalid, not_supported
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.validation.apps import at_most_all, int_or_percent
from simcloud.kubernetes.api.validation.common import Errors, mapping
from simcloud.kubernetes.api.validation.go_types import structure
from simcloud.kubernetes.api.validation.labels import selector_errors
from simcloud.kubernetes.api.validation.registry import validates

_EVICTION_POLICIES = ("AlwaysAllow", "IfHealthyBudget")


@validates("policy", "PodDisruptionBudget")
def pod_disruption_budget(new: Object, old: Object | None) -> Errors:
    """The rules of a PodDisruptionBudget."""
    spec = mapping(new, "spec")
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    errors: Errors = []
    if least is not None and most is not None:
        message = "minAvailable and maxUnavailable cannot be both set"
        errors.append(invalid("spec", _format_spec(spec), message))
    for field, value in (("minAvailable", least), ("maxUnavailable", most)):
        if value is not None:
            errors += int_or_percent(f"spec.{field}", value) + at_most_all(f"spec.{field}", value)
    errors += selector_errors("spec.selector", spec.get("selector"))
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None and policy not in _EVICTION_POLICIES:
        errors.append(not_supported("spec.unhealthyPodEvictionPolicy", policy, _EVICTION_POLICIES))
    return errors


def _format_spec(spec: Object) -> Object | None:
    return structure(
        spec,
        ("minAvailable", "MinAvailable", None),
        ("selector", "Selector", None),
        ("maxUnavailable", "MaxUnavailable", None),
        ("unhealthyPodEvictionPolicy", "UnhealthyPodEvictionPolicy", None),
    )
