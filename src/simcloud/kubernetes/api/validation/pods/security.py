"""Security contexts of pods and containers: users, profiles, kernel settings, Windows options."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from simcloud.kubernetes.api.field_errors import (
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from simcloud.kubernetes.api.validation.common import Errors, broken, items, mapping, one_of, text
from simcloud.kubernetes.api.validation.gotypes import as_go
from simcloud.kubernetes.api.validation.names import dns1123_subdomain, group_id, size, user_id
from simcloud.kubernetes.api.validation.pods.paths import descending

_PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")
_SEGMENT = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL = rf"({_SEGMENT}[\./])*{_SEGMENT}"
_SYSCTL_SEGMENT = re.compile(_SEGMENT)
_IPC_SYSCTLS = ("kernel.shm", "kernel.msg", "fs.mqueue.")
_PROFILE_LIMIT_BYTES = 4095
_CREDENTIAL_LIMIT_BYTES = 64 * 1024
_NETBIOS = re.compile(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}')
_DNS_LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_DNS_NAME = re.compile(rf"{_DNS_LABEL}(?:\.{_DNS_LABEL})*")


def of_pod(path: str, given: Mapping[str, Any] | None, spec: Mapping[str, Any]) -> Errors:
    """A pod's ``securityContext``."""
    if given is None:
        return []
    errors: Errors = []
    for key, rule in (("fsGroup", group_id), ("runAsUser", user_id), ("runAsGroup", group_id)):
        if given.get(key) is not None:
            errors += broken(f"{path}.{key}", given[key], rule(given[key]))
    for index, group in enumerate(items(given, "supplementalGroups")):
        errors += broken(f"{path}.supplementalGroups[{index}]", group, group_id(group))
    errors += _sysctls(f"{path}.sysctls", items(given, "sysctls"), spec)
    errors += _choice(path, given, "fsGroupChangePolicy", ("Always", "OnRootMismatch"))
    errors += _seccomp(f"{path}.seccompProfile", given.get("seccompProfile"))
    errors += _windows(f"{path}.windowsOptions", given.get("windowsOptions"))
    errors += _app_armor(f"{path}.appArmorProfile", given.get("appArmorProfile"))
    errors += _choice(path, given, "supplementalGroupsPolicy", ("Merge", "Strict"))
    return errors + _choice(path, given, "seLinuxChangePolicy", ("MountOption", "Recursive"))


def _choice(path: str, given: Mapping[str, Any], key: str, supported: tuple[str, ...]) -> Errors:
    value = given.get(key)
    return [] if value is None else one_of(f"{path}.{key}", value, supported)


def of_container(path: str, given: Mapping[str, Any] | None, host_users: bool) -> Errors:
    """A container's ``securityContext``."""
    if given is None:
        return []
    errors: Errors = []
    for key, rule in (("runAsUser", user_id), ("runAsGroup", group_id)):
        if given.get(key) is not None:
            errors += broken(f"{path}.{key}", given[key], rule(given[key]))
    mount = given.get("procMount")
    if mount is not None:
        errors += one_of(f"{path}.procMount", mount, ("Default", "Unmasked"))
        if host_users and mount == "Unmasked":
            told = "`hostUsers` must be false to use `Unmasked`"
            errors.append(invalid(f"{path}.procMount", mount, told))
    errors += _seccomp(f"{path}.seccompProfile", given.get("seccompProfile"))
    errors += _escalation(path, given)
    errors += _windows(f"{path}.windowsOptions", given.get("windowsOptions"))
    return errors + _app_armor(f"{path}.appArmorProfile", given.get("appArmorProfile"))


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
        told = "can only be set when seccomp type is Localhost"
        errors.append(invalid(at, {"Type": kind, "LocalhostProfile": local}, told))
    return errors


def _app_armor(path: str, profile: Mapping[str, Any] | None) -> Errors:
    if profile is None:
        return []
    kind, local = text(profile, "type"), profile.get("localhostProfile")
    at = f"{path}.localhostProfile"
    if kind == "Localhost":
        return _app_armor_name(at, local)
    if kind in _PROFILES:
        told = "can only be set when AppArmor type is Localhost"
        return [] if local is None else [invalid(at, local, told)]
    if not kind:
        return [required(f"{path}.type", "type is required when appArmorProfile is set")]
    return [not_supported(f"{path}.type", kind, _PROFILES)]


def _app_armor_name(path: str, name: str | None) -> Errors:
    missing = required(path, "must be set when AppArmor type is Localhost")
    if name is None:
        return [missing]
    errors: Errors = []
    if name.strip() != name:
        errors.append(invalid(path, name, "must not be padded with whitespace"))
    elif not name:
        errors.append(missing)
    if size(name) > _PROFILE_LIMIT_BYTES:
        errors.append(too_long(path, _PROFILE_LIMIT_BYTES))
    return errors


def _sysctls(path: str, given: list[Any], spec: Mapping[str, Any]) -> Errors:
    errors: Errors = []
    seen: set[str] = set()
    for index, sysctl in enumerate(given):
        at, name = f"{path}[{index}].name", text(sysctl, "name")
        if not name:
            errors.append(required(at))
        elif size(name) > 253 or not _is_sysctl(name):
            told = f"must have at most 253 characters and match regex ^{_SYSCTL}$"
            errors.append(invalid(at, name, told))
        elif name in seen:
            errors.append(duplicate(at, name))
        errors += _shared_with_host(at, name, spec)
        seen.add(name)
    return errors


def _is_sysctl(name: str) -> bool:
    return all(_SYSCTL_SEGMENT.fullmatch(part) for part in re.split(r"[./]", name))


