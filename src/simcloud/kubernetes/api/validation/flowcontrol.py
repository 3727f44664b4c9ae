"""The rules of FlowSchemas and of PriorityLevelConfigurations.

That the mandatory ones keep their fixed values is not checked here.
"""

from __future__ import annotations

from simcloud.kubernetes.api.field_errors import duplicate, forbidden, invalid, not_supported, required
from simcloud.kubernetes.api.objects import Object, name_of
from simcloud.kubernetes.api.validation.common import Errors, broken, items, mapping, needed, number, text
from simcloud.kubernetes.api.validation.names import between, dns1123_label, dns1123_subdomain
from simcloud.kubernetes.api.validation.registry import validates, validates_status

_GROUP = "flowcontrol.apiserver.k8s.io"
_VERBS = ("get", "list", "create", "update", "delete", "deletecollection", "patch", "watch", "proxy")
_SUBJECTS = {"User": "user", "Group": "group", "ServiceAccount": "serviceAccount"}
_HIGHEST_PRECEDENCE = 10000
_MOST_QUEUES = 10_000_000


@validates(_GROUP, "FlowSchema")
def flow_schema(new: Object, old: Object | None) -> Errors:
    """The rules of a FlowSchema."""
    spec = mapping(new, "spec")
    precedence, path = number(spec, "matchingPrecedence"), "spec.matchingPrecedence"
    errors: Errors = []
    if precedence <= 0:
        errors.append(invalid(path, precedence, "must be a positive value"))
    if precedence > _HIGHEST_PRECEDENCE:
        errors.append(invalid(path, precedence, f"must not be greater than {_HIGHEST_PRECEDENCE}"))
    if precedence == 1 and name_of(new) != "exempt":
        told = "only the schema named 'exempt' may have matchingPrecedence 1"
        errors.append(invalid(path, precedence, told))
    level, path = (
        text(mapping(spec, "priorityLevelConfiguration"), "name"),
        "spec.priorityLevelConfiguration.name",
    )
    if level:
        errors += broken(path, level, dns1123_subdomain(level))
    else:
        errors.append(required(path, "must reference a priority level"))
    method = spec.get("distinguisherMethod")
    if method is not None and text(method, "type") not in ("ByNamespace", "ByUser"):
        known = ["ByNamespace", "ByUser"]
        errors.append(not_supported("spec.distinguisherMethod.type", text(method, "type"), known))
    for index, rule in enumerate(items(spec, "rules")):
        errors += _rule(f"spec.rules[{index}]", rule)
    return errors + _conditions(new)


@validates_status(_GROUP, "FlowSchema", "PriorityLevelConfiguration")
def flow_status(new: Object, old: Object) -> Errors:
    """The rules of their status: every condition has a type of its own."""
    return _conditions(new)


def _conditions(new: Object) -> Errors:
    errors: Errors = []
    seen: list[str] = []
    for index, condition in enumerate(items(mapping(new, "status"), "conditions")):
        kind, path = text(condition, "type"), f"status.conditions[{index}].type"
        if kind in seen:
            errors.append(duplicate(path, kind))
        seen.append(kind)
        if not kind:
            errors.append(required(path))
    return errors


def _rule(path: str, rule: Object) -> Errors:
    errors: Errors = []
    if not items(rule, "subjects"):
        errors.append(required(f"{path}.subjects", "subjects must contain at least one value"))
    for index, subject in enumerate(items(rule, "subjects")):
        errors += _subject(f"{path}.subjects[{index}]", subject)
    resources, urls = items(rule, "resourceRules"), items(rule, "nonResourceRules")
    if not resources and not urls:
        told = "at least one of resourceRules and nonResourceRules has to be non-empty"
        errors.append(required(path, told))
    for index, one in enumerate(resources):
        errors += _resource_rule(f"{path}.resourceRules[{index}]", one)
    for index, one in enumerate(urls):
        errors += _url_rule(f"{path}.nonResourceRules[{index}]", one)
    return errors


def _subject(path: str, subject: Object) -> Errors:
    kind = text(subject, "kind")
    if kind not in _SUBJECTS:
        return [not_supported(f"{path}.kind", kind, sorted(_SUBJECTS))]
    field = _SUBJECTS[kind]
    given = subject.get(field)
    errors: Errors = []
    if given is None:
        errors.append(required(f"{path}.{field}", f"{field} is required when subject kind is '{kind}'"))
    elif kind == "ServiceAccount":
        errors += _account(f"{path}.{field}", given)
    elif not text(given, "name"):
        errors.append(required(f"{path}.{field}.name"))
    order = ("ServiceAccount", "User", "Group")
    return errors + [
        forbidden(
            f"{path}.{_SUBJECTS[one]}", f"{_SUBJECTS[one]} is forbidden when subject kind is not '{one}'"
        )
        for one in order
        if one != kind and subject.get(_SUBJECTS[one]) is not None
    ]


def _account(path: str, account: Object) -> Errors:
    name, namespace = text(account, "name"), text(account, "namespace")
    errors = needed(f"{path}.name", name, lambda value: [] if value == "*" else dns1123_subdomain(value))
    if not namespace:
        return [*errors, required(f"{path}.namespace", "must specify namespace for service account")]
    return errors + broken(f"{path}.namespace", namespace, dns1123_label(namespace))


def _list(path: str, values: list[str], empty: str, others: str) -> Errors:
    """A list that is not empty, where a star stands alone."""
    if not values:
        return [required(path, empty)]
    if len(values) > 1 and "*" in values:
        return [invalid(path, values, f"if '*' is present, must not specify other {others}")]
    return []


