"""The rules of webhook configurations and admission policies as objects.

Their expressions must be there; whether they compile is not checked.
"""

from __future__ import annotations

import re

from simcloud.kubernetes.api.field_errors import (
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_many,
)
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.validation.common import (
    Errors,
    check_required,
    check_required_choice,
    items,
    make_errors,
    mapping,
    text,
)
from simcloud.kubernetes.api.validation.labels import selector_errors
from simcloud.kubernetes.api.validation.names import (
    dns1035_label,
    dns1123_subdomain,
    path_segment,
    qualified_name,
)
from simcloud.kubernetes.api.validation.registry import validates
from simcloud.kubernetes.api.validation.webhooks import REVIEW_VERSIONS, client_config, review_versions

_GROUP = "admissionregistration.k8s.io"
_FAILURE_POLICIES = ("Fail", "Ignore")
_MATCH_POLICIES = ("Equivalent", "Exact")
_NO_SIDE_EFFECTS = ("None", "NoneOnDryRun")
_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_REINVOCATIONS = ("IfNeeded", "Never")
_SCOPES = ("*", "Cluster", "Namespaced")
_REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_ACTIONS = ("Audit", "Deny", "Warn")
_MOST_CONDITIONS = 64
_IDENTIFIER = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*\Z")
_RESERVED = (
    *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function"),
    *("if", "import", "let", "loop", "package", "namespace", "return", "var", "void", "while"),
)


