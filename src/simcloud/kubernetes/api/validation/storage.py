"""The rules of a StorageClass."""

from __future__ import annotations

from simcloud.kubernetes.api.field_errors import (
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.validation.common import (
    Errors,
    check_required_choice,
    immutable,
    items,
    make_errors,
    mapping,
    same,
    text,
)
from simcloud.kubernetes.api.validation.labels import label_name_errors
from simcloud.kubernetes.api.validation.names import qualified_name, size
from simcloud.kubernetes.api.validation.registry import validates

_GROUP = "storage.k8s.io"
_PARAMETERS_LIMIT_BYTES = 256 * 1024
_MOST_PARAMETERS = 512
_BINDING_MODES = ("Immediate", "WaitForFirstConsumer")


@validates(_GROUP, "StorageClass")
def storage_class(new: Object, old: Object | None) -> Errors:
    """The rules of a StorageClass."""
    if old is not None:
        return _storage_class_update(new, old)
    errors = _provisioner("provisioner", text(new, "provisioner"))
    errors += _parameters(mapping(new, "parameters"))
    policy = text(new, "reclaimPolicy")
    if policy and policy not in ("Delete", "Retain"):
        errors.append(not_supported("reclaimPolicy", policy, ["Delete", "Retain"]))
    errors += check_required_choice("volumeBindingMode", text(new, "volumeBindingMode"), _BINDING_MODES)
    return errors + _topologies(items(new, "allowedTopologies"))


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
    return make_errors(path, name, qualified_name(name.lower())) if name else [required(path)]


def _parameters(parameters: dict[str, str]) -> Errors:
    if len(parameters) > _MOST_PARAMETERS:
        return [too_long("parameters", _MOST_PARAMETERS)]
    errors: Errors = []
    if "" in parameters:
        errors.append(invalid("parameters", "", "field can not be empty."))
    if sum(size(key) + size(value) for key, value in parameters.items()) > _PARAMETERS_LIMIT_BYTES:
        errors.append(too_long("parameters", _PARAMETERS_LIMIT_BYTES))
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
