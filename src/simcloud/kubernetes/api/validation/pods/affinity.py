"""Where a pod may run: affinities, tolerations and spread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from simcloud.kubernetes.api.field_errors import duplicate, forbidden, invalid, not_supported, required
from simcloud.kubernetes.api.validation.common import (
    Errors,
    items,
    make_errors,
    mapping,
    number,
    one_of,
    positive,
    text,
)
from simcloud.kubernetes.api.validation.labels import label_name_errors, selector_errors
from simcloud.kubernetes.api.validation.names import dns1123_label, dns1123_subdomain, label_value

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
_NODE_POLICIES = ("Honor", "Ignore")


def affinity(path: str, given: Mapping[str, Any] | None) -> Errors:
    """A pod's ``affinity``."""
    if given is None:
        return []
    errors: Errors = []
    node = given.get("nodeAffinity")
    if node is not None:
        if node.get(REQUIRED) is not None:
            errors += node_selector(f"{path}.nodeAffinity.{REQUIRED}", node[REQUIRED])
        for index, term in enumerate(items(node, PREFERRED)):
            at = f"{path}.nodeAffinity.{PREFERRED}[{index}]"
            errors += _weight(at, term)
            errors += _node_term(f"{at}.preference", mapping(term, "preference"), any_value=True)
    for key in ("podAffinity", "podAntiAffinity"):
        errors += _pods(f"{path}.{key}", mapping(given, key))
    return errors


def _weight(path: str, term: Mapping[str, Any]) -> Errors:
    weight = number(term, "weight")
    return [] if 1 <= weight <= 100 else [invalid(f"{path}.weight", weight, "must be in the range 1-100")]


def node_selector(path: str, given: Mapping[str, Any]) -> Errors:
    """Terms of which a node must fulfil one."""
    at = f"{path}.nodeSelectorTerms"
    terms = items(given, "nodeSelectorTerms")
    if not terms:
        return [required(at, "must have at least one node selector term")]
    return [
        error
        for index, term in enumerate(terms)
        for error in _node_term(f"{at}[{index}]", term, any_value=False)
    ]


def _node_term(path: str, term: Mapping[str, Any], any_value: bool) -> Errors:
    errors: Errors = []
    for index, requirement in enumerate(items(term, "matchExpressions")):
        errors += _node_labels(f"{path}.matchExpressions[{index}]", requirement, any_value)
    for index, requirement in enumerate(items(term, "matchFields")):
        errors += _node_fields(f"{path}.matchFields[{index}]", requirement)
    return errors


def _node_labels(path: str, requirement: Mapping[str, Any], any_value: bool) -> Errors:
    operator, values = text(requirement, "operator"), items(requirement, "values")
    errors: Errors = []
    if operator in ("In", "NotIn"):
        if not values:
            message = "must be specified when `operator` is 'In' or 'NotIn'"
            errors.append(required(f"{path}.values", message))
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            message = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            errors.append(forbidden(f"{path}.values", message))
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            message = "must be specified single value when `operator` is 'Lt' or 'Gt'"
            errors.append(required(f"{path}.values", message))
    else:
        errors.append(invalid(f"{path}.operator", operator, "not a valid selector operator"))
    errors += label_name_errors(f"{path}.key", text(requirement, "key"))
    for index, value in enumerate([] if any_value else values):
        errors += make_errors(f"{path}.values[{index}]", value, label_value(value))
    return errors


def _node_fields(path: str, requirement: Mapping[str, Any]) -> Errors:
    operator, values, key = (
        text(requirement, "operator"),
        items(requirement, "values"),
        text(requirement, "key"),
    )
    errors: Errors = []
    if operator not in ("In", "NotIn"):
        errors.append(invalid(f"{path}.operator", operator, "not a valid selector operator"))
    elif len(values) != 1:
        message = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        errors.append(required(f"{path}.values", message))
    if key != "metadata.name":
        return [*errors, invalid(f"{path}.key", key, "not a valid field selector key")]
    for index, value in enumerate(values):
        errors += make_errors(f"{path}.values[{index}]", value, dns1123_subdomain(value))
    return errors


def _pods(path: str, given: Mapping[str, Any]) -> Errors:
    errors: Errors = []
    for index, term in enumerate(items(given, REQUIRED)):
        errors += _pod_term(f"{path}.{REQUIRED}[{index}]", term)
    for index, weighted in enumerate(items(given, PREFERRED)):
        at = f"{path}.{PREFERRED}[{index}]"
        errors += _weight(at, weighted)
        errors += _pod_term(f"{at}.podAffinityTerm", mapping(weighted, "podAffinityTerm"))
    return errors


