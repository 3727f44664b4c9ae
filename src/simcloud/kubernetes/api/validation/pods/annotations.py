"""Annotations that pods give a meaning to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simcloud.kubernetes.api.field_errors import forbidden, invalid, shown
from simcloud.kubernetes.api.validation.common import Errors, mapping, text
from simcloud.kubernetes.api.validation.pods.paths import descending
from simcloud.kubernetes.api.validation.pods.spec import each_container

MIRROR = "kubernetes.io/config.mirror"
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
_LOCAL = "localhost/"


def annotations_of_pod(path: str, given: Mapping[str, str] | None, spec: Mapping[str, Any]) -> Errors:
    """The values of a pod's or template's special annotations."""
    have = given or {}
    errors: Errors = []
    if MIRROR in have and not text(spec, "nodeName"):
        told = "must set spec.nodeName if mirror pod annotation is set"
        errors.append(invalid(f"{path}[{MIRROR}]", have[MIRROR], told))
    if DELETION_COST in have and not _is_cost(have[DELETION_COST]):
        errors.append(invalid(f"{path}[{DELETION_COST}]", have[DELETION_COST], "must be a 32bit integer"))
    if SECCOMP_POD in have:
        errors += _seccomp(f"{path}.{SECCOMP_POD}", have[SECCOMP_POD])
    for key in sorted(have):
        if key.startswith(SECCOMP_CONTAINER):
            errors += _seccomp(f"{path}.{key}", have[key])
    names = {text(container, "name") for _, container in each_container("", spec)}
    for key in sorted(have):
        if key.startswith(APP_ARMOR):
            errors += _app_armor(f"{path}[{key}]", key.removeprefix(APP_ARMOR), have[key], names)
    return errors


def _is_cost(value: str) -> bool:
    digits = value.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > 10:
        return False
    starts_well = value == "0" or value.startswith("-") or value[0] != "0"
    return starts_well and -(2**31) <= int(value) < 2**31


def _seccomp(path: str, profile: str) -> Errors:
    if profile in ("runtime/default", "docker/default", "unconfined"):
        return []
    if profile.startswith(_LOCAL):
        return descending(path, profile.removeprefix(_LOCAL))
    return [invalid(path, profile, "must be a valid seccomp profile")]


def _app_armor(path: str, container: str, profile: str, names: set[str]) -> Errors:
    errors = [] if container in names else [invalid(path, container, "container not found")]
    if profile not in ("", "runtime/default", "unconfined") and not profile.startswith(_LOCAL):
        errors.append(invalid(path, profile, f"invalid AppArmor profile name: {shown(profile)}"))
    return errors


def changed_annotations(path: str, new: Mapping[str, str] | None, old: Mapping[str, str] | None) -> Errors:
    """What of a pod's annotations must stay."""
    after, before = new or {}, old or {}
    errors: Errors = []
    for key in sorted(before):
        if after.get(key) != before[key]:
            errors += _fixed(
                path, key, "may not remove or update AppArmor annotations", "may not remove or update"
            )
    for key in sorted(after):
        if key not in before:
            errors += _fixed(path, key, "may not add AppArmor annotations", "may not add")
    return errors


def _fixed(path: str, key: str, told_profile: str, verb: str) -> Errors:
    if key.startswith(APP_ARMOR):
        return [forbidden(f"{path}[{key}]", told_profile)]
    return [forbidden(f"{path}[{key}]", f"{verb} mirror pod annotation")] if key == MIRROR else []


def profiles_agree(path: str, given: Mapping[str, str] | None, spec: Mapping[str, Any]) -> Errors:
    """Where a profile is told by an annotation and by a field, both must tell the same."""
    have = given or {}
    pod = mapping(spec, "securityContext")
    errors: Errors = []
    if SECCOMP_POD in have:
        profile = pod.get("seccompProfile")
        errors += _agree(f"{path}.securityContext.seccompProfile", "seccomp", profile, have[SECCOMP_POD])
    every = each_container(path, spec)
    for at, container in every:
        annotation = have.get(f"{SECCOMP_CONTAINER}{text(container, 'name')}")
        profile = mapping(container, "securityContext").get("seccompProfile")
        errors += _agree(f"{at}.securityContext.seccompProfile", "seccomp", profile, annotation)
    if text(mapping(spec, "os"), "name") == "windows":
        return errors
    for at, container in every:
        annotation = have.get(f"{APP_ARMOR}{text(container, 'name')}")
        own = mapping(container, "securityContext").get("appArmorProfile")
        profile = pod.get("appArmorProfile") if own is None else own
        errors += _agree(f"{at}.securityContext.appArmorProfile", "apparmor", profile, annotation)
    return errors


def _agree(path: str, what: str, profile: Mapping[str, Any] | None, annotation: str | None) -> Errors:
    if profile is None or annotation is None:
        return []
    differs = [forbidden(f"{path}.type", f"{what} type in annotation and field must match")]
    match text(profile, "type"):
        case "Unconfined":
            return [] if annotation == "unconfined" else differs
        case "RuntimeDefault":
            also = ("docker/default",) if what == "seccomp" else ()
            return [] if annotation in ("runtime/default", *also) else differs
        case "Localhost" if not annotation.startswith(_LOCAL):
            return differs
        case "Localhost" if annotation.removeprefix(_LOCAL) != profile.get("localhostProfile"):
            told = f"{what} profile in annotation and field must match"
            return [forbidden(f"{path}.localhostProfile", told)]
    return []
