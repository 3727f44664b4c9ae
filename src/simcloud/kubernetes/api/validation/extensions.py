"""The rules of a CustomResourceDefinition: its names, versions and conversion.

The paths are those of the genuine server's internal form, where what all versions have in common stands
once, at the top of the spec. Expressions of rules in schemas are not compiled.
"""

from __future__ import annotations

from simcloud.kubernetes.api.field_errors import forbidden, invalid, required
from simcloud.kubernetes.api.objects import Object, at, name_of
from simcloud.kubernetes.api.validation.common import (
    Errors,
    check_required_choice,
    immutable,
    items,
    mapping,
    text,
)
from simcloud.kubernetes.api.validation.crd_schemas import check_schema
from simcloud.kubernetes.api.validation.names import dns1035_label, dns1123_subdomain
from simcloud.kubernetes.api.validation.registry import validates
from simcloud.kubernetes.api.validation.webhooks import ca_bundle, client_config, review_versions

_GROUP = "apiextensions.k8s.io"
_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_MIXED_CASE = "may have mixed case, but should otherwise match: "
_COMMON = ("schema", "subresources", "additionalPrinterColumns", "selectableFields")


@validates(_GROUP, "CustomResourceDefinition")
def custom_resource_definition(new: Object, old: Object | None) -> Errors:
    """The rules of a CustomResourceDefinition."""
    spec = mapping(new, "spec")
    errors: Errors = []
    wanted = f"{text(mapping(spec, 'names'), 'plural')}.{text(spec, 'group')}"
    if old is None and name_of(new) != wanted:
        message = 'must be spec.names.plural+"."+spec.group'
        errors.append(invalid("metadata.name", name_of(new), message))
    errors += _spec(spec)
    if old is not None:
        errors += _check_update(spec, old)
    errors += _names("status.acceptedNames", mapping(mapping(new, "status"), "acceptedNames"))
    errors += _check_stored_versions(new)
    if spec.get("preserveUnknownFields") and not at(old, "spec", "preserveUnknownFields"):
        message = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        errors.append(invalid("spec.preserveUnknownFields", True, message))
    return errors


def _spec(spec: Object) -> Errors:
    errors = _group(text(spec, "group"))
    errors += check_required_choice("spec.scope", text(spec, "scope"), ("Cluster", "Namespaced"))
    versions = items(spec, "versions")
    shared = _find_common_fields(versions)
    if shared["schema"] is None:
        errors += [
            required(f"spec.versions[{index}].schema.openAPIV3Schema", "schemas are required")
            for index, version in enumerate(versions)
            if version.get("served") and at(version, "schema", "openAPIV3Schema") is None
        ]
    errors += _versions(versions, shared)
    names = mapping(spec, "names")
    errors += [
        required(f"spec.names.{field}")
        for field in ("plural", "singular", "kind", "listKind")
        if not names.get(field)
    ]
    errors += _names("spec.names", names)
    errors += _version_parts("spec", shared, top=True)
    return errors + _conversion("spec.conversion", mapping(spec, "conversion"))


def _group(group: str) -> Errors:
    if not group:
        return [required("spec.group")]
    wrong = dns1123_subdomain(group)
    if wrong:
        return [invalid("spec.group", group, ",".join(wrong))]
    if "." not in group:
        return [invalid("spec.group", group, "should be a domain with at least one dot")]
    return []


def _find_common_fields(versions: list[Object]) -> Object:
    """What all versions have in common."""
    first = versions[0] if versions else {}
    return {
        field: first.get(field)
        if all(version.get(field) == first.get(field) for version in versions)
        else None
        for field in _COMMON
    }


def _versions(versions: list[Object], shared: Object) -> Errors:
    errors: Errors = []
    for index, version in enumerate(versions):
        path, name = f"spec.versions[{index}]", text(version, "name")
        wrong = dns1035_label(name)
        if wrong:
            errors.append(invalid(f"{path}.name", name, ",".join(wrong)))
        own = {field: None if shared[field] is not None else version.get(field) for field in _COMMON}
        errors += _version_parts(path, own, top=False)
    names = [text(version, "name") for version in versions]
    shown = [_version_shown(version, shared) for version in versions]
    if len(set(names)) != len(names):
        errors.append(invalid("spec.versions", shown, "must contain unique version names"))
    if sum(bool(version.get("storage")) for version in versions) != 1:
        message = "must have exactly one version marked as storage version"
        errors.append(invalid("spec.versions", shown or None, message))
    return errors


def _version_shown(version: Object, shared: Object) -> Object:
    return {
        "Name": text(version, "name"),
        "Served": bool(version.get("served")),
        "Storage": bool(version.get("storage")),
        "Deprecated": bool(version.get("deprecated")),
        "DeprecationWarning": version.get("deprecationWarning"),
        **{
            f"{field[0].upper()}{field[1:]}": None if shared[field] is not None else version.get(field)
            for field in _COMMON
        },
    }


def _version_parts(path: str, parts: Object, top: bool) -> Errors:
    """The rules of schema, subresources and columns, of a version or of all."""
    errors: Errors = []
    schema = at(parts, "schema", "openAPIV3Schema")
    subresources = parts["subresources"] or {}
    if schema is not None:
        field = "validation" if top else "schema"
        errors += check_schema(f"{path}.{field}.openAPIV3Schema", schema)
    errors += _scale(f"{path}.subresources", subresources)
    for index, column in enumerate(parts["additionalPrinterColumns"] or []):
        errors += _column(f"{path}.additionalPrinterColumns[{index}]", column)
    return errors


