"""What containers and pods may ask for: names of resources, amounts, requests within limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from simcloud.kubernetes.api.field_errors import (
    forbidden,
    invalid,
    not_supported,
    required,
)
from simcloud.kubernetes.api.quantity import render
from simcloud.kubernetes.api.validation.common import (
    NOT_NEGATIVE,
    Errors,
    amount,
    amount_text,
    items,
    make_errors,
    mapping,
    pairs,
    text,
)
from simcloud.kubernetes.api.validation.names import qualified_name

NameRule: TypeAlias = Callable[[str, str], Errors]

HUGE_PAGES = "hugepages-"
_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_COUNTED = (
    "pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims",
    "services.nodeports", "services.loadbalancers",
)  # fmt: skip
_STANDARD = (
    *_COMPUTE,
    *(f"requests.{name}" for name in (*_COMPUTE, "storage")),
    *(f"limits.{name}" for name in _COMPUTE),
    *_COUNTED,
    "storage",
)


def is_huge_page(name: str) -> bool:
    """Whether a resource is huge pages of some size."""
    return name.startswith(HUGE_PAGES)


def is_native(name: str) -> bool:
    """Whether a resource is Kubernetes' own."""
    return "/" not in name or "kubernetes.io/" in name


def is_extended(name: str) -> bool:
    """Whether a resource is one that others define, such as a GPU."""
    return not is_native(name) and not name.startswith("requests.") and not qualified_name(f"requests.{name}")


def may_overcommit(name: str) -> bool:
    """Whether less may be requested than the limit."""
    return is_native(name) and not is_huge_page(name)


def resource_name(path: str, name: str) -> Errors:
    """Any resource's name."""
    errors = make_errors(path, name, qualified_name(name))
    if not errors and "/" not in name and name not in _STANDARD and not is_huge_page(name):
        return [invalid(path, name, "must be a standard resource type or fully qualified")]
    return errors


def container_resource_name(path: str, name: str) -> Errors:
    """The name of a resource that containers may ask for."""
    errors = resource_name(path, name)
    if "/" not in name:
        if name not in _COMPUTE and not is_huge_page(name):
            errors.append(invalid(path, name, "must be a standard resource for containers"))
    elif not is_native(name) and not is_extended(name):
        errors.append(invalid(path, name, "doesn't follow extended resource name standard"))
    return errors


def pod_resource_name(path: str, name: str) -> Errors:
    """The name of a resource that a pod as a whole may ask for."""
    errors = resource_name(path, name)
    if not errors and name not in ("cpu", "memory") and not is_huge_page(name):
        return [not_supported(path, name, ("cpu", "hugepages-", "memory"))]
    return errors


def resource_amount(path: str, name: str, value: Any) -> Errors:
    """An amount of a resource: not negative, and whole where it is counted."""
    errors: Errors = []
    if amount(value) < 0:
        errors.append(invalid(path, amount_text(value), NOT_NEGATIVE))
    if (name in _COUNTED or is_extended(name)) and (amount(value) * 1000) % 1000 != 0:
        errors.append(invalid(path, amount_text(value), "must be an integer"))
    return errors


def requirements(
    path: str, given: Mapping[str, Any], name_rule: NameRule = container_resource_name
) -> Errors:
    """Requests and limits of a container or a pod."""
    limits, requests = mapping(given, "limits"), mapping(given, "requests")
    errors: Errors = []
    for name, value in pairs(given, "limits"):
        errors += _entry(f"{path}.limits[{name}]", name, value, name_rule)
        errors += _whole_pages(f"{path}.limits[{name}]", name, value)
    for name, value in pairs(given, "requests"):
        errors += _entry(f"{path}.requests[{name}]", name, value, name_rule)
        errors += _within(path, name, value, limits)
        errors += _whole_pages(f"{path}.requests[{name}]", name, value)
    asked = [*limits, *requests]
    if any(map(is_huge_page, asked)) and "cpu" not in asked and "memory" not in asked:
        errors.append(forbidden(path, "HugePages require cpu or memory"))
    return errors


def _entry(path: str, name: str, value: Any, name_rule: NameRule) -> Errors:
    return name_rule(path, name) + resource_amount(path, name, value)


def _within(path: str, name: str, value: Any, limits: Mapping[str, Any]) -> Errors:
    if name not in limits:
        if may_overcommit(name):
            return []
        return [required(f"{path}.limits", "Limit must be set for non overcommitable resources")]
    requested, limit = amount(value), amount(limits[name])
    of = f"{name} limit of {amount_text(limits[name])}"
    if requested != limit and not may_overcommit(name):
        return [invalid(f"{path}.requests", amount_text(value), f"must be equal to {of}")]
    if requested > limit:
        return [invalid(f"{path}.requests", amount_text(value), f"must be less than or equal to {of}")]
    return []


def _whole_pages(path: str, name: str, value: Any) -> Errors:
    if not is_huge_page(name):
        return []
    page = amount(name.removeprefix(HUGE_PAGES))
    if page > 0 and page.denominator == 1 and amount(value) % page == 0:
        return []
    shown = amount_text(value)
    return [invalid(path, shown, f"{shown} is not positive integer multiple of {name}")]


def pod_level(path: str, spec: Mapping[str, Any]) -> Errors:
    """What a pod asks for as a whole, and whether its containers fit into that."""
    given = spec.get("resources")
    if given is None:
        return []
    return requirements(path, given, pod_resource_name) + _containers_fit(path, spec, given)


def _containers_fit(path: str, spec: Mapping[str, Any], given: Mapping[str, Any]) -> Errors:
    errors: Errors = []
    for name, value in pairs(given, "requests"):
        needed = aggregate(spec, "requests", name)
        if needed is not None and amount(needed) > amount(value):
            message = f"must be greater than or equal to aggregate container requests of {needed}"
            errors.append(invalid(f"{path}.requests[{name}]", amount_text(value), message))
    for name, value in pairs(given, "limits"):
        needed = aggregate(spec, "limits", name) if is_huge_page(name) else None
        if needed is not None and amount(needed) > amount(value):
            message = f"must be greater than or equal to aggregate container limits of {needed}"
            errors.append(invalid(f"{path}.limits[{name}]", amount_text(value), message))
    limits = mapping(given, "limits")
    for index, container in enumerate(items(spec, "containers")):
        for name, value in pairs(mapping(container, "resources"), "limits"):
            if name in limits and amount(value) > amount(limits[name]):
                message = f"must be less than or equal to pod limits of {amount_text(limits[name])}"
                at = f"{path}.containers[{index}][{name}].limits"
                errors.append(invalid(at, amount_text(value), message))
    return errors


def aggregate(spec: Mapping[str, Any], kind: str, name: str) -> str | None:
    """What a pod's containers need of a resource in all, as a quantity; None if none names it."""
    total = peak = sidecars = Fraction(0)
    found: str | None = None
    for container in items(spec, "containers"):
        value = mapping(mapping(container, "resources"), kind).get(name)
        if value is not None:
            total, found = total + amount(value), value
    for container in items(spec, "initContainers"):
        value = mapping(mapping(container, "resources"), kind).get(name)
        need = Fraction(0) if value is None else amount(value)
        found = found if value is None else value
        if text(container, "restartPolicy") == "Always":
            total, sidecars = total + need, sidecars + need
            peak = max(peak, sidecars)
        else:
            peak = max(peak, sidecars + need)
    return None if found is None else _in_family(max(total, peak), found)


def _in_family(value: Fraction, like: str) -> str:
    return render(value, "binary" if str(like).endswith("i") else "decimal")