@validates(_GROUP, "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
def webhook_configuration(new: Object, old: Object | None) -> Errors:
    """The rules of a webhook configuration."""
    errors: Errors = []
    names: list[str] = []
    for index, hook in enumerate(items(new, "webhooks")):
        path, name = f"webhooks[{index}]", text(hook, "name")
        errors += _webhook(path, hook)
        empty = f"must specify one of {', '.join(REVIEW_VERSIONS)}"
        field = "admissionReviewVersions"
        errors += review_versions(f"{path}.{field}", items(hook, field), empty)
        if name and name in names:
            errors.append(duplicate(f"{path}.name", name))
        names.append(name)
    return errors


def _webhook(path: str, hook: Object) -> Errors:
    errors = _check_qualified_name(f"{path}.name", text(hook, "name"))
    for index, rule in enumerate(items(hook, "rules")):
        errors += _rule(f"{path}.rules[{index}]", rule)
    errors += _optional(path, hook, "failurePolicy", _FAILURE_POLICIES)
    errors += _optional(path, hook, "matchPolicy", _MATCH_POLICIES)
    if hook.get("sideEffects") is None:
        errors.append(required(f"{path}.sideEffects", f"must specify one of {', '.join(_NO_SIDE_EFFECTS)}"))
    errors += _optional(path, hook, "sideEffects", _NO_SIDE_EFFECTS)
    timeout = hook.get("timeoutSeconds")
    if timeout is not None and not 1 <= timeout <= 30:
        message = "the timeout value must be between 1 and 30 seconds"
        errors.append(invalid(f"{path}.timeoutSeconds", timeout, message))
    for field in ("namespaceSelector", "objectSelector"):
        errors += selector_errors(f"{path}.{field}", hook.get(field))
    errors += _optional(path, hook, "reinvocationPolicy", _REINVOCATIONS)
    errors += client_config(f"{path}.clientConfig", mapping(hook, "clientConfig"))
    return errors + _match_conditions(f"{path}.matchConditions", items(hook, "matchConditions"))


def _check_qualified_name(path: str, name: str) -> Errors:
    if not name:
        return [required(path)]
    wrong = dns1123_subdomain(name)
    if wrong:
        return [invalid(path, name, ",".join(wrong))]
    if name.count(".") < 2:
        return [invalid(path, name, "should be a domain with at least three segments separated by dots")]
    return []


def _optional(path: str, holder: Object, field: str, known: tuple[str, ...]) -> Errors:
    value = holder.get(field)
    return [] if value is None or value in known else [not_supported(f"{path}.{field}", value, known)]


def _rule(path: str, rule: Object) -> Errors:
    operations = items(rule, "operations")
    errors = _check_wildcard(f"{path}.operations", operations, "operations")
    errors += [
        not_supported(f"{path}.operations[{index}]", operation, _OPERATIONS)
        for index, operation in enumerate(operations)
        if operation not in _OPERATIONS
    ]
    errors += _check_wildcard(f"{path}.apiGroups", items(rule, "apiGroups"), "API groups")
    versions = items(rule, "apiVersions")
    errors += _check_wildcard(f"{path}.apiVersions", versions, "API versions")
    errors += [
        required(f"{path}.apiVersions[{index}]") for index, version in enumerate(versions) if not version
    ]
    errors += _resources(f"{path}.resources", items(rule, "resources"))
    return errors + _optional(path, rule, "scope", _SCOPES)


def _check_wildcard(path: str, values: list[str], what: str) -> Errors:
    if not values:
        return [required(path)]
    if len(values) > 1 and "*" in values:
        return [invalid(path, values, f"if '*' is present, must not specify other {what}")]
    return []


def _resources(path: str, resources: list[str]) -> Errors:
    errors: Errors = [] if resources else [required(path)]
    all_below: list[str] = []
    all_with: list[str] = []
    plain_last = False
    for index, given in enumerate(resources):
        if not given:
            errors.append(required(f"{path}[{index}]"))
            continue
        resource, slash, sub = given.partition("/")
        if not slash:
            plain_last = given != "*"
            continue
        if resource in all_below:
            message = f"if '{resource}/*' is present, must not specify {given}"
            errors.append(invalid(f"{path}[{index}]", given, message))
        if sub in all_with:
            message = f"if '*/{sub}' is present, must not specify {given}"
            errors.append(invalid(f"{path}[{index}]", given, message))
        if sub == "*":
            all_below.append(resource)
        if resource == "*":
            all_with.append(sub)
    if len(resources) > 1 and "*/*" in resources:
        message = "if '*/*' is present, must not specify other resources"
        errors.append(invalid(path, resources, message))
    if "*" in resources and plain_last:
        message = "if '*' is present, must not specify other resources without subresources"
        errors.append(invalid(path, resources, message))
    return errors


def _match_conditions(path: str, conditions: list[Object]) -> Errors:
    errors: Errors = []
    if len(conditions) > _MOST_CONDITIONS:
        errors.append(too_many(path, len(conditions), _MOST_CONDITIONS))
    names: list[str] = []
    for index, condition in enumerate(conditions):
        name = text(condition, "name")
        if not text(condition, "expression").strip():
            errors.append(required(f"{path}[{index}].expression"))
        errors += check_required(f"{path}[{index}].name", name, qualified_name)
        if name and name in names:
            errors.append(duplicate(f"{path}[{index}].name", name))
        names.append(name)
    return errors


@validates(_GROUP, "ValidatingAdmissionPolicy")
def validating_admission_policy(new: Object, old: Object | None) -> Errors:
    """The rules of a ValidatingAdmissionPolicy."""
    spec = mapping(new, "spec")
    errors = _policy("spec", spec)
    validations, annotations = items(spec, "validations"), items(spec, "auditAnnotations")
    if not validations and not annotations:
        message = "validations or auditAnnotations must contain at least one item"
        return [*errors, required("spec.validations", message), required("spec.auditAnnotations", message)]
    for index, validation in enumerate(validations):
        errors += _validation(f"spec.validations[{index}]", validation)
    return errors


def _policy(path: str, spec: Object) -> Errors:
    errors = check_required_choice(f"{path}.failurePolicy", text(spec, "failurePolicy"), _FAILURE_POLICIES)
    if spec.get("paramKind") is not None:
        errors += _param_kind(f"{path}.paramKind", spec["paramKind"])
    constraints = spec.get("matchConstraints")
    if constraints is None:
        errors.append(required(f"{path}.matchConstraints"))
    else:
        errors += _match_resources(f"{path}.matchConstraints", constraints)
        if not items(constraints, "resourceRules"):
            errors.append(required(f"{path}.matchConstraints.resourceRules"))
    errors += _match_conditions(f"{path}.matchConditions", items(spec, "matchConditions"))
    for index, variable in enumerate(items(spec, "variables")):
        errors += _variable(f"{path}.variables[{index}]", variable)
    return errors


def _param_kind(path: str, given: Object) -> Errors:
    field, version = f"{path}.apiVersion", text(given, "apiVersion")
    group, _, number_ = version.rpartition("/")
    errors: Errors = []
    if not version:
        errors.append(required(field))
    elif version.count("/") > 1:
        errors.append(invalid(field, version, f"unexpected GroupVersion string: {version}"))
    else:
        if group and dns1123_subdomain(group):
            errors.append(invalid(field, group, ",".join(dns1123_subdomain(group))))
        if not number_:
            errors.append(invalid(field, version, "version must be specified"))
        elif dns1035_label(number_):
            errors.append(invalid(field, number_, ",".join(dns1035_label(number_))))
    kind = text(given, "kind")
    if not kind:
        errors.append(required(f"{path}.kind"))
    elif dns1035_label(kind.lower()):
        message = f"may have mixed case, but should otherwise match: {','.join(dns1035_label(kind.lower()))}"
        errors.append(invalid(f"{path}.kind", kind, message))
    return errors


def _match_resources(path: str, matched: Object) -> Errors:
    errors = check_required_choice(f"{path}.matchPolicy", text(matched, "matchPolicy"), _MATCH_POLICIES)
    for field in ("namespaceSelector", "objectSelector"):
        if matched.get(field) is None:
            errors.append(required(f"{path}.{field}"))
        errors += selector_errors(f"{path}.{field}", matched.get(field))
    for field in ("resourceRules", "excludeResourceRules"):
        for index, rule in enumerate(items(matched, field)):
            errors += _check_named_rule(f"{path}.{field}[{index}]", rule)
    return errors


def _check_named_rule(path: str, rule: Object) -> Errors:
    names = items(rule, "resourceNames")
    errors: Errors = []
    for index, name in enumerate(names):
        errors += make_errors(f"{path}.resourceNames[{index}]", name, path_segment(name))
        if name in names[:index]:
            errors.append(duplicate(f"{path}.resourceNames[{index}]", name))
    return errors + _rule(path, rule)


def _variable(path: str, variable: Object) -> Errors:
    name, errors = text(variable, "name"), []
    if not name.strip():
        errors.append(required(f"{path}.name", "name is not specified"))
    elif not _IDENTIFIER.match(name) or name in _RESERVED:
        errors.append(invalid(f"{path}.name", name, "name is not a valid CEL identifier"))
    if not text(variable, "expression").strip():
        errors.append(required(f"{path}.expression", "expression is not specified"))
    return errors


def _validation(path: str, validation: Object) -> Errors:
    errors: Errors = []
    message, by_expression = text(validation, "message"), text(validation, "messageExpression")
    if not text(validation, "expression").strip():
        errors.append(required(f"{path}.expression", "expression is not specified"))
    if by_expression and not by_expression.strip():
        sentence = "must be non-empty if specified"
        errors.append(invalid(f"{path}.messageExpression", by_expression, sentence))
    if message and not message.strip():
        errors.append(invalid(f"{path}.message", message, "message must be non-empty if specified"))
    elif "\n" in message.strip() or "\r" in message.strip():
        errors.append(invalid(f"{path}.message", message, "message must not contain line breaks"))
    return errors + _optional(path, validation, "reason", _REASONS)


@validates(_GROUP, "ValidatingAdmissionPolicyBinding")
def validating_admission_policy_binding(new: Object, old: Object | None) -> Errors:
    """The rules of a ValidatingAdmissionPolicyBinding."""
    spec = mapping(new, "spec")
    errors = _check_binding("spec", spec)
    if spec.get("matchResources") is not None:
        # The genuine server misspells this path.
        errors += _match_resources("spec.matchResouces", spec["matchResources"])
    actions, path = items(spec, "validationActions"), "spec.validationActions"
    for index, action in enumerate(actions):
        if action not in _ACTIONS:
            errors.append(not_supported(f"{path}[{index}]", action, _ACTIONS))
        if action in actions[:index]:
            errors.append(duplicate(f"{path}[{index}]", action))
    if "Deny" in actions and "Warn" in actions:
        message = (
            "must not contain both Deny and Warn (repeating the same validation failure information "
            "in the API response and headers serves no purpose)"
        )
        errors.append(invalid(path, actions, message))
    if not actions:
        errors.append(required(path, "at least one validation action is required"))
    return errors


def _check_binding(path: str, spec: Object) -> Errors:
    errors = check_required(f"{path}.policyName", text(spec, "policyName"), dns1123_subdomain)
    reference = spec.get("paramRef")
    return errors if reference is None else errors + _param_ref(f"{path}.paramRef", reference)


def _param_ref(path: str, reference: Object) -> Errors:
    name, selector = text(reference, "name"), reference.get("selector")
    both = "name and selector are mutually exclusive"
    errors: Errors = []
    if name:
        errors += make_errors(f"{path}.name", name, path_segment(name))
        if selector is not None:
            errors.append(forbidden(f"{path}.name", both))
    if selector is not None:
        errors += selector_errors(f"{path}.selector", selector)
        if name:
            errors.append(forbidden(f"{path}.selector", both))
    elif not name:
        errors.append(required(path, "one of name or selector must be specified"))
    action = text(reference, "parameterNotFoundAction")
    return errors + check_required_choice(f"{path}.parameterNotFoundAction", action, ("Deny", "Allow"))
