"""The rules of roles and of their bindings."""

from __future__ import annotations

from simcloud.kubernetes.api.field_errors import invalid, not_supported, required
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.validation.common import (
    Errors,
    check_required,
    items,
    make_errors,
    mapping,
    text,
)
from simcloud.kubernetes.api.validation.go_types import structure
from simcloud.kubernetes.api.validation.labels import selector_errors
from simcloud.kubernetes.api.validation.names import dns1123_subdomain, path_segment
from simcloud.kubernetes.api.validation.registry import validates

_GROUP = "rbac.authorization.k8s.io"
_SUBJECTS = ("ServiceAccount", "User", "Group")


@validates(_GROUP, "Role")
def role(new: Object, old: Object | None) -> Errors:
    """The rules of a Role."""
    return _rules(new, namespaced=True)


@validates(_GROUP, "ClusterRole")
def cluster_role(new: Object, old: Object | None) -> Errors:
    """The rules of a ClusterRole."""
    errors = _rules(new, namespaced=False)
    aggregation = new.get("aggregationRule")
    if aggregation is None:
        return errors
    path, selectors = "aggregationRule.clusterRoleSelectors", items(aggregation, "clusterRoleSelectors")
    if not selectors:
        message = "at least one clusterRoleSelector required if aggregationRule is non-nil"
        errors.append(required(path, message))
    for index, selector in enumerate(selectors):
        errors += selector_errors(f"{path}[{index}]", selector)
    return errors


@validates(_GROUP, "RoleBinding")
def role_binding(new: Object, old: Object | None) -> Errors:
    """The rules of a RoleBinding."""
    return _binding(new, old, namespaced=True)


@validates(_GROUP, "ClusterRoleBinding")
def cluster_role_binding(new: Object, old: Object | None) -> Errors:
    """The rules of a ClusterRoleBinding."""
    return _binding(new, old, namespaced=False)


def _rules(new: Object, namespaced: bool) -> Errors:
    errors: Errors = []
    for index, rule in enumerate(items(new, "rules")):
        errors += _rule(f"rules[{index}]", rule, namespaced)
    return errors


def _rule(path: str, rule: Object, namespaced: bool) -> Errors:
    verbs, urls = items(rule, "verbs"), items(rule, "nonResourceURLs")
    groups, resources, names = (items(rule, field) for field in ("apiGroups", "resources", "resourceNames"))
    errors: Errors = []
    if not verbs:
        errors.append(required(f"{path}.verbs", "verbs must contain at least one value"))
    if urls:
        sentences = []
        if namespaced:
            sentences.append("namespaced rules cannot apply to non-resource URLs")
        if groups or resources or names:
            sentences.append("rules cannot apply to both regular resources and non-resource URLs")
        return errors + make_errors(f"{path}.nonResourceURLs", urls, sentences)
    if not groups:
        errors.append(required(f"{path}.apiGroups", "resource rules must supply at least one api group"))
    if not resources:
        errors.append(required(f"{path}.resources", "resource rules must supply at least one resource"))
    if names and len(resources) > 1:
        message = "resource names cannot apply to multiple resources"
        errors.append(required(f"{path}.resourceNames", message))
    return errors


def _binding(new: Object, old: Object | None, namespaced: bool) -> Errors:
    reference = mapping(new, "roleRef")
    errors: Errors = []
    if text(reference, "apiGroup") != _GROUP:
        errors.append(not_supported("roleRef.apiGroup", text(reference, "apiGroup"), [_GROUP]))
    kinds = ["Role", "ClusterRole"] if namespaced else ["ClusterRole"]
    if text(reference, "kind") not in kinds:
        errors.append(not_supported("roleRef.kind", text(reference, "kind"), kinds))
    errors += check_required("roleRef.name", text(reference, "name"), path_segment)
    for index, subject in enumerate(items(new, "subjects")):
        errors += _subject(f"subjects[{index}]", subject, namespaced)
    if old is not None and _format_reference(reference) != _format_reference(mapping(old, "roleRef")):
        errors.append(invalid("roleRef", _format_reference(reference), "cannot change roleRef"))
    return errors


def _format_reference(reference: Object) -> Object | None:
    return structure(reference, ("apiGroup", "APIGroup", ""), ("kind", "Kind", ""), ("name", "Name", ""))


def _subject(path: str, subject: Object, namespaced: bool) -> Errors:
    kind, name, group = text(subject, "kind"), text(subject, "name"), text(subject, "apiGroup")
    errors: Errors = [] if name else [required(f"{path}.name")]
    if kind == "ServiceAccount":
        if name:
            errors += make_errors(f"{path}.name", name, dns1123_subdomain(name))
        if group:
            errors.append(not_supported(f"{path}.apiGroup", group, [""]))
        if not namespaced and not text(subject, "namespace"):
            errors.append(required(f"{path}.namespace"))
    elif kind in _SUBJECTS:
        if not name:
            errors.append(invalid(f"{path}.name", name, f"{kind.lower()} name cannot be empty"))
        if group != _GROUP:
            errors.append(not_supported(f"{path}.apiGroup", group, [_GROUP]))
    else:
        errors.append(not_supported(f"{path}.kind", kind, _SUBJECTS))
    return errors
