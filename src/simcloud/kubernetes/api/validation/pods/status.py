"""What a pod's status may tell, and how it may change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simcloud.kubernetes.api.field_errors import duplicate, forbidden, invalid
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.validation.common import Errors, broken, immutable, items, mapping, number, text
from simcloud.kubernetes.api.validation.names import dns1123_subdomain, ip, qualified_name, read_ip

_SYSTEM_CONDITIONS = ("PodScheduled", "Ready", "Initialized")
_NOT_NEGATIVE = "must be a non-negative integer"


def changed_status(new: Object, old: Object) -> Errors:
    """What a change of a pod's status breaks."""
    status, former = mapping(new, "status"), mapping(old, "status")
    spec, old_spec = mapping(new, "spec"), mapping(old, "spec")
    errors = _conditions("status.conditions", items(status, "conditions"))
    if text(spec, "nodeName") != text(old_spec, "nodeName"):
        errors.append(forbidden("status.nodeName", "may not be changed directly"))
    errors += _nominated(text(status, "nominatedNodeName"), text(former, "nominatedNodeName"), old_spec)
    if number(status, "observedGeneration") < 0:
        errors.append(invalid("status.observedGeneration", status["observedGeneration"], _NOT_NEGATIVE))
    errors += immutable("status.qosClass", status.get("qosClass", ""), former.get("qosClass", ""))
    for key, containers in (("containerStatuses", "containers"), ("initContainerStatuses", "initContainers")):
        errors += _transitions(f"status.{key}", items(status, key), items(former, key), old_spec, containers)
    key = "ephemeralContainerStatuses"
    errors += _transitions(f"status.{key}", items(status, key), items(former, key), old_spec, "")
    errors += _claims("status.resourceClaimStatuses", items(status, "resourceClaimStatuses"), spec)
    return errors + _pod_ips(status) + _host_ips(status)


def _nominated(new: str, old: str, spec: Mapping[str, Any]) -> Errors:
    if not new or new == old:
        return []
    path = "status.nominatedNodeName"
    errors = broken(path, new, dns1123_subdomain(new))
    if text(spec, "nodeName"):
        errors.append(forbidden(path, "may not be set on pods that are already bound to a node"))
    return errors


def _conditions(path: str, conditions: list[Any]) -> Errors:
    errors: Errors = []
    for index, condition in enumerate(conditions):
        at, kind = f"{path}[{index}]", text(condition, "type")
        if number(condition, "observedGeneration") < 0:
            seen = condition["observedGeneration"]
            errors.append(invalid(f"{at}.observedGeneration", seen, _NOT_NEGATIVE))
        if kind not in _SYSTEM_CONDITIONS:
            errors += broken(f"{at}.Type", kind, qualified_name(kind))
    return errors


def _transitions(
    path: str, new: list[Any], old: list[Any], spec: Mapping[str, Any], containers: str
) -> Errors:
    """A container that ended for good does not start again. Ephemeral ones (no key) always end for good."""
    errors: Errors = []
    now, by_name = _by_name(new), _by_name(items(spec, containers))
    for index, former in enumerate(old):
        ended = mapping(former, "state").get("terminated")
        if ended is None:
            continue
        name = text(former, "name")
        again = now.get(name)
        if again is None or mapping(again, "state").get("terminated") is not None:
            continue
        container = by_name.get(name)
        if container is None or not _restarts(container, spec, containers, number(ended, "exitCode")):
            told = "may not be transitioned to non-terminated state"
            errors.append(forbidden(f"{path}[{index}].state", told))
    return errors


def _by_name(given: list[Any]) -> dict[str, Any]:
    """The first of each name."""
    return {text(one, "name"): one for one in reversed(given)}


def _restarts(container: Mapping[str, Any], spec: Mapping[str, Any], kind: str, exit_code: int) -> bool:
    for rule in items(container, "restartPolicyRules"):
        codes = mapping(rule, "exitCodes")
        listed = exit_code in items(codes, "values")
        if listed == (text(codes, "operator") == "In"):
            return True
    policy = text(container, "restartPolicy") or text(spec, "restartPolicy")
    if not text(container, "restartPolicy") and kind == "initContainers" and policy == "Always":
        policy = "OnFailure"
    return policy == "Always" or (policy == "OnFailure" and exit_code != 0)


def _claims(path: str, statuses: list[Any], spec: Mapping[str, Any]) -> Errors:
    known = {text(claim, "name") for claim in items(spec, "resourceClaims")}
    errors: Errors = []
    seen: set[str] = set()
    for index, status in enumerate(statuses):
        at, name = f"{path}[{index}]", text(status, "name")
        if name not in known:
            told = "must match the name of an entry in `spec.resourceClaims`"
            errors.append(invalid(f"{at}.name", name, told))
        if name in seen:
            errors.append(duplicate(f"{at}.name", name))
        seen.add(name)
        claim = status.get("resourceClaimName")
        if claim is not None:
            errors += broken(f"{at}.resourceClaimName", claim, dns1123_subdomain(claim))
    return errors


def _pod_ips(status: Mapping[str, Any]) -> Errors:
    path, addresses = "status.podIPs", items(status, "podIPs")
    errors = _addresses(path, addresses)
    first = text(status, "podIP")
    if bool(first) != bool(addresses):
        told = "podIP and podIPs must either both be set or both be unset"
        errors.append(invalid(path, _as_go(addresses), told))
    elif addresses and first != text(addresses[0], "ip"):
        errors.append(invalid(f"{path}[0].ip", text(addresses[0], "ip"), "must be equal to `podIP`"))
    return errors


def _host_ips(status: Mapping[str, Any]) -> Errors:
    path, addresses = "status.hostIPs", items(status, "hostIPs")
    if not addresses:
        return []
    first = text(addresses[0], "ip")
    errors: Errors = []
    if text(status, "hostIP") != first:
        errors.append(invalid(f"{path}[0].ip", first, "must be equal to `hostIP`"))
    return errors + _addresses(path, addresses)


def _addresses(path: str, addresses: list[Any]) -> Errors:
    errors: Errors = []
    for index, address in enumerate(addresses):
        errors += broken(f"{path}[{index}]", text(address, "ip"), ip(text(address, "ip")))
    families = [found.version for one in addresses if (found := read_ip(text(one, "ip")))]
    if len(addresses) > 1 and sorted(families) != [4, 6]:
        told = "may specify no more than one IP for each IP family"
        errors.append(invalid(path, _as_go(addresses), told))
    return errors


def _as_go(addresses: list[Any]) -> list[dict[str, str]] | None:
    return [{"IP": text(one, "ip")} for one in addresses] or None
