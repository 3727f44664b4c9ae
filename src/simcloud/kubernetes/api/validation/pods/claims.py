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
    broken,
    items,
    mapping,
    text,
)
from simcloud.kubernetes.api.validation.labels import annotation_errors, label_errors, selector_errors
from simcloud.kubernetes.api.validation.names import dns1123_label, dns1123_subdomain

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
    errors += [not_supported(at, one, ACCESS_MODES) for one in modes if one not in ACCESS_MODES]
    if "ReadWriteOncePod" in modes and any(one in ACCESS_MODES[:3] for one in modes):
        errors.append(forbidden(at, "may not use ReadWriteOncePod with other access modes"))
    errors += _storage(f"{path}.resources[storage]", mapping(mapping(spec, "resources"), "requests"))
    for key in ("storageClassName", "volumeAttributesClassName"):
        if text(spec, key):
            errors += broken(f"{path}.{key}", spec[key], dns1123_subdomain(spec[key]))
        if key == "storageClassName":
            errors += _volume_mode(f"{path}.volumeMode", spec.get("volumeMode")) + _data(path, spec)
    return errors


def _volume_mode(path: str, mode: str | None) -> Errors:
    known = ("Block", "Filesystem")
    return [] if mode is None or mode in known else [not_supported(path, mode, known)]


def _storage(path: str, requests: Mapping[str, Any]) -> Errors:
    if "storage" not in requests:
        return [required(path)]
    if amount(requests["storage"]) <= 0:
        return [invalid(path, amount_text(requests["storage"]), NOT_ZERO)]
    return []


def _data(path: str, spec: Mapping[str, Any]) -> Errors:
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    errors: Errors = []
    for key, given in (("dataSource", source), ("dataSourceRef", reference)):
        if given is not None:
            errors += _reference(f"{path}.{key}", given)
    if reference is not None and text(reference, "namespace"):
        namespace = text(reference, "namespace")
        errors += broken(f"{path}.dataSourceRef.namespace", namespace, dns1123_label(namespace))
        if source is not None:
            told = "may not be specified when dataSourceRef.namespace is specified"
            errors.append(invalid(path, {}, told))
    elif source is not None and reference is not None and not _agree(source, reference):
        errors.append(invalid(path, {}, "must match dataSourceRef"))
    return errors


def _agree(source: Mapping[str, Any], reference: Mapping[str, Any]) -> bool:
    return all(source.get(key) == reference.get(key) for key in ("apiGroup", "kind", "name"))


def _reference(path: str, given: Mapping[str, Any]) -> Errors:
    errors = [required(f"{path}.{key}") for key in ("name", "kind") if not text(given, key)]
    group, kind = text(given, "apiGroup"), text(given, "kind")
    if not group and kind != "PersistentVolumeClaim":
        told = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        errors.append(invalid(path, kind, told))
    return errors + (broken(f"{path}.apiGroup", group, dns1123_subdomain(group)) if group else [])
