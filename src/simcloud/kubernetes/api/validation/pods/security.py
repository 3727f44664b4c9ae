"""Security contexts of pods and containers: users and profiles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simcloud.kubernetes.api.field_errors import invalid, not_supported, required
from simcloud.kubernetes.api.validation.common import Errors, items, make_errors, mapping, one_of, text
from simcloud.kubernetes.api.validation.go_types import as_go
from simcloud.kubernetes.api.validation.names import group_id, user_id
from simcloud.kubernetes.api.validation.pods.volumes import descending

_PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")


def of_pod(path: str, given: Mapping[str, Any] | None) -> Errors:
    """A pod's ``securityContext``."""
    if given is None:
        return []
    errors: Errors = []
    for key, rule in (("fsGroup", group_id), ("runAsUser", user_id), ("runAsGroup", group_id)):
        if given.get(key) is not None:
            errors += make_errors(f"{path}.{key}", given[key], rule(given[key]))
    for index, group in enumerate(items(given, "supplementalGroups")):
        errors += make_errors(f"{path}.supplementalGroups[{index}]", group, group_id(group))
    policy = given.get("fsGroupChangePolicy")
    if policy is not None:
        errors += one_of(f"{path}.fsGroupChangePolicy", policy, ("Always", "OnRootMismatch"))
    return errors + _seccomp(f"{path}.seccompProfile", given.get("seccompProfile"))


def of_container(path: str, given: Mapping[str, Any] | None) -> Errors:
    """A container's ``securityContext``."""
    if given is None:
        return []
    errors: Errors = []
    for key, rule in (("runAsUser", user_id), ("runAsGroup", group_id)):
        if given.get(key) is not None:
            errors += make_errors(f"{path}.{key}", given[key], rule(given[key]))
    errors += _seccomp(f"{path}.seccompProfile", given.get("seccompProfile"))
    return errors + _escalation(path, given)


def _escalation(path: str, given: Mapping[str, Any]) -> Errors:
    if given.get("allowPrivilegeEscalation") is not False:
        return []
    start = "cannot set `allowPrivilegeEscalation` to false and"
    shown = as_go("SecurityContext", given)
    errors: Errors = []
    if given.get("privileged"):
        errors.append(invalid(path, shown, f"{start} `privileged` to true"))
    if "CAP_SYS_ADMIN" in items(mapping(given, "capabilities"), "add"):
        errors.append(invalid(path, shown, f"{start} `capabilities.Add` CAP_SYS_ADMIN"))
    return errors


def _seccomp(path: str, profile: Mapping[str, Any] | None) -> Errors:
    if profile is None:
        return []
    kind, local = text(profile, "type"), profile.get("localhostProfile")
    errors: Errors = []
    if not kind:
        errors.append(required(f"{path}.type", "type is required when seccompProfile is set"))
    elif kind not in _PROFILES:
        errors.append(not_supported(f"{path}.type", kind, _PROFILES))
    at = f"{path}.localhostProfile"
    if kind == "Localhost":
        if local is None:
            return [*errors, required(at, "must be set when seccomp type is Localhost")]
        return errors + descending(at, local)
    if local is not None:
        message = "can only be set when seccomp type is Localhost"
        errors.append(invalid(at, {"Type": kind, "LocalhostProfile": local}, message))
    return errors
