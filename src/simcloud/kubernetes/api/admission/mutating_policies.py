"""MutatingAdmissionPolicy: rules in CEL that change what is written, by a merge or by a JSON patch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simcloud.kubernetes.api.admission.expressions import Composed, conditions_hold, evaluate, scope_of
from simcloud.kubernetes.api.admission.match_rules import GROUP, exempt, matched
from simcloud.kubernetes.api.admission.plugin import Quiet, refused
from simcloud.kubernetes.api.admission.policies import Denial, as_denial, bindings, params_for
from simcloud.kubernetes.api.admission.webhooks import take_over
from simcloud.kubernetes.api.apply.merge import merge
from simcloud.kubernetes.api.apply.shape import schema_of_objects
from simcloud.kubernetes.api.cel import CelError
from simcloud.kubernetes.api.conversion import convert
from simcloud.kubernetes.api.defaults import apply_defaults
from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object, at, copy
from simcloud.kubernetes.api.patch.json_patch import json_patch
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.schema.decoding import check_kind, decode

if TYPE_CHECKING:
    from simcloud.kubernetes.api.verbs.write import Write


class MutatingPolicies(Quiet):
    """Applies every policy that is bound to what is written, in the order of their names."""

    def admit(self, write: Write) -> None:
        policies = write.api.log.objects(GROUP, "mutatingadmissionpolicies")
        if not policies or exempt(write) or write.operation == "DELETE":
            return
        for policy in policies:
            spec = policy["spec"]
            resource = matched(write, at(spec, "matchConstraints") or {}, "resourceRules")
            place = ("mutatingadmissionpolicies", str(policy["metadata"]["name"]))
            again = spec.get("reinvocationPolicy") == "IfNeeded" and place in write.invoked
            if resource is None or (write.round and not again):
                continue
            write.invoked.add(place)
            for binding in bindings(write, "mutatingadmissionpolicybindings", policy):
                self._apply(write, resource, policy, binding)

    def _apply(self, write: Write, resource: Resource, policy: Object, binding: Object) -> None:
        try:
            for params in params_for(write, policy, binding):
                _mutate(write, resource, policy, params)
        except (CelError, ApiError) as error:
            if policy["spec"].get("failurePolicy", "Fail") != "Fail":
                return
            name, bound = policy["metadata"]["name"], binding["metadata"]["name"]
            told = f"policy '{name}' with binding '{bound}' denied request: {error}"
            raise as_denial(refused(write, told), Denial(told)) from None


def _mutate(write: Write, resource: Resource, policy: Object, params: Object | None) -> None:
    spec = policy["spec"]
    scope = _scope(write, resource, spec, params)
    if not conditions_hold(spec.get("matchConditions") or [], scope):
        return
    for mutation in spec.get("mutations") or ():
        scope = _scope(write, resource, spec, params)
        shown: Object = scope["object"]
        if mutation["patchType"] == "JSONPatch":
            operations = evaluate(mutation["jsonPatch"]["expression"], scope)
            changed = json_patch(shown, operations)
        else:
            applied = evaluate(mutation["applyConfiguration"]["expression"], scope)
            changed = _merged(shown, applied, resource)
        check_kind(changed, resource)
        kept = convert(decode(changed, resource).obj, write.resource)
        apply_defaults(write.resource, kept)
        if kept != write.new:
            take_over(write.new, kept)
            write.reinvoke = True


def _scope(write: Write, resource: Resource, spec: Object, params: Object | None) -> dict[str, Any]:
    scope = {**scope_of(write, resource), "params": params}
    scope["variables"] = Composed(spec.get("variables") or [], scope)
    return scope


def _merged(shown: Object, applied: Any, resource: Resource) -> Object:
    if not isinstance(applied, dict):
        raise CelError("invalid ApplyConfiguration: must be an object")
    for name in ("name", "generateName", "namespace", "uid", "managedFields"):
        if at(applied, "metadata", name) is not None:
            raise CelError(f'invalid ApplyConfiguration: may not mutate "metadata.{name}"')
    merged: Object = merge(copy(shown), copy(applied), schema_of_objects(resource))
    return merged
