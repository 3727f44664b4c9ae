"""The rules of a ResourceQuota and of a LimitRange."""

from __future__ import annotations

from typing import Any

from simcloud.kubernetes.api.field_errors import duplicate, forbidden, invalid, required
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.validation.common import Errors, amount
from simcloud.kubernetes.api.validation.names import qualified_name
from simcloud.kubernetes.api.validation.pods import resources
from simcloud.kubernetes.api.validation.registry import validates

_POD_SCOPES = ("Terminating", "NotTerminating", "BestEffort", "NotBestEffort")
_EXISTS_SCOPES = (*_POD_SCOPES, "CrossNamespacePodAffinity")
_SCOPES = (*_EXISTS_SCOPES, "PriorityClass", "VolumeAttributesClass")
_POD_COUNTED = ("pods",)
_POD_COMPUTE = ("cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory")
_CLAIM_COUNTED = ("persistentvolumeclaims", "requests.storage")
_CONFLICTS = (("BestEffort", "NotBestEffort"), ("NotTerminating", "Terminating"))
_EXISTS_RULE = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
    "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)
_QUOTA = frozenset(
    (
        *("pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps"),
        *("persistentvolumeclaims", "services.nodeports", "services.loadbalancers", "requests.storage"),
        *("cpu", "memory", "ephemeral-storage"),
        *("requests.cpu", "requests.memory", "requests.ephemeral-storage"),
        *("limits.cpu", "limits.memory", "limits.ephemeral-storage"),
    )
)
_PAGES_OF_QUOTA = "requests.hugepages-"
_LIMIT_TYPES = ("Pod", "Container", "PersistentVolumeClaim")


@validates("", "ResourceQuota")
def resource_quota(new: Object, old: Object | None) -> Errors:
    """The rules of a ResourceQuota."""
    spec: Object = new.get("spec") or {}
    errors = _hard("spec.hard", spec.get("hard"))
    errors += _scopes(spec)
    errors += _scope_selector(spec)
    if old is None:
        return errors
    before = at(old, "spec", "scopes", default=None) or []
    if sorted(set(spec.get("scopes") or [])) != sorted(set(before)):
        errors.append(invalid("spec.scopes", spec.get("scopes"), "field is immutable"))
    return errors


def _hard(path: str, limits: dict[str, str] | None) -> Errors:
    errors: Errors = []
    for name, text in (limits or {}).items():
        errors += _quota_resource_name(f"{path}[{name}]", name)
        errors += resources.resource_amount(f"{path}[{name}]", name, text)
    return errors


def _scope_fits(scope: str, resource: str) -> bool:
    if scope == "BestEffort":
        return resource in _POD_COUNTED
    if scope == "VolumeAttributesClass":
        return resource in _CLAIM_COUNTED
    if scope in _SCOPES:
        return resource in _POD_COUNTED or resource in _POD_COMPUTE
    return True


def _unfit(scope: str, spec: Object) -> int:
    names = sorted(spec.get("hard") or {})
    return sum(_is_quota_name(name) and not _scope_fits(scope, name) for name in names)


def _scopes(spec: Object) -> Errors:
    scopes: list[str] = spec.get("scopes") or []
    errors = []
    for scope in scopes:
        if scope not in _SCOPES:
            errors.append(invalid("spec.scopes", scopes, "unsupported scope"))
        unfit = _unfit(scope, spec)
        errors += [invalid("spec.scopes", scopes, "unsupported scope applied to resource")] * unfit
    return errors + _conflicts("spec.scopes", scopes, spec)


def _conflicts(path: str, scopes: list[str], spec: Object) -> Errors:
    return [
        invalid(path, spec.get("scopes"), "conflicting scopes")
        for pair in _CONFLICTS
        if all(scope in scopes for scope in pair)
    ]


def _scope_selector(spec: Object) -> Errors:
    selector = spec.get("scopeSelector")
    if selector is None:
        return []
    path = "spec.scopeSelector.matchExpressions"
    requirements = selector.get("matchExpressions") or []
    errors = []
    for requirement in requirements:
        scope = requirement.get("scopeName", "")
        if scope not in _SCOPES:
            errors.append(invalid(f"{path}.scopeName", scope, "unsupported scope"))
        message = "unsupported scope applied to resource"
        errors += [invalid(path, _selector_shown(requirements), message)] * _unfit(scope, spec)
        errors += _selector_values(path, requirement)
    scopes = [requirement.get("scopeName", "") for requirement in requirements]
    return errors + _conflicts(path, scopes, spec)


def _selector_values(path: str, requirement: Object) -> Errors:
    operator, values = requirement.get("operator", ""), requirement.get("values") or []
    errors = []
    if requirement.get("scopeName") in _EXISTS_SCOPES and operator != "Exists":
        errors.append(invalid(f"{path}.operator", operator, _EXISTS_RULE))
    if operator in ("In", "NotIn"):
        if not values:
            message = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            errors.append(required(f"{path}.values", message))
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            message = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
            errors.append(invalid(f"{path}.values", values, message))
    else:
        errors.append(invalid(f"{path}.operator", operator, "not a valid selector operator"))
    return errors


