"""Volumes put together from secrets, config maps, the pod's own fields and tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simcloud.kubernetes.api.field_errors import forbidden, invalid, not_supported, required
from simcloud.kubernetes.api.validation.common import Errors, broken, items, number, text
from simcloud.kubernetes.api.validation.labels import selector_errors
from simcloud.kubernetes.api.validation.names import dns1123_subdomain, path_segment, size
from simcloud.kubernetes.api.validation.pods.env import VOLUME_FIELDS, field_of_pod, resource_of_container
from simcloud.kubernetes.api.validation.pods.paths import unreserved

_KEY_TYPES = ("RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519")
_TAKEN = "conflicting duplicate paths"


def mode(path: str, value: int | None) -> Errors:
    """The permissions of a file."""
    if value is None or 0 <= value <= 0o777:
        return []
    return [invalid(path, value, "must be a number between 0 and 0777 (octal), both inclusive")]


def key_to_path(path: str, item: Mapping[str, Any]) -> Errors:
    """A key of a Secret or a ConfigMap and the file it becomes."""
    errors = [required(f"{path}.{key}") for key in ("key", "path") if not text(item, key)]
    errors += unreserved(f"{path}.path", text(item, "path"))
    return errors + mode(f"{path}.mode", item.get("mode"))


def downward_file(path: str, item: Mapping[str, Any]) -> Errors:
    """A file that holds a field of the pod or a resource of a container."""
    field, resource = item.get("fieldRef"), item.get("resourceFieldRef")
    errors = [] if text(item, "path") else [required(f"{path}.path")]
    errors += unreserved(f"{path}.path", text(item, "path"))
    if field is not None:
        errors += field_of_pod(f"{path}.fieldRef", field, VOLUME_FIELDS)
        if resource is not None:
            told = "fieldRef and resourceFieldRef can not be specified simultaneously"
            errors.append(invalid(path, "resource", told))
    elif resource is not None:
        errors += resource_of_container(f"{path}.resourceFieldRef", resource, in_volume=True)
    else:
        errors.append(required(path, "one of fieldRef and resourceFieldRef is required"))
    return errors + mode(f"{path}.mode", item.get("mode"))


def volume(path: str, source: Mapping[str, Any]) -> Errors:
    """A projected volume. No two of its files may lie at one path."""
    errors = mode(f"{path}.defaultMode", source.get("defaultMode"))
    taken: set[str] = set()
    for index, one in enumerate(items(source, "sources")):
        at = f"{path}.sources[{index}]"
        for key in ("secret", "configMap"):
            if one.get(key) is not None:
                errors += _keys(path, f"{at}.{key}", one[key], taken)
        if one.get("downwardAPI") is not None:
            for item in items(one["downwardAPI"], "items"):
                errors += downward_file(f"{at}.downwardAPI", item)
                errors += _place(path, text(item, "path"), text(item, "path"), taken)
        if one.get("serviceAccountToken") is not None:
            errors += _token(path, f"{at}.serviceAccountToken", one["serviceAccountToken"])
        if one.get("clusterTrustBundle") is not None:
            errors += _trust_bundle(path, f"{at}.clusterTrustBundle", one["clusterTrustBundle"], taken)
        if one.get("podCertificate") is not None:
            errors += _certificate(path, f"{at}.podCertificate", one["podCertificate"], taken)
        if sum(value is not None for value in one.values()) > 1:
            errors.append(forbidden(at, "may not specify more than 1 volume type per source"))
    return errors


def _place(path: str, where: str, shown: str, taken: set[str]) -> Errors:
    if not where:
        return []
    if where in taken:
        return [invalid(path, shown, _TAKEN)]
    taken.add(where)
    return []


def _keys(path: str, at: str, source: Mapping[str, Any], taken: set[str]) -> Errors:
    errors = [] if text(source, "name") else [required(f"{at}.name")]
    for index, item in enumerate(items(source, "items")):
        errors += key_to_path(f"{at}.items[{index}]", item)
        errors += _place(path, text(item, "path"), text(source, "name"), taken)
    return errors


def _token(path: str, at: str, source: Mapping[str, Any]) -> Errors:
    seconds, where = number(source, "expirationSeconds"), text(source, "path")
    errors: Errors = []
    if seconds < 600:
        told = "may not specify a duration less than 10 minutes"
        errors.append(invalid(f"{at}.expirationSeconds", seconds, told))
    if seconds > 1 << 32:
        told = "may not specify a duration larger than 2^32 seconds"
        errors.append(invalid(f"{at}.expirationSeconds", seconds, told))
    return errors + (unreserved(f"{path}.path", where) if where else [required(f"{path}.path")])


def _trust_bundle(path: str, at: str, source: Mapping[str, Any], taken: set[str]) -> Errors:
    name, signer, where = source.get("name"), source.get("signerName"), text(source, "path")
    errors: Errors = []
    if name is not None and signer is not None:
        errors.append(invalid(at, source, "only one of name and signerName may be used"))
    elif name is not None:
        if not name:
            errors.append(required(f"{at}.name", "must be a valid object name"))
        told = [f"not a valid clustertrustbundlename: {one}" for one in _bundle_name(name)]
        errors += broken(f"{at}.name", name, told)
        if source.get("labelSelector") is not None:
            told_selector = "labelSelector must be unset if name is specified"
            errors.append(invalid(f"{at}.labelSelector", source["labelSelector"], told_selector))
    elif signer is not None:
        if not signer:
            errors.append(required(f"{at}.signerName", "must be a valid signer name"))
        errors += _signer(f"{at}.signerName", signer)
        errors += selector_errors(f"{at}.labelSelector", source.get("labelSelector"))
    else:
        errors.append(required(at, "either name or signerName must be specified"))
    if not where:
        errors.append(required(f"{at}.path"))
    return errors + unreserved(f"{at}.path", where) + _place(path, where, where, taken)


def _bundle_name(name: str) -> list[str]:
    return path_segment(name) if ":" in name else dns1123_subdomain(name)


def _signer(path: str, name: str) -> Errors:
    if not name:
        return [required(path)]
    domain, slash, rest = name.partition("/")
    if not slash or "/" in rest:
        told = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        return [invalid(path, name, told)]
    errors = [invalid(path, domain, told) for told in dns1123_subdomain(domain)]
    if domain and "." not in domain:
        errors.append(
            invalid(path, domain, "should be a domain with at least two segments separated by dots")
        )
    errors += [invalid(path, rest, f"validating path segment: {told}") for told in dns1123_subdomain(rest)]
    if size(name) > 571:
        errors.append(invalid(path, name, "must be no more than 571 characters"))
    return errors


def _certificate(path: str, at: str, source: Mapping[str, Any], taken: set[str]) -> Errors:
    errors = _signer(f"{at}.signerName", text(source, "signerName"))
    if text(source, "keyType") not in _KEY_TYPES:
        errors.append(not_supported(f"{at}.keyType", text(source, "keyType"), _KEY_TYPES))
    longest, asked = 7862400, source.get("maxExpirationSeconds")
    if asked is not None and asked < 3600:
        told = "if provided, maxExpirationSeconds must be >= 3600"
        errors.append(invalid(f"{at}.maxExpirationSeconds", asked, told))
    if text(source, "signerName").startswith("kubernetes.io/"):
        longest = 86400
    if asked is not None and asked > longest:
        told = f"if provided, maxExpirationSeconds must be <= {longest}"
        errors.append(invalid(f"{at}.maxExpirationSeconds", asked, told))
    keys = [key for key in ("credentialBundlePath", "keyPath", "certificateChainPath") if text(source, key)]
    for key in keys:
        errors += unreserved(f"{at}.{key}", source[key]) + _place(path, source[key], source[key], taken)
    if not keys:
        told = "specify at least one of credentialBundlePath, keyPath, and certificateChainPath"
        errors.append(required(at, told))
    return errors
