"""The addresses of a Service: its own, the families they belong to, and those it is reached from."""

from __future__ import annotations

from simcloud.kubernetes.api.field_errors import duplicate, forbidden, invalid, not_supported, required
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.validation import addresses
from simcloud.kubernetes.api.validation.common import Errors

SERVED_FAMILIES = ("IPv4",)
"""The families of addresses this cluster has."""

ONCE = "may not change once set"
ONLY_LOAD_BALANCER = "may only be used when `type` is 'LoadBalancer'"

_FAMILIES = ["IPv4", "IPv6"]
_FAMILY_POLICIES = ["PreferDualStack", "RequireDualStack", "SingleStack"]


def is_headless(spec: Object) -> bool:
    """Whether a Service has no address of its own."""
    return spec.get("clusterIPs") == ["None"]


def check_cluster_ips_update(spec: Object, before: Object) -> Errors:
    """The address of a Service stays."""
    now: list[str] = spec.get("clusterIPs") or []
    had: list[str] = before.get("clusterIPs") or []
    if not had or now[:1] == had[:1]:
        return []
    message = ONCE if now else "primary clusterIP can not be unset"
    return [invalid("spec.clusterIPs[0]", spec.get("clusterIPs"), message)]


def cluster_ips(spec: Object) -> Errors:
    """The addresses of a Service inside the cluster."""
    if spec.get("type") == "ExternalName":
        return []
    first, values = spec.get("clusterIP", ""), spec.get("clusterIPs") or []
    path = "spec.clusterIPs"
    errors = []
    if first and not values:
        errors.append(required(path))
    elif first and values[0] != first:
        errors.append(invalid(path, values, "first value must match `clusterIP`"))
    elif values and not first:
        errors.append(invalid(path, values, "must be empty when `clusterIP` is not specified"))
    errors += _families(spec)
    for index, value in enumerate(values):
        if index or value != "None":
            errors += addresses.legacy_ip(f"{path}[{index}]", value)
        elif len(values) > 1:
            errors.append(invalid(path, values, "'None' must be the first and only value"))
    if len(values) > 2:
        errors.append(invalid(path, values, "may only hold up to 2 values"))
    return errors


def _families(spec: Object) -> Errors:
    errors = []
    seen: list[str] = []
    for index, family in enumerate(spec.get("ipFamilies") or []):
        if family not in _FAMILIES:
            errors.append(not_supported(f"spec.ipFamilies[{index}]", family, _FAMILIES))
        if family in seen:
            errors.append(duplicate(f"spec.ipFamilies[{index}]", family))
        seen.append(family)
    policy = spec.get("ipFamilyPolicy")
    if policy is not None and policy not in _FAMILY_POLICIES:
        errors.append(not_supported("spec.ipFamilyPolicy", policy, _FAMILY_POLICIES))
    return errors


def families_served(spec: Object, before: Object) -> Errors:
    """What this cluster cannot give a Service: another family of addresses, or two."""
    if spec.get("type") == "ExternalName":
        return []
    values, families = spec.get("clusterIPs") or [], spec.get("ipFamilies") or []
    unselected = is_headless(spec) and not spec.get("selector")
    policy = spec.get("ipFamilyPolicy") or before.get("ipFamilyPolicy")
    policy = policy or ("RequireDualStack" if unselected else "SingleStack")
    errors: Errors = []
    for index, value in enumerate(values):
        family = "IPv6" if addresses.is_ipv6(value) else "IPv4"
        if value != "None" and index >= len(families) and family not in SERVED_FAMILIES:
            message = f"{family} is not configured on this cluster"
            errors.append(invalid(f"spec.clusterIPs[{index}]", values, message))
    if errors or unselected:
        return errors
    if policy == "RequireDualStack":
        message = "this cluster is not configured for dual-stack services"
        errors.append(invalid("spec.ipFamilyPolicy", policy, message))
    return errors + [
        invalid(f"spec.ipFamilies[{index}]", family, "not configured on this cluster")
        for index, family in enumerate(families)
        if family not in SERVED_FAMILIES
    ]


def external_ips(spec: Object) -> Errors:
    """The addresses of a Service outside the cluster."""
    errors: Errors = []
    for index, value in enumerate(spec.get("externalIPs") or []):
        path = f"spec.externalIPs[{index}]"
        errors += addresses.legacy_ip(path, value) or addresses.non_special_ip(path, value)
    return errors


def source_ranges(spec: Object) -> Errors:
    """The networks that may reach a load balancer."""
    ranges = spec.get("loadBalancerSourceRanges") or []
    # The genuine server spells this path with a capital letter.
    path = "spec.LoadBalancerSourceRanges"
    errors: Errors = []
    if ranges and spec.get("type") != "LoadBalancer":
        errors.append(forbidden(path, ONLY_LOAD_BALANCER))
    for index, value in enumerate(ranges):
        errors += addresses.legacy_cidr(f"{path}[{index}]", value.strip())
    return errors