def _selector_shown(requirements: list[Object]) -> Object:
    """The selector as the genuine server shows it: by the names of its own fields."""
    shown = [
        {
            "ScopeName": requirement.get("scopeName", ""),
            "Operator": requirement.get("operator", ""),
            "Values": requirement.get("values"),
        }
        for requirement in requirements
    ]
    return {"MatchExpressions": shown}


@validates("", "LimitRange")
def limit_range(new: Object, old: Object | None) -> Errors:
    """The rules of a LimitRange."""
    errors: Errors = []
    seen: list[str] = []
    for index, limit in enumerate(at(new, "spec", "limits", default=None) or []):
        path, kind = f"spec.limits[{index}]", limit.get("type", "")
        errors += _limit_type(f"{path}.type", kind)
        if kind in seen:
            errors.append(duplicate(f"{path}.type", kind))
        seen.append(kind)
        errors += _limit(path, kind, limit)
    return errors


def _limit_type(path: str, kind: str) -> Errors:
    errors = [invalid(path, kind, message) for message in qualified_name(kind)]
    if not errors and "/" not in kind and kind not in _LIMIT_TYPES:
        errors.append(invalid(path, kind, "must be a standard limit type or fully qualified"))
    return errors


def _limit(path: str, kind: str, limit: Object) -> Errors:
    errors: Errors = []
    names: dict[str, None] = {}

    def check_names(field: str) -> None:
        rule = resources.container_resource_name if kind in ("Pod", "Container") else resources.resource_name
        for name in limit.get(field) or {}:
            errors.extend(rule(f"{path}.{field}[{name}]", name))
            names[name] = None

    check_names("max")
    check_names("min")
    for field in ("default", "defaultRequest"):
        if kind != "Pod":
            check_names(field)
        elif limit.get(field):
            errors.append(forbidden(f"{path}.{field}", "may not be specified when `type` is 'Pod'"))
    bounds = {**(limit.get("min") or {}), **(limit.get("max") or {})}
    if kind == "PersistentVolumeClaim" and "storage" not in bounds:
        message = "either minimum or maximum storage value is required, but neither was provided"
        errors.append(required(f"{path}.limits", message))
    check_names("maxLimitRequestRatio")
    for name in names:
        errors += _limit_of(path, name, limit, kind)
    return errors


def _limit_of(path: str, name: str, limit: Object, kind: str) -> Errors:
    def of(field: str) -> Any:
        if kind == "Pod" and field in ("default", "defaultRequest"):
            return None
        return (limit.get(field) or {}).get(name)

    low, high, default, wanted = of("min"), of("max"), of("default"), of("defaultRequest")
    errors = []
    # Each row: the field, the value shown, the smaller, the greater, and what each is called.
    for field, shown, smaller, greater, first, second in (
        ("min", low, low, high, "min", "max"),
        ("defaultRequest", wanted, low, wanted, "min", "default request"),
        ("defaultRequest", wanted, wanted, high, "default request", "max"),
        ("defaultRequest", wanted, wanted, default, "default request", "default limit"),
        ("default", low, low, default, "min", "default"),
        ("default", high, default, high, "default", "max"),
    ):
        if smaller is not None and greater is not None and amount(smaller) > amount(greater):
            message = f"{first} value {smaller} is greater than {second} value {greater}"
            errors.append(invalid(f"{path}.{field}[{name}]", shown, message))
    errors += _ratio(f"{path}.maxLimitRequestRatio[{name}]", of("maxLimitRequestRatio"), low, high)
    both = default is not None and wanted is not None
    if both and not resources.may_overcommit(name) and amount(default) != amount(wanted):
        message = f"default value {default} must equal to defaultRequest value {wanted} in {name}"
        errors.append(invalid(f"{path}.defaultRequest[{name}]", wanted, message))
    return errors


def _ratio(path: str, ratio: str | None, low: str | None, high: str | None) -> Errors:
    if ratio is None:
        return []
    errors = []
    if amount(ratio) < 1:
        errors.append(invalid(path, ratio, f"ratio {ratio} is less than 1"))
    if low is not None and high is not None and amount(low) != 0:
        limit = amount(high) / amount(low)
        if amount(ratio) > limit:
            message = f"ratio {ratio} is greater than max/min = {float(limit):f}"
            errors.append(invalid(path, ratio, message))
    return errors


def _is_quota_name(name: str) -> bool:
    """Whether a quota may count it without a domain before its name."""
    return name in _QUOTA or name.startswith(("hugepages-", _PAGES_OF_QUOTA))


def _quota_resource_name(path: str, name: str) -> Errors:
    """The name of a resource that a quota may count."""
    errors = [] if name.startswith(_PAGES_OF_QUOTA) else resources.resource_name(path, name)
    if "/" not in name and not _is_quota_name(name):
        errors.append(invalid(path, name, "must be a standard resource for quota"))
    return errors