def _scale(path: str, subresources: Object) -> Errors:
    scale = subresources.get("scale")
    if scale is None:
        return []
    errors: Errors = []
    for field, starts, message in (
        ("specReplicasPath", (".spec.",), "should be a json path under .spec"),
        ("statusReplicasPath", (".status.",), "should be a json path under .status"),
        (
            "labelSelectorPath",
            (".spec.", ".status."),
            "should be a json path under either .spec or .status",
        ),
    ):
        value, place = text(scale, field), f"{path}.scale.{field}"
        if not value:
            errors += [] if field == "labelSelectorPath" else [required(place)]
        elif not value.startswith("."):
            errors.append(invalid(place, value, "must be a simple json path starting with ."))
        elif not value.startswith(starts):
            errors.append(invalid(place, value, message))
    return errors


def _column(path: str, column: Object) -> Errors:
    errors: Errors = [] if text(column, "name") else [required(f"{path}.name")]
    kind, form, where = text(column, "type"), text(column, "format"), text(column, "jsonPath")
    message = f"must be one of {','.join(_COLUMN_TYPES)}"
    if not kind:
        errors.append(required(f"{path}.type", message))
    elif kind not in _COLUMN_TYPES:
        errors.append(invalid(f"{path}.type", kind, message))
    if form and form not in _COLUMN_FORMATS:
        errors.append(invalid(f"{path}.format", form, f"must be one of {','.join(_COLUMN_FORMATS)}"))
    if not where:
        errors.append(required(f"{path}.JSONPath"))
    elif not where.startswith("."):
        errors.append(invalid(f"{path}.JSONPath", where, "must be a simple json path starting with ."))
    return errors


def _names(path: str, names: Object) -> Errors:
    errors: Errors = []
    for field in ("plural", "singular"):
        wrong = dns1035_label(text(names, field)) if names.get(field) else []
        if wrong:
            errors.append(invalid(f"{path}.{field}", names[field], ",".join(wrong)))
    for field in ("kind", "listKind"):
        wrong = dns1035_label(text(names, field).lower()) if names.get(field) else []
        if wrong:
            errors.append(invalid(f"{path}.{field}", names[field], f"{_MIXED_CASE}{','.join(wrong)}"))
    errors += _check_names(f"{path}.shortNames", items(names, "shortNames"))
    if names.get("kind") and names["kind"] == names.get("listKind"):
        message = "kind and listKind may not be the same"
        errors.append(invalid(f"{path}.listKind", names["listKind"], message))
    return errors + _check_names(f"{path}.categories", items(names, "categories"))


def _check_names(path: str, values: list[str]) -> Errors:
    return [
        invalid(f"{path}[{index}]", value, ",".join(dns1035_label(value)))
        for index, value in enumerate(values)
        if dns1035_label(value)
    ]


def _conversion(path: str, conversion: Object) -> Errors:
    if not conversion:
        return []
    strategy, webhook = text(conversion, "strategy"), conversion.get("webhook")
    errors = check_required_choice(f"{path}.strategy", strategy, ("None", "Webhook"))
    config = (webhook or {}).get("clientConfig")
    versions = items(webhook or {}, "conversionReviewVersions")
    if strategy == "Webhook":
        if config is None:
            message = "required when strategy is set to Webhook"
            errors.append(required(f"{path}.webhookClientConfig", message))
        else:
            errors += client_config(f"{path}.webhookClientConfig", config)
            errors += ca_bundle(f"{path}.webhookClientConfig.caBundle", text(config, "caBundle"))
        return errors + review_versions(f"{path}.conversionReviewVersions", versions, "")
    message = "should not be set when strategy is not set to Webhook"
    if config is not None:
        errors.append(forbidden(f"{path}.webhookClientConfig", message))
    if versions:
        errors.append(forbidden(f"{path}.conversionReviewVersions", message))
    return errors


def _check_update(spec: Object, old: Object) -> Errors:
    before = mapping(old, "spec")
    errors: Errors = []
    if any(
        condition.get("type") == "Established" and condition.get("status") == "True"
        for condition in items(mapping(old, "status"), "conditions")
    ):
        errors += immutable("spec.scope", text(spec, "scope"), text(before, "scope"))
        errors += _name_kept(spec, before, "kind")
    errors += immutable("spec.group", text(spec, "group"), text(before, "group"))
    return errors + _name_kept(spec, before, "plural")


def _name_kept(spec: Object, before: Object, field: str) -> Errors:
    now, had = text(mapping(spec, "names"), field), text(mapping(before, "names"), field)
    return immutable(f"spec.names.{field}", now, had)


def _check_stored_versions(new: Object) -> Errors:
    stored, path = items(mapping(new, "status"), "storedVersions"), "status.storedVersions"
    if not stored:
        return []
    names = [text(version, "name") for version in items(mapping(new, "spec"), "versions")]
    errors: Errors = [
        invalid(path, stored, f"must have the storage version {text(version, 'name')}")
        for version in items(mapping(new, "spec"), "versions")
        if version.get("storage") and text(version, "name") not in stored
    ]
    for index, name in enumerate(stored):
        if name not in names:
            message = (
                f"missing from spec.versions; {name} was previously a storage version, and must remain in "
                f"spec.versions until a storage migration ensures no data remains persisted in {name} "
                f"and removes {name} from status.storedVersions"
            )
            errors.append(invalid(f"{path}[{index}]", name, message))
    return errors
