"""ValidatingAdmissionPolicy: CEL rules that are enabled by a binding.

Audit annotations are not evaluated, because there is no audit log.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from simcloud.kubernetes.api.admission.expressions import Composed, conditions_hold, evaluate, scope_of
from simcloud.kubernetes.api.admission.match_rules import GROUP, exempt, match_resource
from simcloud.kubernetes.api.admission.plugin import Quiet, make_refusal
from simcloud.kubernetes.api.cel import CelError
from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.selectors import from_label_selector

if TYPE_CHECKING:
    from simcloud.kubernetes.api.context import Write

_CODES: Final = {
    "Forbidden": 403,
    "Unauthorized": 401,
    "RequestEntityTooLarge": 413,
    "Invalid": 422,
}
_LONGEST_MESSAGE: Final = 5 * 1024


class Denial(NamedTuple):
    """Why a policy is against a write."""

    message: str
    reason: str = "Invalid"


class ValidatingPolicies(Quiet):
    """Asks every policy that is bound to what is written."""

    def check(self, write: Write) -> None:
        policies = write.api.log.objects(GROUP, "validatingadmissionpolicies")
        if not policies or exempt(write):
            return
        first: ApiError | None = None
        for policy in policies:
            resource = match_resource(write, at(policy, "spec", "matchConstraints") or {}, "resourceRules")
            if resource is None:
                continue
            for binding in bindings(write, policy):
                for denial in _denials(write, resource, policy, binding):
                    refusal = _enforce(write, policy, binding, denial)
                    first = first or refusal
        if first is not None:
            raise first


def bindings(write: Write, policy: Object) -> Iterator[Object]:
    """The bindings that put a policy in force for this write."""
    name = policy["metadata"]["name"]
    for binding in write.api.log.objects(GROUP, "validatingadmissionpolicybindings"):
        if binding["spec"].get("policyName") != name:
            continue
        match = binding["spec"].get("matchResources")
        everything = {"resourceRules": [_EVERYTHING], **{k: v for k, v in (match or {}).items() if v}}
        if not match or match_resource(write, everything, "resourceRules") is not None:
            yield binding


_EVERYTHING: Final = {
    "apiGroups": ["*"],
    "apiVersions": ["*"],
    "operations": ["*"],
    "resources": ["*", "*/*"],
}


def _denials(write: Write, resource: Resource, policy: Object, binding: Object) -> Iterator[Denial]:
    fails = policy["spec"].get("failurePolicy", "Fail") == "Fail"
    try:
        found = params_for(write, policy, binding)
    except CelError as error:
        if fails:
            yield Denial(f"failed to configure binding: {error}")
        return
    for params in found:
        scope = {**scope_of(write, resource), "params": params}
        scope["variables"] = Composed(policy["spec"].get("variables") or [], scope)
        try:
            if not conditions_hold(policy["spec"].get("matchConditions") or [], scope):
                continue
        except CelError as error:
            if fails:
                yield Denial(str(error))
            continue
        for rule in policy["spec"].get("validations") or ():
            denial = _judge(rule, scope, fails)
            if denial is not None:
                yield denial


def _judge(rule: Object, scope: dict[str, Any], fails: bool) -> Denial | None:
    try:
        if evaluate(rule["expression"], scope) is True:
            return None
    except CelError as error:
        return Denial(str(error)) if fails else None
    message = _message(rule, scope) or rule.get("message", "").strip()
    return Denial(
        message or f"failed expression: {rule['expression'].strip()}", rule.get("reason") or "Invalid"
    )


def _message(rule: Object, scope: dict[str, Any]) -> str:
    """What a message's own expression says; nothing if it fails, or says what cannot be shown."""
    if not rule.get("messageExpression"):
        return ""
    try:
        said = evaluate(rule["messageExpression"], scope)
    except CelError:
        return ""
    text = said.strip() if isinstance(said, str) else ""
    return "" if "\n" in text or len(text) > _LONGEST_MESSAGE else text


def params_for(write: Write, policy: Object, binding: Object) -> list[Object | None]:
    """The parameter objects that a binding names; one None for a policy without parameters."""
    kind, reference = policy["spec"].get("paramKind"), binding["spec"].get("paramRef")
    if not kind or not reference:
        return [None]
    resource = write.api.catalogue.of_kind(kind["apiVersion"], kind["kind"])
    if resource is None:
        raise CelError(f"failed to find resource referenced by paramKind: '{_gvk(kind)}'")
    namespace = reference.get("namespace") or write.key.namespace
    if resource.namespaced and not namespace:
        raise CelError(
            "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
        )
    kept = write.api.storage_version(resource)
    found: list[Object | None] = [
        parameter
        for parameter in write.api.log.objects(
            kept.group, kept.plural, namespace if resource.namespaced else None
        )
        if _is_referenced(parameter, reference)
    ]
    if not found and reference.get("parameterNotFoundAction") == "Deny":
        raise CelError("no params found for policy binding with `Deny` parameterNotFoundAction")
    return found or [None]


def _gvk(kind: Object) -> str:
    group, _, version = kind["apiVersion"].rpartition("/")
    return f"{group}/{version}, Kind={kind['kind']}"


def _is_referenced(one: Object, reference: Object) -> bool:
    if reference.get("name"):
        return bool(one["metadata"]["name"] == reference["name"])
    selector = from_label_selector(reference.get("selector"))
    return selector.matches(one["metadata"].get("labels") or {})


def _enforce(write: Write, policy: Object, binding: Object, denial: Denial) -> ApiError | None:
    """Warn of a denial where the binding wants that; the refusal where it wants a refusal."""
    name, bound = policy["metadata"]["name"], binding["metadata"]["name"]
    actions = binding["spec"].get("validationActions") or ()
    if "Warn" in actions:
        write.options.warnings.append(
            f"Validation failed for ValidatingAdmissionPolicy '{name}' with binding '{bound}': {denial.message}"
        )
    if "Deny" not in actions:
        return None
    message = f"ValidatingAdmissionPolicy '{name}' with binding '{bound}' denied request: {denial.message}"
    refusal: ApiError = make_refusal(write, message)
    return as_denial(refusal, denial)


def as_denial(refusal: ApiError, denial: Denial) -> ApiError:
    """A refusal with the reason and the cause that a policy gives."""
    message = refusal.message.partition(" is forbidden: ")[2]
    refusal.reason, refusal.code = denial.reason, _CODES.get(denial.reason, 422)
    refusal.details = {**(refusal.details or {}), "causes": [{"message": message}]}
    return refusal
