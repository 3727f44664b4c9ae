"""The rules of the storage group, and what its writes are warned of."""

from __future__ import annotations

from simcloud.kubernetes.api.field_errors import (
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.validation import amounts
from simcloud.kubernetes.api.validation.common import (
    IMMUTABLE,
    INT32_MAX,
    Errors,
    broken,
    given_one_of,
    immutable,
    items,
    mapping,
    needed,
    same,
    text,
)
from simcloud.kubernetes.api.validation.diffs import internal, structure
from simcloud.kubernetes.api.validation.labels import label_name_errors, selector_errors
from simcloud.kubernetes.api.validation.names import between, dns1123_subdomain, qualified_name, size
from simcloud.kubernetes.api.validation.node_labels import label_warning
from simcloud.kubernetes.api.validation.pods.network_volumes import driver_name
from simcloud.kubernetes.api.validation.registry import validates, validates_status, warns
from simcloud.kubernetes.api.validation.volumes_claims import volume_spec

_GROUP = "storage.k8s.io"
_PARAMETERS_LIMIT_BYTES = 256 * 1024
_MOST_PARAMETERS = 512
_MESSAGE_LIMIT_BYTES = 1024
_BINDING_MODES = ("Immediate", "WaitForFirstConsumer")
_GROUP_POLICIES = ("File", "None", "ReadWriteOnceWithFSType")
_LIFECYCLES = ("Ephemeral", "Persistent")
_ONE_SOURCE = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"


@validates(_GROUP, "StorageClass")
def storage_class(new: Object, old: Object | None) -> Errors:
    """The rules of a StorageClass."""
    if old is not None:
        return _storage_class_update(new, old)
    errors = _provisioner("provisioner", text(new, "provisioner"))
    errors += _parameters(mapping(new, "parameters"), needed_one=False)
    policy = text(new, "reclaimPolicy")
    if policy and policy not in ("Delete", "Retain"):
        errors.append(not_supported("reclaimPolicy", policy, ["Delete", "Retain"]))
    errors += given_one_of("volumeBindingMode", text(new, "volumeBindingMode"), _BINDING_MODES)
    return errors + _topologies(items(new, "allowedTopologies"))


@warns(_GROUP, "StorageClass")
def storage_class_warnings(new: Object, old: Object | None) -> list[str]:
    """What a write of a StorageClass is warned of: labels that have a newer name."""
    told: list[str] = []
    for index, term in enumerate(items(new, "allowedTopologies")):
        for place, expression in enumerate(items(term, "matchLabelExpressions")):
            path = f"allowedTopologies[{index}].matchLabelExpressions[{place}].key"
            told += label_warning(path, text(expression, "key"))
    return told


def _storage_class_update(new: Object, old: Object) -> Errors:
    errors: Errors = [
        forbidden(field, f"updates to {field} are forbidden.")
        for field in ("parameters", "provisioner", "reclaimPolicy")
        if not same(new.get(field), old.get(field))
    ]
    return errors + immutable(
        "volumeBindingMode", new.get("volumeBindingMode", "null"), old.get("volumeBindingMode", "null")
    )


def _provisioner(path: str, name: str) -> Errors:
    return broken(path, name, qualified_name(name.lower())) if name else [required(path)]


def _parameters(parameters: dict[str, str], needed_one: bool) -> Errors:
    if len(parameters) > _MOST_PARAMETERS:
        return [too_long("parameters", _MOST_PARAMETERS)]
    errors: Errors = []
    if "" in parameters:
        errors.append(invalid("parameters", "", "field can not be empty."))
    if sum(size(key) + size(value) for key, value in parameters.items()) > _PARAMETERS_LIMIT_BYTES:
        errors.append(too_long("parameters", _PARAMETERS_LIMIT_BYTES))
    if needed_one and not parameters:
        errors.append(required("parameters", "must contain at least one key/value pair"))
    return errors


def _topologies(terms: list[Object]) -> Errors:
    errors: Errors = []
    seen: list[dict[str, list[str]]] = []
    for index, term in enumerate(terms):
        path = f"allowedTopologies[{index}].matchLabelExpressions"
        found: dict[str, list[str]] = {}
        for place, expression in enumerate(items(term, "matchLabelExpressions")):
            errors += _topology(f"{path}[{place}]", expression, found)
        if found in seen:
            errors.append(duplicate(path, ""))
        seen.append(found)
    return errors


def _topology(path: str, expression: Object, found: dict[str, list[str]]) -> Errors:
    key, values = text(expression, "key"), items(expression, "values")
    errors: Errors = [] if values else [required(f"{path}.values")]
    errors += [
        duplicate(f"{path}.values[{index}]", value)
        for index, value in enumerate(values)
        if value in values[:index]
    ]
    errors += label_name_errors(f"{path}.key", key)
    if key in found:
        errors.append(duplicate(f"{path}.key", key))
    found[key] = sorted(set(values))
    return errors


@validates(_GROUP, "VolumeAttributesClass")
def volume_attributes_class(new: Object, old: Object | None) -> Errors:
    """The rules of a VolumeAttributesClass."""
    if old is None:
        errors = _provisioner("driverName", text(new, "driverName"))
        return errors + _parameters(mapping(new, "parameters"), needed_one=True)
    return [
        forbidden(field, f"updates to {field} are forbidden.")
        for field in ("driverName", "parameters")
        if not same(new.get(field), old.get(field))
    ]


@validates(_GROUP, "VolumeAttachment")
def volume_attachment(new: Object, old: Object | None) -> Errors:
    """The rules of a VolumeAttachment."""
    spec = mapping(new, "spec")
    errors = needed("spec.attacher", text(spec, "attacher"), qualified_name)
    errors += _attached_source("spec.source", mapping(spec, "source"))
    errors += broken("spec.nodeName", text(spec, "nodeName"), dns1123_subdomain(text(spec, "nodeName")))
    errors += _attachment_status(mapping(new, "status"))
    if old is not None:
        changed = not same(spec, mapping(old, "spec"))
        return errors + ([invalid("spec", _attachment_shown(spec), IMMUTABLE)] if changed else [])
    errors += driver_name("spec.attacher", text(spec, "attacher"))
    name = at(spec, "source", "persistentVolumeName")
    if name is not None:
        errors += broken("spec.source.persistentVolumeName", name, dns1123_subdomain(name))
    return errors


@validates_status(_GROUP, "VolumeAttachment")
def volume_attachment_status(new: Object, old: Object) -> Errors:
    """The rules of a VolumeAttachment's status."""
    return _attachment_status(mapping(new, "status"))


def _attachment_shown(spec: Object) -> Object:
    source = mapping(spec, "source")
    return {
        "Attacher": text(spec, "attacher"),
        "Source": {
            "PersistentVolumeName": source.get("persistentVolumeName"),
            "InlineVolumeSpec": internal(source.get("inlineVolumeSpec")),
        },
        "NodeName": text(spec, "nodeName"),
    }


def _attached_source(path: str, source: Object) -> Errors:
    name, inline = source.get("persistentVolumeName"), source.get("inlineVolumeSpec")
    if name is None and inline is None:
        return [required(path, _ONE_SOURCE)]
    if name is not None and inline is not None:
        return [forbidden(path, _ONE_SOURCE)]
    if name is not None:
        field = f"{path}.persistentVolumeName"
        return [] if name else [required(field, "must specify non empty persistentVolumeName")]
    return volume_spec(f"{path}.inlineVolumeSpec", inline or {}, "", inline=True)


def _attachment_status(status: Object) -> Errors:
    errors: Errors = []
    metadata = mapping(status, "attachmentMetadata")
    if sum(size(key) + size(value) for key, value in metadata.items()) > _PARAMETERS_LIMIT_BYTES:
        errors.append(too_long("status.attachmentMetadata", _PARAMETERS_LIMIT_BYTES))
    for field in ("attachError", "detachError"):
        fault = mapping(status, field)
        if size(text(fault, "message")) > _MESSAGE_LIMIT_BYTES:
            # The genuine server compares with one limit and tells another.
            errors.append(too_long(f"status.{field}.message", _PARAMETERS_LIMIT_BYTES))
        code = fault.get("errorCode")
        if code is not None and code < 0:
            errors.append(invalid(f"status.{field}.errorCode", code, between(0, INT32_MAX)))
    return errors


@validates(_GROUP, "CSIDriver")
def csi_driver(new: Object, old: Object | None) -> Errors:
    """The rules of a CSIDriver."""
    spec = mapping(new, "spec")
    name = text(mapping(new, "metadata"), "name")
    errors = driver_name("metadata.name", name) if old is None else []
    for field, told in (
        ("attachRequired", "attachedRequired"),
        ("podInfoOnMount", "podInfoOnMount"),
        ("storageCapacity", "storageCapacity"),
    ):
        if spec.get(field) is None:
            errors.append(required(f"spec.{told}"))
    policy = spec.get("fsGroupPolicy")
    if policy is None:
        errors.append(required("spec.fsGroupPolicy"))
    elif policy not in _GROUP_POLICIES:
        errors.append(not_supported("spec.fsGroupPolicy", policy, _GROUP_POLICIES))
    errors += _tokens(items(spec, "tokenRequests"))
    errors += [
        not_supported("spec.volumeLifecycleModes", mode, _LIFECYCLES)
        for mode in items(spec, "volumeLifecycleModes")
        if mode not in _LIFECYCLES
    ]
    if spec.get("seLinuxMount") is None:
        errors.append(required("spec.seLinuxMount"))
    errors += _csi_extras(spec)
    if old is None:
        return errors
    before = mapping(old, "spec")
    errors += immutable("spec.attachedRequired", spec.get("attachRequired"), before.get("attachRequired"))
    return errors + immutable(
        "spec.volumeLifecycleModes", spec.get("volumeLifecycleModes"), before.get("volumeLifecycleModes")
    )


def _csi_extras(spec: Object) -> Errors:
    errors: Errors = []
    period = spec.get("nodeAllocatableUpdatePeriodSeconds")
    if period is not None and period < 10:
        told = "must be greater than or equal to 10 seconds"
        errors.append(invalid("spec.nodeAllocatableUpdatePeriodSeconds", period, told))
    in_secrets = spec.get("serviceAccountTokenInSecrets")
    if in_secrets is not None and not items(spec, "tokenRequests"):
        told = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
        errors.append(invalid("spec.serviceAccountTokenInSecrets", in_secrets, told))
    return errors


def _tokens(requests: list[Object]) -> Errors:
    errors: Errors = []
    audiences = [text(request, "audience") for request in requests]
    for index, request in enumerate(requests):
        path, seconds = f"spec.tokenRequests[{index}]", request.get("expirationSeconds")
        if audiences[index] in audiences[:index]:
            errors.append(duplicate(f"{path}.audience", audiences[index]))
            continue
        if seconds is not None and seconds < 600:
            told = "may not specify a duration less than 10 minutes"
            errors.append(invalid(f"{path}.expirationSeconds", seconds, told))
        if seconds is not None and seconds > 1 << 32:
            told = "may not specify a duration larger than 2^32 seconds"
            errors.append(invalid(f"{path}.expirationSeconds", seconds, told))
    return errors


@validates(_GROUP, "CSINode")
def csi_node(new: Object, old: Object | None) -> Errors:
    """The rules of a CSINode."""
    drivers = items(mapping(new, "spec"), "drivers")
    errors: Errors = []
    if old is not None:
        errors += _driver_changes(drivers, items(mapping(old, "spec"), "drivers"))
    names: list[str] = []
    for index, driver in enumerate(drivers):
        path, name = f"spec.drivers[{index}]", text(driver, "name")
        errors += driver_name(f"{path}.name", name)
        errors += _node_id(f"{path}.nodeID", text(driver, "nodeID"))
        count = at(driver, "allocatable", "count")
        if count is not None and count < 0:
            errors.append(invalid(f"{path}.allocatable.count", count, "must be greater than or equal to 0"))
        if name in names:
            errors.append(duplicate(f"{path}.name", name))
        names.append(name)
        errors += _topology_keys(f"{path}.topologyKeys", items(driver, "topologyKeys"))
    return errors


def _node_id(path: str, value: str) -> Errors:
    errors: Errors = [] if value else [required(path, value)]
    if size(value) > 192:
        errors.append(invalid(path, value, "must be 192 characters or less"))
    return errors


def _topology_keys(path: str, keys: list[str]) -> Errors:
    errors: Errors = []
    for index, key in enumerate(keys):
        if key in keys[:index]:
            errors.append(duplicate(path, key))
        errors += broken(path, key, qualified_name(key))
    return errors


def _driver_changes(drivers: list[Object], before: list[Object]) -> Errors:
    had = {text(driver, "name"): driver for driver in before}
    return [
        invalid(f"spec.drivers[{index}]", _driver_shown(driver), IMMUTABLE)
        for index, driver in enumerate(drivers)
        if text(driver, "name") in had
        and not same(_fixed_driver(driver), _fixed_driver(had[text(driver, "name")]))
    ]


def _fixed_driver(driver: Object) -> Object:
    return {key: value for key, value in driver.items() if key != "allocatable"}


def _driver_shown(driver: Object) -> Object | None:
    shown = structure(
        driver,
        ("name", "Name", ""),
        ("nodeID", "NodeID", ""),
        ("topologyKeys", "TopologyKeys", None),
        ("allocatable", "Allocatable", None),
    )
    return {**(shown or {}), "Allocatable": internal(driver.get("allocatable"))}


@validates(_GROUP, "CSIStorageCapacity")
def csi_storage_capacity(new: Object, old: Object | None) -> Errors:
    """The rules of a CSIStorageCapacity."""
    errors = selector_errors("nodeTopology", new.get("nodeTopology"))
    name = text(new, "storageClassName")
    errors += broken("storageClassName", name, dns1123_subdomain(name))
    for field in ("capacity", "maximumVolumeSize"):
        if new.get(field) is not None:
            errors += amounts.not_negative(field, new[field])
    if old is None:
        return errors
    errors += immutable("nodeTopology", new.get("nodeTopology"), old.get("nodeTopology"))
    return errors + immutable("storageClassName", name, text(old, "storageClassName"))
