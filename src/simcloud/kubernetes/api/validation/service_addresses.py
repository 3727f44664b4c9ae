"""The addresses of a Service: its own, the families they belong to, and those it is reached from."""

from __future__ import annotations

from simcloud.kubernetes.api.field_errors import duplicate, forbidden, invalid, not_supported, required
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.validation import addresses
from simcloud.kubernetes.api.validation.common import Errors

SERVED_FAMILIES = ("IPv4",)
"""The families of addresses this cluster has."""

ONCE = "may not change once set"
ONLY_LOAD_BALANCER = "may only be used when `type` is 'LoadBalancer'"

_FAMILIES = ["IPv4", "IPv6"]
_FAMILY_POLICIES = ["PreferDualStack", "RequireDualStack", "SingleStack"]
_SOURCE_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"


def is_headless(spec: Object) -> bool:
    """Whether a Service has no address of its own."""
    return spec.get("clusterIPs") == ["None"]


def changed_cluster_ips(spec: Object, before: Object) -> Errors:
    """The addresses of a Service stay, but a second one may come and go."""
    now: list[str] = spec.get("clusterIPs") or []
    had: list[str] = before.get("clusterIPs") or []
    given = spec.get("clusterIPs")
    if len(now) == len(had):
        pairs = enumerate(zip(had, now, strict=True))
        return [invalid(f"spec.clusterIPs[{i}]", given, ONCE) for i, (old, new) in pairs if old != new]
    errors = []
    if not now:
        errors.append(invalid("spec.clusterIPs[0]", given, "primary clusterIP can not be unset"))
    elif had and now[0] != had[0]:
        errors.append(invalid("spec.clusterIPs[0]", given, ONCE))
    if len(had) > len(now) == 1 and spec.get("ipFamilyPolicy") != "SingleStack":
        told = "must be set to 'SingleStack' when releasing the secondary clusterIP"
        errors.append(invalid("spec.ipFamilyPolicy", spec.get("ipFamilyPolicy", "null"), told))
    return errors


def changed_families(spec: Object, before: Object) -> Errors:
    """The families of a Service's addresses stay, but a second one may come and go."""
    now: list[str] = spec.get("ipFamilies") or []
    had: list[str] = before.get("ipFamilies") or []
    if len(now) == len(had):
        return [
            invalid("spec.ipFamilies[0]", now, ONCE) for old, new in zip(had, now, strict=True) if old != new
        ]
    errors = []
    if len(had) > len(now) and not spec.get("clusterIPs"):
        told = "primary ipFamily can not be unset"
        errors.append(invalid("spec.ipFamilies[0]", spec.get("ipFamilies"), told))
    if now and had and now[0] != had[0]:
        errors.append(invalid("spec.ipFamilies[0]", spec.get("clusterIPs"), ONCE))
    if len(had) > len(now) == 1 and spec.get("ipFamilyPolicy") != "SingleStack":
        told = "must be set to 'SingleStack' when releasing the secondary ipFamily"
        errors.append(invalid("spec.ipFamilyPolicy", spec.get("ipFamilyPolicy", "null"), told))
    return errors


def cluster_ips(spec: Object, had: list[str]) -> Errors:
    """The addresses of a Service inside the cluster; those it ``had`` are taken as they are."""
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
    wrong: Errors = []
    for index, value in enumerate(values):
        if index or value != "None":
            wrong += addresses.legacy_ip(f"{path}[{index}]", value, had)
        elif len(values) > 1:
            wrong.append(invalid(path, values, "'None' must be the first and only value"))
    errors += wrong
    if len(values) > 2:
        errors.append(invalid(path, values, "may only hold up to 2 values"))
    if wrong:
        return errors
    if len(values) > 1 and not addresses.one_of_each_family(values):
        errors.append(invalid(path, values, "may specify no more than one IP for each IP family"))
    return errors if is_headless(spec) else errors + _families_fit(spec)


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


def _families_fit(spec: Object) -> Errors:
    pairs = zip(spec.get("clusterIPs") or [], spec.get("ipFamilies") or [], strict=False)
    return [
        invalid(
            f"spec.clusterIPs[{index}]",
            address,
            f"expected an {family} value as indicated by `ipFamilies[{index}]`",
        )
        for index, (address, family) in enumerate(pairs)
        if family in _FAMILIES and (family == "IPv6") != addresses.is_ipv6(address)
    ]


def families_served(spec: Object, before: Object) -> Errors:
    """What this cluster cannot give a Service: a family of addresses, or two at once."""
    if spec.get("type") == "ExternalName":
        return []
    values, families = spec.get("clusterIPs") or [], spec.get("ipFamilies") or []
    unselected = is_headless(spec) and not spec.get("selector")
    policy = spec.get("ipFamilyPolicy") or before.get("ipFamilyPolicy")
    policy = policy or ("RequireDualStack" if unselected else "SingleStack")
    errors = _two_at_once(policy, values, families)
    for index, value in enumerate(values):
        family = "IPv6" if addresses.is_ipv6(value) else "IPv4"
        if value != "None" and index >= len(families) and family not in SERVED_FAMILIES:
            told = f"{family} is not configured on this cluster"
            errors.append(invalid(f"spec.clusterIPs[{index}]", values, told))
    if errors or unselected:
        return errors
    if policy == "RequireDualStack":
        told = "this cluster is not configured for dual-stack services"
        errors.append(invalid("spec.ipFamilyPolicy", policy, told))
    return errors + [
        invalid(f"spec.ipFamilies[{index}]", family, "not configured on this cluster")
        for index, family in enumerate(families)
        if family not in SERVED_FAMILIES
    ]


def _two_at_once(policy: str, values: list[str], families: list[str]) -> Errors:
    told = "must be 'RequireDualStack' or 'PreferDualStack' when multiple {} are specified"
    return [
        invalid("spec.ipFamilyPolicy", policy, told.format(what))
        for what, given in (("cluster IPs", values), ("IP families", families))
        if policy == "SingleStack" and len(given) == 2
    ]


def external_ips(spec: Object, had: list[str]) -> Errors:
    """The addresses of a Service outside the cluster."""
    errors: Errors = []
    for index, value in enumerate(spec.get("externalIPs") or []):
        path = f"spec.externalIPs[{index}]"
        errors += addresses.legacy_ip(path, value, had) or addresses.non_special_ip(path, value)
    return errors


def source_ranges(new: Object, old: Object | None) -> Errors:
    """The networks that may reach a load balancer, as a field or as an annotation."""
    kind = at(new, "spec", "type")
    ranges = at(new, "spec", "loadBalancerSourceRanges", default=None)
    errors: Errors = []
    if ranges:
        # The genuine server spells this path with a capital letter.
        path = "spec.LoadBalancerSourceRanges"
        if kind != "LoadBalancer":
            errors.append(forbidden(path, ONLY_LOAD_BALANCER))
        had = [one.strip() for one in at(old, "spec", "loadBalancerSourceRanges", default=None) or []]
        for index, value in enumerate(ranges):
            errors += addresses.legacy_cidr(f"{path}[{index}]", value.strip(), had)
        return errors
    annotation = at(new, "metadata", "annotations", _SOURCE_RANGES)
    if annotation is None:
        return []
    path = f"metadata.annotations[{_SOURCE_RANGES}]"
    if kind != "LoadBalancer":
        errors.append(forbidden(path, ONLY_LOAD_BALANCER))
    if annotation.strip() and annotation != at(old, "metadata", "annotations", _SOURCE_RANGES):
        for value in annotation.strip().split(","):
            errors += addresses.legacy_cidr(path, value.strip())
    return errors
