"""The rules of a PriorityClass. That only one is the default of the cluster is a matter of admission."""

from __future__ import annotations

from simcloud.kubernetes.api.field_errors import forbidden
from simcloud.kubernetes.api.objects import Object, name_of
from simcloud.kubernetes.api.validation.common import Errors, check_required_choice, immutable, number
from simcloud.kubernetes.api.validation.registry import validates

_HIGHEST_OF_USERS = 1_000_000_000
_SYSTEM = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}


@validates("scheduling.k8s.io", "PriorityClass")
def priority_class(new: Object, old: Object | None) -> Errors:
    """The rules of a PriorityClass."""
    value, policy = number(new, "value"), new.get("preemptionPolicy")
    if old is not None:
        errors: Errors = []
        if value != number(old, "value"):
            errors.append(forbidden("value", "may not be changed in an update."))
        return errors + immutable("preemptionPolicy", policy or "null", old.get("preemptionPolicy") or "null")
    name, errors = name_of(new), []
    if name.startswith("system-"):
        fault = _not_of_the_system(name, value, bool(new.get("globalDefault")))
        if fault:
            message = "priority class names with 'system-' prefix are reserved for system use only. error: "
            errors.append(forbidden("metadata.name", message + fault))
    elif value > _HIGHEST_OF_USERS:
        message = f"maximum allowed value of a user defined priority is {_HIGHEST_OF_USERS}"
        errors.append(forbidden("value", message))
    if policy is not None:
        errors += check_required_choice("preemptionPolicy", policy, ("PreemptLowerPriority", "Never"))
    return errors


def _not_of_the_system(name: str, value: int, default: bool) -> str:
    if name not in _SYSTEM:
        return f"{name} is not a known system priority class"
    if value != _SYSTEM[name]:
        return f"value of {name} PriorityClass must be {_SYSTEM[name]}"
    return f"globalDefault of {name} PriorityClass must be false" if default else ""
