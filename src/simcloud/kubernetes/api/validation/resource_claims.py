"""The first rules of the resource group: claims to devices, their classes and templates.

Selectors' expressions and the devices of slices are not looked into.
"""

from __future__ import annotations

from simcloud.kubernetes.api.field_errors import duplicate, invalid, not_supported, required, too_many
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.validation.common import (
    IMMUTABLE,
    Errors,
    broken,
    items,
    mapping,
    needed,
    number,
    same,
    text,
)
from simcloud.kubernetes.api.validation.diffs import internal
from simcloud.kubernetes.api.validation.names import dns1123_label, dns1123_subdomain
from simcloud.kubernetes.api.validation.pods.network_volumes import driver_name
from simcloud.kubernetes.api.validation.registry import validates

_GROUP = "resource.k8s.io"
_ALLOCATION_MODES = ("All", "ExactCount")
_MOST_REQUESTS, _MOST_ALTERNATIVES, _MOST_SELECTORS = 32, 8, 32
_ONE_KIND = "exactly one of `exactly` or `firstAvailable` is required"


@validates(_GROUP, "ResourceClaim")
def resource_claim(new: Object, old: Object | None) -> Errors:
    """The rules of a ResourceClaim."""
    if old is not None:
        return _frozen(new, old)
    return _claim("spec.devices", mapping(mapping(new, "spec"), "devices"))


@validates(_GROUP, "ResourceClaimTemplate")
def resource_claim_template(new: Object, old: Object | None) -> Errors:
    """The rules of a ResourceClaimTemplate."""
    if old is not None:
        return _frozen(new, old)
    return _claim("spec.spec.devices", mapping(mapping(mapping(new, "spec"), "spec"), "devices"))


@validates(_GROUP, "DeviceClass")
def device_class(new: Object, old: Object | None) -> Errors:
    """The rules of a DeviceClass."""
    spec = mapping(new, "spec")
    errors = _selectors("spec.selectors", items(spec, "selectors"))
    for index, config in enumerate(items(spec, "config")):
        path, opaque = f"spec.config[{index}]", config.get("opaque")
        if opaque is None:
            errors.append(required(path, "exactly one of the types must be set"))
        else:
            errors += driver_name(f"{path}.opaque.driver", text(opaque, "driver"))
    return errors


@validates(_GROUP, "ResourceSlice")
def resource_slice(new: Object, old: Object | None) -> Errors:
    """The rules of a ResourceSlice."""
    spec = mapping(new, "spec")
    errors = driver_name("spec.driver", text(spec, "driver"))
    errors += needed("spec.pool.name", text(mapping(spec, "pool"), "name"), _pool_name)
    if text(spec, "nodeName"):
        errors += broken("spec.nodeName", spec["nodeName"], dns1123_subdomain(spec["nodeName"]))
    names = [text(device, "name") for device in items(spec, "devices")]
    for index, name in enumerate(names):
        errors += needed(f"spec.devices[{index}].name", name, dns1123_label)
        if name in names[:index]:
            errors.append(duplicate(f"spec.devices[{index}]", name))
    return errors


def _pool_name(value: str) -> list[str]:
    return [told for part in value.split("/") for told in dns1123_subdomain(part)]


def _frozen(new: Object, old: Object) -> Errors:
    unchanged = same(mapping(new, "spec"), mapping(old, "spec"))
    return [] if unchanged else [invalid("spec", internal(mapping(new, "spec")), IMMUTABLE)]


def _claim(path: str, devices: Object) -> Errors:
    requests = items(devices, "requests")
    errors: Errors = []
    if len(requests) > _MOST_REQUESTS:
        errors.append(too_many(f"{path}.requests", len(requests), _MOST_REQUESTS))
    names = [text(request, "name") for request in requests]
    for index, request in enumerate(requests):
        place = f"{path}.requests[{index}]"
        errors += _request(place, request)
        if names[index] in names[:index]:
            errors.append(duplicate(place, names[index]))
    return errors


def _request(path: str, request: Object) -> Errors:
    errors = needed(f"{path}.name", text(request, "name"), dns1123_label)
    exactly, alternatives = request.get("exactly"), items(request, "firstAvailable")
    if len(alternatives) > _MOST_ALTERNATIVES:
        errors.append(too_many(f"{path}.firstAvailable", len(alternatives), _MOST_ALTERNATIVES))
    for index, one in enumerate(alternatives):
        place = f"{path}.firstAvailable[{index}]"
        errors += needed(f"{place}.name", text(one, "name"), dns1123_label)
        errors += _exact(place, one)
    if exactly is not None:
        errors += _exact(f"{path}.exactly", exactly)
    if exactly is None and not alternatives:
        errors.append(required(path, _ONE_KIND))
    elif exactly is not None and alternatives:
        errors.append(invalid(path, "null", f"{_ONE_KIND}, but multiple fields are set"))
    return errors


def _exact(path: str, request: Object) -> Errors:
    errors = needed(f"{path}.deviceClassName", text(request, "deviceClassName"), dns1123_subdomain)
    errors += _selectors(f"{path}.selectors", items(request, "selectors"))
    mode, count = text(request, "allocationMode"), number(request, "count")
    if mode == "All" and count != 0:
        told = "must not be specified when allocationMode is 'All'"
        errors.append(invalid(f"{path}.count", count, told))
    elif mode == "ExactCount" and count <= 0:
        errors.append(invalid(f"{path}.count", count, "must be greater than zero"))
    elif mode not in _ALLOCATION_MODES:
        errors.append(not_supported(f"{path}.allocationMode", mode, _ALLOCATION_MODES))
    return errors


def _selectors(path: str, selectors: list[Object]) -> Errors:
    errors: Errors = []
    if len(selectors) > _MOST_SELECTORS:
        errors.append(too_many(path, len(selectors), _MOST_SELECTORS))
    for index, selector in enumerate(selectors):
        if selector.get("cel") is None:
            errors.append(required(f"{path}[{index}].cel"))
        elif not text(selector["cel"], "expression").strip():
            errors.append(required(f"{path}[{index}].cel.expression"))
    return errors
