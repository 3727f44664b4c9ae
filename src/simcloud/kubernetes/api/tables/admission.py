"""Tables of webhook configurations and admission policies."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.tables.cells import Cells, age, items, name, part, text
from simcloud.kubernetes.api.tables.registry import AGE, NAME, Column, integer, table

_GROUP = "admissionregistration.k8s.io"
_WEBHOOKS = integer("Webhooks", "Webhooks indicates the number of webhooks registered in this configuration")
_PARAM_KIND = Column(
    "ParamKind", "ParamKind specifies the kind of resources used to parameterize this policy"
)
_BINDING = (
    NAME,
    Column("PolicyName", "PolicyName indicates the policy definition which the policy binding binded to"),
    Column("ParamRef", "ParamRef indicates the param resource which sets the configuration param"),
    AGE,
)


@table(_GROUP, "MutatingWebhookConfiguration", NAME, _WEBHOOKS, AGE)
@table(_GROUP, "ValidatingWebhookConfiguration", NAME, _WEBHOOKS, AGE)
def webhooks(obj: Object, now_s: float) -> Cells:
    """A webhook configuration's row."""
    return [name(obj), len(items(obj, "webhooks")), age(obj, now_s)]


@table(
    _GROUP,
    "ValidatingAdmissionPolicy",
    NAME,
    integer(
        "Validations", "Validations indicates the number of validation rules defined in this configuration"
    ),
    _PARAM_KIND,
    AGE,
)
def validating_policy(obj: Object, now_s: float) -> Cells:
    """A validating policy's row."""
    spec = part(obj, "spec")
    kind = spec.get("paramKind")
    shown = "<unset>" if kind is None else f"{text(kind, 'apiVersion')}/{text(kind, 'kind')}"
    return [name(obj), len(items(spec, "validations")), shown, age(obj, now_s)]


@table(_GROUP, "ValidatingAdmissionPolicyBinding", *_BINDING)
def policy_binding(obj: Object, now_s: float) -> Cells:
    """A policy binding's row."""
    spec = part(obj, "spec")
    return [name(obj), text(spec, "policyName"), _parameter(spec.get("paramRef")), age(obj, now_s)]


def _parameter(reference: Object | None) -> str:
    if reference is None:
        return "<unset>"
    if reference.get("name"):
        return f"{reference.get('namespace') or '*'}/{reference['name']}"
    return "<unset>" if reference.get("selector") is None else _format_selector(reference["selector"])


def _format_selector(selector: Object) -> str:
    """A selector as Go prints the struct."""
    pairs = "".join(f"{key}: {value}," for key, value in sorted(part(selector, "matchLabels").items()))
    rules = "".join(
        f"LabelSelectorRequirement{{Key:{text(requirement, 'key')},Operator:{text(requirement, 'operator')},"
        f"Values:[{' '.join(items(requirement, 'values'))}],}},"
        for requirement in items(selector, "matchExpressions")
    )
    labels = f"MatchLabels:map[string]string{{{pairs}}}"
    return f"&LabelSelector{{{labels},MatchExpressions:[]LabelSelectorRequirement{{{rules}}},}}"