def _verbs(path: str, rule: Object) -> Errors:
    verbs = items(rule, "verbs")
    errors = _list(f"{path}.verbs", verbs, "verbs must contain at least one value", "verbs")
    if "*" not in verbs and any(verb not in _VERBS for verb in verbs):
        errors.append(not_supported(f"{path}.verbs", verbs, sorted(_VERBS)))
    return errors


def _resource_rule(path: str, rule: Object) -> Errors:
    errors = _verbs(path, rule)
    for field, one, others in (
        ("apiGroups", "api group", "api groups"),
        ("resources", "resource", "resources"),
    ):
        empty = f"resource rules must supply at least one {one}"
        errors += _list(f"{path}.{field}", items(rule, field), empty, others)
    spaces, field = items(rule, "namespaces"), f"{path}.namespaces"
    if not spaces and not rule.get("clusterScope"):
        told = "resource rules that are not cluster scoped must supply at least one namespace"
        return [*errors, required(field, told)]
    if "*" in spaces:
        return errors + _list(field, spaces, "", "namespaces")
    for index, space in enumerate(spaces):
        errors += broken(f"{field}[{index}]", space, dns1123_label(space))
    return errors


def _url_rule(path: str, rule: Object) -> Errors:
    errors = _verbs(path, rule)
    urls, field = items(rule, "nonResourceURLs"), f"{path}.nonResourceURLs"
    errors += _list(field, urls, "nonResourceURLs must contain at least one value", "non-resource URLs")
    if "*" not in urls:
        for index, url in enumerate(urls):
            errors += broken(f"{field}[{index}]", url, _url(url))
    return errors


def _url(value: str) -> list[str]:
    if not value:
        return ["must not be empty"]
    if value == "/":
        return []
    if not value.startswith("/"):
        return ["must start with slash"]
    if " " in value:
        return ["must not contain white-space"]
    if "//" in value:
        return ["must not contain double slash"]
    stars = value.count("*")
    return (
        ["wildcard can only do suffix matching"]
        if stars and not (stars == 1 and value.endswith("/*"))
        else []
    )


@validates(_GROUP, "PriorityLevelConfiguration")
def priority_level(new: Object, old: Object | None) -> Errors:
    """The rules of a PriorityLevelConfiguration."""
    spec = mapping(new, "spec")
    kind = text(spec, "type")
    errors: Errors = []
    if (name_of(new) == "exempt") != (kind == "Exempt"):
        errors.append(invalid("spec.type", kind, "must be 'Exempt' if and only if `name` is 'exempt'"))
    if kind == "Exempt":
        if spec.get("limited") is not None:
            errors.append(forbidden("spec.limited", "must be nil if the type is not Limited"))
        errors += _shares("spec.exempt", mapping(spec, "exempt"))
    elif kind == "Limited":
        if spec.get("exempt") is not None:
            errors.append(forbidden("spec.exempt", "must be nil if the type is Limited"))
        if spec.get("limited") is None:
            errors.append(required("spec.limited", "must not be empty when type is Limited"))
        else:
            errors += _limited("spec.limited", spec["limited"])
    else:
        errors.append(not_supported("spec.type", kind, ["Exempt", "Limited"]))
    return errors + _conditions(new)


def _shares(path: str, level: Object) -> Errors:
    errors: Errors = []
    shares, lendable = level.get("nominalConcurrencyShares"), level.get("lendablePercent")
    if shares is not None and shares < 0:
        errors.append(invalid(f"{path}.nominalConcurrencyShares", shares, "must be a non-negative integer"))
    if lendable is not None and not 0 <= lendable <= 100:
        errors.append(invalid(f"{path}.lendablePercent", lendable, between(0, 100)))
    return errors


def _limited(path: str, level: Object) -> Errors:
    response = mapping(level, "limitResponse")
    kind, queuing = text(response, "type"), response.get("queuing")
    errors = _shares(path, level)
    if kind == "Reject":
        if queuing is not None:
            told = "must be nil if limited.limitResponse.type is not Limited"
            errors.append(forbidden(f"{path}.limitResponse.queuing", told))
    elif kind != "Queue":
        errors.append(not_supported(f"{path}.limitResponse.type", kind, ["Queue", "Reject"]))
    elif queuing is None:
        told = "must not be empty if limited.limitResponse.type is Limited"
        errors.append(required(f"{path}.limitResponse.queuing", told))
    else:
        errors += _queuing(f"{path}.limitResponse.queuing", queuing)
    borrowing = level.get("borrowingLimitPercent")
    if borrowing is not None and borrowing < 0:
        told = "if specified, must be a non-negative integer"
        errors.append(invalid(f"{path}.borrowingLimitPercent", borrowing, told))
    return errors


def _queuing(path: str, queuing: Object) -> Errors:
    length, queues, hand = (number(queuing, field) for field in ("queueLengthLimit", "queues", "handSize"))
    errors: Errors = []
    if length <= 0:
        errors.append(invalid(f"{path}.queueLengthLimit", length, "must be positive"))
    if queues <= 0:
        errors.append(invalid(f"{path}.queues", queues, "must be positive"))
    elif queues > _MOST_QUEUES:
        errors.append(invalid(f"{path}.queues", queues, f"must not be greater than {_MOST_QUEUES}"))
    if hand <= 0:
        errors.append(invalid(f"{path}.handSize", hand, "must be positive"))
    elif hand > queues:
        errors.append(invalid(f"{path}.handSize", hand, f"should not be greater than queues ({queues})"))
    return errors