def _pod_term(path: str, term: Mapping[str, Any]) -> Errors:
    errors: Errors = []
    for key in ("labelSelector", "namespaceSelector"):
        errors += selector_errors(f"{path}.{key}", term.get(key))
    for name in items(term, "namespaces"):
        errors += make_errors(f"{path}.namespace", name, dns1123_label(name))
    errors += _label_keys(path, term)
    key = text(term, "topologyKey")
    if not key:
        errors.append(required(f"{path}.topologyKey", "can not be empty"))
    return errors + label_name_errors(f"{path}.topologyKey", key)


def _label_keys(path: str, term: Mapping[str, Any]) -> Errors:
    """Labels whose values a pod must share, or not share, with those it is matched with."""
    match, mismatch, chosen = (
        items(term, "matchLabelKeys"),
        items(term, "mismatchLabelKeys"),
        term.get("labelSelector"),
    )
    errors: Errors = []
    for name, keys in (("matchLabelKeys", match), ("mismatchLabelKeys", mismatch)):
        if keys and chosen is None:
            message = "must not be specified when labelSelector is not set"
            errors.append(forbidden(f"{path}.{name}", message))
            continue
        for index, key in enumerate(keys):
            errors += label_name_errors(f"{path}.{name}[{index}]", key)
    places = {key: index for index, key in enumerate(match)}
    seen = set(mapping(chosen or {}, "matchLabels"))
    for expression in items(chosen or {}, "matchExpressions"):
        key = text(expression, "key")
        if key in places and key in seen:
            message = "exists in both matchLabelKeys and labelSelector"
            errors.append(invalid(f"{path}[{places[key]}]", key, message))
        seen.add(key)
    message = "exists in both matchLabelKeys and mismatchLabelKeys"
    unwanted = set(mismatch)
    return errors + [
        invalid(f"{path}.matchLabelKeys[{index}]", key, message)
        for index, key in enumerate(match)
        if key in unwanted
    ]


def tolerations(path: str, given: list[Any]) -> Errors:
    """The taints a pod tolerates."""
    errors: Errors = []
    for index, toleration in enumerate(given):
        at = f"{path}[{index}]"
        key, operator, effect = (text(toleration, name) for name in ("key", "operator", "effect"))
        if key:
            errors += label_name_errors(f"{at}.key", key)
        elif operator != "Exists":
            message = (
                'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            )
            errors.append(invalid(f"{at}.operator", operator, message))
        if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
            message = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            errors.append(invalid(f"{at}.effect", effect, message))
        errors += _toleration_value(f"{at}.operator", operator, text(toleration, "value"))
        if effect:
            errors += one_of(f"{at}.effect", effect, EFFECTS)
    return errors


def _toleration_value(path: str, operator: str, value: str) -> Errors:
    if operator in ("", "Equal"):
        messages = label_value(value)
        return [invalid(path, value, ";".join(messages))] if messages else []
    if operator == "Exists":
        message = "value must be empty when `operator` is 'Exists'"
        return [invalid(path, value, message)] if value else []
    if operator in ("Lt", "Gt"):
        return [not_supported(path, operator, ("Equal", "Exists", "Lt", "Gt"))]
    return [not_supported(path, operator, ("Equal", "Exists"))]


def spread(path: str, constraints: list[Any]) -> Errors:
    """How evenly a pod's kind is spread over the nodes."""
    errors: Errors = []
    to_come = Counter(
        (text(constraint, "topologyKey"), text(constraint, "whenUnsatisfiable")) for constraint in constraints
    )
    for index, given in enumerate(constraints):
        at = f"{path}[{index}]"
        key, action = text(given, "topologyKey"), text(given, "whenUnsatisfiable")
        errors += positive(f"{at}.maxSkew", number(given, "maxSkew"))
        if not key:
            errors.append(required(f"{at}.topologyKey", "can not be empty"))
        errors += one_of(f"{at}.whenUnsatisfiable", action, _ACTIONS)
        to_come[key, action] -= 1
        if to_come[key, action]:
            errors.append(duplicate(f"{at}.{{topologyKey, whenUnsatisfiable}}", f"{{{key}, {action}}}"))
        errors += _min_domains(f"{at}.minDomains", given.get("minDomains"), action)
        for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            if given.get(name) is not None:
                errors += one_of(f"{at}.{name}", given[name], _NODE_POLICIES)
        errors += _label_keys(at, given)
        errors += selector_errors(f"{at}.labelSelector", given.get("labelSelector"))
    return errors


def _min_domains(path: str, domains: int | None, action: str) -> Errors:
    if domains is None:
        return []
    errors = positive(path, domains)
    if action != "DoNotSchedule":
        message = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
        errors.append(invalid(path, domains, message))
    return errors
