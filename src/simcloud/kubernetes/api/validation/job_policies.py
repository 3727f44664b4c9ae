"""When a Job counts as failed or done: its failure and success policies, and lists of indexes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simcloud.kubernetes.api.field_errors import (
    FieldError,
    duplicate,
    format_value,
    invalid,
    not_supported,
    required,
    too_many,
)
from simcloud.kubernetes.api.validation.common import Errors, items, make_errors, mapping, text
from simcloud.kubernetes.api.validation.names import qualified_name

_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_STATUSES = ("False", "True", "Unknown")
_RULES_LIMIT = 20
_CODES_LIMIT = 255


def _valid_values(path: str, values: tuple[str, ...]) -> FieldError:
    listed = " ".join(format_value(value) for value in values)
    return required(path, f"valid values: [{listed}]")


def without_value(path: str, message: str) -> FieldError:
    """A broken rule that shows no value."""
    return FieldError(path, "FieldValueInvalid", f"Invalid value: {message}")


def pod_failure_policy(path: str, policy: Mapping[str, Any], spec: Mapping[str, Any]) -> Errors:
    """Which failures of pods fail the Job, and which do not count."""
    rules = items(policy, "rules")
    errors: Errors = []
    if len(rules) > _RULES_LIMIT:
        errors.append(too_many(f"{path}.rules", len(rules), _RULES_LIMIT))
    pod = mapping(mapping(spec, "template"), "spec")
    names = [
        text(container, "name") for key in ("containers", "initContainers") for container in items(pod, key)
    ]
    for index, rule in enumerate(rules):
        at = f"{path}.rules[{index}]"
        errors += _action(f"{at}.action", text(rule, "action"), spec)
        codes, conditions = rule.get("onExitCodes"), items(rule, "onPodConditions")
        if codes is not None:
            errors += _exit_codes(f"{at}.onExitCodes", codes, names)
        errors += _conditions(f"{at}.onPodConditions", conditions)
        if codes is not None and conditions:
            message = "specifying both OnExitCodes and OnPodConditions is not supported"
            errors.append(without_value(at, message))
        if codes is None and not conditions:
            message = "specifying one of OnExitCodes and OnPodConditions is required"
            errors.append(without_value(at, message))
    return errors


def _action(path: str, action: str, spec: Mapping[str, Any]) -> Errors:
    if not action:
        return [_valid_values(path, _ACTIONS)]
    if action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        return [invalid(path, action, "requires the backoffLimitPerIndex to be set")]
    return [] if action in _ACTIONS else [not_supported(path, action, _ACTIONS)]


def _exit_codes(path: str, given: Mapping[str, Any], names: list[str]) -> Errors:
    operator, values, name = text(given, "operator"), items(given, "values"), given.get("containerName")
    errors: Errors = []
    if not operator:
        errors.append(_valid_values(f"{path}.operator", _OPERATORS))
    elif operator not in _OPERATORS:
        errors.append(not_supported(f"{path}.operator", operator, _OPERATORS))
    if name is not None and name not in names:
        message = "must be one of the container or initContainer names in the pod template"
        errors.append(invalid(f"{path}.containerName", name, message))
    at = f"{path}.values"
    if not values:
        errors.append(invalid(at, given.get("values"), "at least one value is required"))
    elif len(values) > _CODES_LIMIT:
        errors.append(too_many(at, len(values), _CODES_LIMIT))
    seen: set[int] = set()
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            errors.append(invalid(f"{at}[{index}]", value, "must not be 0 for the In operator"))
        if value in seen:
            errors.append(duplicate(f"{at}[{index}]", value))
        seen.add(value)
    if values != sorted(values):
        errors.append(invalid(at, values, "must be ordered"))
    return errors


def _conditions(path: str, conditions: list[Any]) -> Errors:
    errors: Errors = []
    if len(conditions) > _RULES_LIMIT:
        errors.append(too_many(path, len(conditions), _RULES_LIMIT))
    for index, condition in enumerate(conditions):
        at, kind, status = f"{path}[{index}]", text(condition, "type"), text(condition, "status")
        errors += make_errors(f"{at}.type", kind, qualified_name(kind))
        if not status:
            errors.append(_valid_values(f"{at}.status", _STATUSES))
        elif status not in _STATUSES:
            errors.append(not_supported(f"{at}.status", status, _STATUSES))
    return errors