def _shared_with_host(path: str, sysctl: str, spec: Mapping[str, Any]) -> Errors:
    dotted = sysctl.replace("/", ".") if "/" in sysctl.partition(".")[0] else sysctl
    if spec.get("hostNetwork") and dotted.startswith("net."):
        return [invalid(path, sysctl, "may not be specified when 'hostNetwork' is true")]
    if spec.get("hostIPC") and (dotted == "kernel.sem" or dotted.startswith(_IPC_SYSCTLS)):
        return [invalid(path, sysctl, "may not be specified when 'hostIPC' is true")]
    return []


def _windows(path: str, options: Mapping[str, Any] | None) -> Errors:
    if options is None:
        return []
    errors: Errors = []
    name = options.get("gmsaCredentialSpecName")
    if name is not None:
        errors += broken(f"{path}.gmsaCredentialSpecName", name, dns1123_subdomain(name))
    spec = options.get("gmsaCredentialSpec")
    if spec is not None:
        at = f"{path}.gmsaCredentialSpec"
        if not spec:
            errors.append(invalid(at, spec, "gmsaCredentialSpec cannot be an empty string"))
        elif size(spec) > _CREDENTIAL_LIMIT_BYTES:
            errors.append(invalid(at, spec, "gmsaCredentialSpec size must be under 64 KiB"))
    user = options.get("runAsUserName")
    if user is not None:
        errors += broken(f"{path}.runAsUserName", user, _windows_user(user))
    return errors


def _windows_user(name: str) -> list[str]:
    if not name:
        return ["runAsUserName cannot be an empty string"]
    if any(ord(char) < 32 or ord(char) == 127 for char in name):
        return ["runAsUserName cannot contain control characters"]
    if name.count("\\") > 1:
        return ["runAsUserName cannot contain more than one backslash"]
    domain, backslash, user = name.rpartition("\\")
    told = []
    if size(domain) >= 256:
        told.append("runAsUserName's Domain length must be under 256 characters")
    if backslash and not (_NETBIOS.fullmatch(domain) or _DNS_NAME.fullmatch(domain)):
        told.append("runAsUserName's Domain doesn't match the NetBios nor the DNS format")
    if not user:
        told.append("runAsUserName's User cannot be empty")
    elif size(user) > 104:
        told.append("runAsUserName's User length must not be longer than 104 characters")
    if user and not user.strip(". "):
        told.append("runAsUserName's User cannot contain only periods or spaces")
    if any(char in '"/\\:;|=,+*?<>@[]' for char in user):
        told.append("runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]")
    return told


def host_process(path: str, spec: Mapping[str, Any], containers: list[Any]) -> Errors:
    """Windows containers that run as processes of the host: all of a pod's or none."""
    pod = _host_process_of(spec)
    errors: Errors = []
    hosted = 0
    for at, container in containers:
        own = _host_process_of(container)
        if pod is not None and own is not None and pod != own:
            told = f"pod hostProcess value must be identical if both are specified, was {str(pod).lower()}"
            errors.append(invalid(f"{at}.securityContext.windowsOptions.hostProcess", own, told))
        hosted += bool(own if own is not None else pod)
    if not hosted:
        return errors
    if hosted != len(containers):
        told = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
        errors.append(invalid(path, "", told))
    if not spec.get("hostNetwork"):
        told = "hostNetwork must be true if pod contains any hostProcess containers"
        errors.append(invalid(f"{path}.hostNetwork", False, told))
    return errors


def _host_process_of(given: Mapping[str, Any]) -> bool | None:
    options = mapping(mapping(given, "securityContext"), "windowsOptions")
    found: bool | None = options.get("hostProcess")
    return found


_NOT_ON_WINDOWS = (
    *("appArmorProfile", "seLinuxOptions", "seccompProfile", "fsGroup", "fsGroupChangePolicy", "sysctls"),
    *("runAsUser", "runAsGroup", "supplementalGroups", "supplementalGroupsPolicy", "seLinuxChangePolicy"),
)
_NOT_IN_WINDOWS_CONTAINERS = (
    *("appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem"),
    *("privileged", "allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup"),
)


def for_os(path: str, spec: Mapping[str, Any], containers: list[Any]) -> Errors:
    """A pod's system, and what cannot be set on it."""
    given = spec.get("os")
    if given is None:
        return []
    name = text(given, "name")
    if not name:
        return [required(f"{path}.os.name")]
    if name == "linux":
        told = "windows options cannot be set for a linux pod"
        return [
            forbidden(f"{at}.securityContext.windowsOptions", told)
            for at, holder in [(path, spec), *containers]
            if mapping(holder, "securityContext").get("windowsOptions") is not None
        ]
    if name == "windows":
        return _on_windows(path, spec, containers)
    return [not_supported(f"{path}.os", name, ("linux", "windows"))]


def _on_windows(path: str, spec: Mapping[str, Any], containers: list[Any]) -> Errors:
    told = "cannot be set for a windows pod"
    context = mapping(spec, "securityContext")
    errors = [
        forbidden(f"{path}.securityContext.{key}", told)
        for key in _NOT_ON_WINDOWS
        if context.get(key) not in (None, [])
    ]
    errors += [
        forbidden(f"{path}.{key}", told)
        for key in ("hostUsers", "hostPID", "hostIPC", "shareProcessNamespace")
        if spec.get(key) or (spec.get(key) is False and key in ("hostUsers", "shareProcessNamespace"))
    ]
    for at, container in containers:
        own = mapping(container, "securityContext")
        errors += [
            forbidden(f"{at}.securityContext.{key}", told)
            for key in _NOT_IN_WINDOWS_CONTAINERS
            if own.get(key) is not None
        ]
    return errors
