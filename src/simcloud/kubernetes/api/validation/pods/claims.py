"""Claims for volumes that are made for a pod, and the claims a StatefulSet makes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simcloud.kubernetes.api.field_errors import forbidden, invalid, not_supported, required
from simcloud.kubernetes.api.validation.common import (
    NOT_ZERO,
    Errors,
    amount,
    amount_text,
    items,
    make_errors,
    mapping,
    text,
)
from simcloud.kubernetes.api.validation.labels import annotation_errors, label_errors, selector_errors
from simcloud.kubernetes.api.validation.names import dns1123_subdomain

ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_NO_METADATA = (
    *("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation"),
    *("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "ownerReferences"),
    *("finalizers", "managedFields"),
)


def template(path: str, given: Mapping[str, Any]) -> Errors:
    """A claim that is made for a pod: labels and annotations, and a spec."""
    metadata = mapping(given, "metadata")
    errors = annotation_errors(f"{path}.metadata.annotations", metadata.get("annotations"))
    errors += label_errors(f"{path}.metadata.labels", metadata.get("labels"))
    errors += [
        forbidden(f"{path}.metadata.{key}", "cannot be set") for key in _NO_METADATA if metadata.get(key)
    ]
    return errors + claim_spec(f"{path}.spec", mapping(given, "spec"))


def claim_spec(path: str, spec: Mapping[str, Any]) -> Errors:
    """What a claim asks for."""
    modes = items(spec, "accessModes")
    errors: Errors = []
    if not modes:
        errors.append(required(f"{path}.accessModes", "at least 1 access mode is required"))
    errors += selector_errors(f"{path}.selector", spec.get("selector"))
    at = f"{path}.accessModes"
    errors += [not_supported(at, mode, ACCESS_MODES) for mode in modes if mode not in ACCESS_MODES]
    if "ReadWriteOncePod" in modes and any(mode in ACCESS_MODES[:3] for mode in modes):
        errors.append(forbidden(at, "may not use ReadWriteOncePod with other access modes"))
    errors += _storage(f"{path}.resources[storage]", mapping(mapping(spec, "resources"), "requests"))
    storage_class = text(spec, "storageClassName")
    if storage_class:
        errors += make_errors(f"{path}.storageClassName", storage_class, dns1123_subdomain(storage_class))
    return errors + _volume_mode(f"{path}.volumeMode", spec.get("volumeMode"))


def _volume_mode(path: str, mode: str | None) -> Errors:
    known = ("Block", "Filesystem")
    return [] if mode is None or mode in known else [not_supported(path, mode, known)]


def _storage(path: str, requests: Mapping[str, Any]) -> Errors:
    if "storage" not in requests:
        return [required(path)]
    if amount(requests["storage"]) <= 0:
        return [invalid(path, amount_text(requests["storage"]), NOT_ZERO)]
    return []
